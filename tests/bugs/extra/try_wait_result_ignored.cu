// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["loop|wait"], "args": ["in", "out"], "block": 32, "expected": "inp[:32]+1"}
#include "fn.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const uint32_t *in, uint32_t *out) {
  __shared__ alignas(128) uint32_t tile[32];
  __shared__ Mbar full;
  if (threadIdx.x == 0) { full.init(1); fence_barrier_init(); }
  __syncthreads();
  if (threadIdx.x == 0) { full.arrive_and_expect_tx(128); bulk_load(tile, in, 128, full); } // @1
#ifdef FAULT
  full.try_wait(0);
#else
  full.wait(0);
#endif
  out[threadIdx.x] = tile[threadIdx.x] + 1; // @2
}
