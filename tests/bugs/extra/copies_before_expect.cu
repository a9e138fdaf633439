// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race|tx", "mend": ["512|1024"], "args": ["in", "out"], "block": 64, "expected": "inp[:256].reshape(4,64)[::-1].reshape(-1)"}
#include "fn.cuh"
// copies go out first, their bytes are expected afterwards: legal while the arrival is pending
extern "C" __global__ void k(const uint32_t *in, uint32_t *out) {
  __shared__ alignas(128) uint32_t tile[256];
  __shared__ Mbar bar;
  if (threadIdx.x == 0) { bar.init(1); fence_barrier_init(); }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < 4; ++i) bulk_load(tile + i * 64, in + (3 - i) * 64, 256, bar); // @2
#ifdef FAULT
    bar.arrive_and_expect_tx(512); // @1
#else
    bar.expect_tx(512);
    bar.arrive_and_expect_tx(512);
#endif
  }
  int spins = 0;
  while (true) {
    if (bar.try_wait(0)) break;
    if (++spins > 4) __nanosleep(32);
  }
  for (int i = threadIdx.x; i < 256; i += 64) out[i] = tile[i];
}
