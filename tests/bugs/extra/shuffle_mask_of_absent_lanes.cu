// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock|barrier-misuse", "mend": ["mask|lanes"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  u32 t = threadIdx.x, v = t;
#ifdef FAULT
  if (t < 16) v = __shfl_xor_sync(0xffffffffu, v, 1); // @1
#else
  if (t < 16) v = __shfl_xor_sync(0x0000ffffu, v, 1);
#endif
  __syncthreads();
  out[t] = v;
}
