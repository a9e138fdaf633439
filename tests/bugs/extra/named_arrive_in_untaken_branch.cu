// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["bar.arrive|arrive"], "args": ["out", 3], "block": 64, "expected": "np.concatenate([np.arange(32)[::-1]+i for i in range(3)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out, int n) {
  __shared__ u32 buf[3][32];
  u32 t = threadIdx.x, lane = t & 31;
  for (int i = 0; i < n; ++i)
    if (t < 32) {
      buf[i][lane] = lane + i;
#ifdef FAULT
      if (i != 1) NB_ARRIVE(2 + i, 64);
#else
      NB_ARRIVE(2 + i, 64);
#endif
    } else {
      NB_SYNC(2 + i, 64); // @1
      out[i * 32 + lane] = buf[i][31 - lane];
    }
}
