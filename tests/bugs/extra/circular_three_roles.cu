// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["arrive|order"], "args": ["out"], "block": 96}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(96) k(u32 *out) {
  __shared__ alignas(8) u64 bar[3];
  u32 t = threadIdx.x, w = t / 32;
  if (t == 0) { for (int i = 0; i < 3; ++i) MB_INIT(&bar[i], 1); FENCE_MBAR_INIT(); }
  __syncthreads();
  if ((t & 31) == 0) {
#ifndef FAULT
    if (w == 2) MB_ARRIVE(&bar[0]);
#endif
    MB_WAIT(&bar[w], 0); // @1
#ifdef FAULT
    MB_ARRIVE(&bar[(w + 1) % 3]);
#else
    if (w != 2) MB_ARRIVE(&bar[w + 1]);
#endif
    out[w] = w;
  }
}
