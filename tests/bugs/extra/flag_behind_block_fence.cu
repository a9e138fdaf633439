// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "race|scope", "mend": ["gpu|__threadfence()"], "args": ["out", "scratch"], "block": 64, "scratch": 1024, "expected": "np.arange(64)[::-1]+9"}
#include <stdint.h>
extern "C" __global__ void k(uint32_t *out, uint32_t *scratch) {
  volatile uint32_t *flag = scratch;
  uint32_t *data = scratch + 64;
  if (blockIdx.x) {
    data[threadIdx.x] = threadIdx.x + 9; // @1
#ifdef FAULT
    __threadfence_block();
#else
    __threadfence();
#endif
    __syncthreads();
    if (threadIdx.x == 0) *flag = 1;
  } else {
    if (threadIdx.x == 0) while (*flag == 0) {}
    __threadfence();
    __syncthreads();
    out[threadIdx.x] = data[63 - threadIdx.x]; // @2
  }
}
