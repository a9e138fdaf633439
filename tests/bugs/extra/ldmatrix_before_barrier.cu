// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["__syncthreads|bar.sync|barrier"], "args": ["out"], "block": 64}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(128) u32 s[64];
  u32 t = threadIdx.x, a, b;
  s[t] = t; // @1
#ifdef FAULT
  __syncwarp();
#else
  __syncthreads();
#endif
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(S32(&s[(t & 15) * 4])) : "memory"); // @2
  out[t] = a + b;
}
