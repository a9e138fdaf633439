// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["__syncthreads|barrier|bar.sync"], "args": ["in", "out"], "block": 64, "expected": "inp[:64][::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 s[64];
  u32 t = threadIdx.x;
  CP_ASYNC4(&s[t], in + t); // @1
  CP_COMMIT();
  CP_WAIT(0);
#ifndef FAULT
  __syncthreads();
#endif
  out[t] = s[63 - t]; // @2
}
