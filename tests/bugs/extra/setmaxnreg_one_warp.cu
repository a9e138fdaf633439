// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "register-pool|barrier-misuse|deadlock", "mend": ["warpgroup|setmaxnreg"], "args": ["out"], "block": 256, "expected": "np.arange(256)", "maxnreg": 128}
#include "more.cuh"
extern "C" __global__ void __maxnreg__(128) k(u32 *out) {
  u32 t = threadIdx.x;
#ifdef FAULT
  if (t < 32) SETREG_DEC(96); // @1
#else
  if (t < 128) SETREG_DEC(96);
#endif
  out[t] = t;
}
