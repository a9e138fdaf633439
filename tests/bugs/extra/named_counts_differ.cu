// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "barrier-misuse|deadlock", "mend": ["96|count"], "args": ["out"], "block": 96, "expected": "np.tile(np.arange(32)[::-1]*4, 1)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(96) k(u32 *out) {
  __shared__ u32 buf[32];
  u32 t = threadIdx.x, lane = t & 31;
  if (t < 32) {
    buf[lane] = lane * 4;
#ifdef FAULT
    NB_ARRIVE(1, 64); // @1
#else
    NB_ARRIVE(1, 96);
#endif
  } else {
    NB_SYNC(1, 96); // @2
    if (t < 64) out[lane] = buf[31 - lane];
  }
}
