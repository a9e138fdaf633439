// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["bar.sync"], "args": ["out"], "block": 64, "expected": "np.arange(32)[::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 s[32];
  u32 t = threadIdx.x, lane = t & 31;
  if (t < 32) {
    s[lane] = lane; // @1
    NB_SYNC(1, 64);
  } else {
#ifdef FAULT
    NB_ARRIVE(1, 64);
#else
    NB_SYNC(1, 64);
#endif
    out[lane] = s[31 - lane]; // @2
  }
}
