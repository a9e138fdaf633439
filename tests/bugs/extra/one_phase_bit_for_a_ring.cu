// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock|race", "mend": ["flip"], "args": ["in", "out"], "block": 64, "expected": "inp[:448].reshape(7,64).sum(0)"}
#include "fn.cuh"
extern "C" __global__ void k(const uint32_t *in, uint32_t *out) {
  __shared__ alignas(128) uint32_t tile[3][64];
  __shared__ Mbar full[3];
  if (threadIdx.x == 0) { for (auto &b : full) b.init(1); fence_barrier_init(); }
  __syncthreads();
  uint32_t sum = 0, phase = 0;
  for (int i = 0; i < 7 + 2; ++i) {
    if (i < 7 && threadIdx.x == 0) {
      fence_view_async_shared();
      full[i % 3].arrive_and_expect_tx(256);
      bulk_load(tile[i % 3], in + i * 64, 256, full[i % 3]);
    }
    if (i >= 2) {
      int j = i - 2;
      full[j % 3].wait(phase >> j % 3 & 1); // @1
      sum += tile[j % 3][threadIdx.x];
#ifdef FAULT
      phase ^= 1;
#else
      phase ^= 1u << j % 3;
#endif
    }
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
