// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "barrier-misuse", "mend": ["32"], "args": ["out"], "block": 64, "expected": "np.arange(64)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  u32 t = threadIdx.x;
#ifdef FAULT
  NB_SYNC(1, 48); // @1
#else
  NB_SYNC(1, 64);
#endif
  out[t] = t;
}
