// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock|barrier-misuse", "mend": ["mask|warp|converge|lane"], "args": ["out"], "block": 32, "expected": "np.arange(32)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  u32 t = threadIdx.x, e = 0;
#ifdef FAULT
  if (t < 16)
#endif
    e = ELECT(); // @1
  if (e) out[0] = 0;
  if (t) out[t] = t;
#ifdef FAULT
  if (t >= 16) __syncwarp();
#endif
}
