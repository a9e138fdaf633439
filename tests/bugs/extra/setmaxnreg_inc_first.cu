// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "register-pool|deadlock", "mend": ["setmaxnreg"], "args": ["out"], "block": 256, "expected": "np.arange(256)", "maxnreg": 128}
#include "more.cuh"
extern "C" __global__ void __maxnreg__(128) k(u32 *out) {
  u32 t = threadIdx.x;
#ifdef FAULT
  SETREG_INC(152); // @1
#endif
  if (t < 128) SETREG_DEC(96);
#ifndef FAULT
  else SETREG_INC(152);
#endif
  out[t] = t;
}
