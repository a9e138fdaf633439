// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["arrive|arrival"], "args": ["out", 0], "block": 64, "expected": "np.arange(32)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out, int n) {
  __shared__ u32 buf[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, lane = t & 31;
  INIT(&bar, 32);
  __syncthreads();
  if (t < 32) {
    buf[lane] = lane;
    for (int i = 0; i < n; ++i) {
      buf[lane] += i;
#ifdef FAULT
      if (i == n - 1) MB_ARRIVE(&bar);
#endif
    }
#ifndef FAULT
    MB_ARRIVE(&bar);
#endif
  } else {
    MB_WAIT(&bar, 0); // @1
    out[lane] = buf[lane];
  }
}
