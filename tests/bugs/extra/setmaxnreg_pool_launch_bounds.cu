// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "register-pool", "mend": ["setmaxnreg"], "args": ["out"], "block": 384, "expected": "np.arange(384)", "maxnreg": 168}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(384, 1) k(u32 *out) {
  u32 t = threadIdx.x;
  if (t < 128) {
#ifdef FAULT
    SETREG_DEC(40);
#else
    SETREG_DEC(24);
#endif
    out[t] = t;
  } else {
    SETREG_INC(240); // @1
    out[t] = t;
  }
}
