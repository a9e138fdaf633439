// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["repeat the mbarrier.test_wait"], "args": ["in", "out"], "block": 64, "expected": "inp[:32]+1"}
#include "fn.cuh"
// One look at a barrier is no wait: the result is thrown away.
extern "C" __global__ void __launch_bounds__(64) k(const uint32_t *in, uint32_t *out) {
  __shared__ uint32_t tile[32];
  __shared__ Mbar full;
  if (threadIdx.x == 0) { full.init(32); fence_barrier_init(); }
  __syncthreads();
  if (threadIdx.x < 32) {
    tile[threadIdx.x] = in[threadIdx.x] + 1; // @1
    full.arrive();
  } else {
    uint32_t done;
#ifndef FAULT
    do
#endif
    asm volatile("{\n .reg .pred P;\n mbarrier.test_wait.parity.shared::cta.b64 P, [%1], 0;\n selp.b32 %0, 1, 0, P;\n}" : "=r"(done) : "r"(smem_u32(&full.v)) : "memory");
#ifndef FAULT
    while (!done);
#endif
    out[threadIdx.x - 32] = tile[threadIdx.x - 32]; // @2
  }
}
