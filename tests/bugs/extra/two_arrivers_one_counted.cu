// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "barrier-misuse|race|deadlock", "mend": ["mbarrier.init|__syncthreads"], "args": ["in", "out"], "block": 96, "expected": "inp[:128].reshape(2,64).sum(0)"}
#include "fn.cuh"
// two producer warps share one full barrier
extern "C" __global__ void k(const uint32_t *in, uint32_t *out) {
  __shared__ uint32_t buf[64];
  __shared__ Mbar full, empty;
  uint32_t w = threadIdx.x / 32, l = threadIdx.x % 32;
  if (threadIdx.x == 0) {
#ifdef FAULT
    full.init(1); // @1
#else
    full.init(2);
#endif
    empty.init(32);
    fence_barrier_init();
  }
  __syncthreads();
  if (w < 2) {
    for (int i = 0; i < 2; ++i) {
      empty.wait(i & 1 ^ 1);
      buf[w * 32 + l] = in[i * 64 + w * 32 + l];
      __syncwarp();
      if (l == 0) full.arrive(); // @2
    }
  } else {
    uint32_t a = 0, b = 0;
    for (int i = 0; i < 2; ++i) {
      full.wait(i & 1);
      a += buf[l]; b += buf[32 + l];
      empty.arrive();
    }
    out[l] = a; out[32 + l] = b;
  }
}
