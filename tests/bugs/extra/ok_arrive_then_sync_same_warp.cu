// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["out"], "block": 96, "expected": "np.concatenate([np.arange(64)+1])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(96) k(u32 *out) {
  __shared__ u32 s[2][32], r[64];
  u32 t = threadIdx.x, lane = t & 31;
  if (t >= 64) {
    s[0][lane] = lane;
    NB_ARRIVE(1, 64);
    s[1][lane] = lane + 32;
    NB_ARRIVE(2, 64);
    NB_SYNC(3, 96);
    out[lane] = r[lane];
    out[32 + lane] = r[32 + lane];
  } else {
    NB_SYNC(1 + t / 32, 64);
    r[t] = s[t / 32][lane] + 1;
    NB_SYNC(3, 96);
  }
}
