// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["barrier|__syncthreads|atom|relaxed"], "args": ["out"], "block": 64, "expected": "np.array([64])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 count;
  u32 t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1); // @1
#ifndef FAULT
  __syncthreads();
#endif
  if (t == 0) asm volatile("{.reg .u32 x; ld.shared.u32 x, [%0]; st.global.u32 [%1], x;}" ::"r"(S32(&count)), "l"(out) : "memory"); // @2
}
