// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "register-pool", "mend": ["setmaxnreg"], "args": ["out"], "block": 256, "expected": "np.arange(256)", "maxnreg": 128}
#include "more.cuh"
extern "C" __global__ void __maxnreg__(128) k(u32 *out) {
  u32 t = threadIdx.x;
  if (t < 128) {
#ifdef FAULT
    SETREG_DEC(160); // @1
#else
    SETREG_DEC(96);
#endif
  } else {
    SETREG_INC(152);
  }
  out[t] = t;
}
