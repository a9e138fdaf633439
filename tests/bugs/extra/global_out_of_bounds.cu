// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "*", "mend": ["index"], "args": ["out"], "block": 64, "out": 128, "expected": "np.arange(32)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  u32 t = threadIdx.x;
#ifndef FAULT
  if (t < 32)
#endif
  out[t] = t; // @1
}
