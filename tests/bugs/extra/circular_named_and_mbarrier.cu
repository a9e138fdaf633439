// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["arrive|order|bar"], "args": ["out"], "block": 64, "expected": "np.arange(64)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x;
  INIT(&bar, 1);
  __syncthreads();
  if (t < 32) {
#ifdef FAULT
    NB_SYNC(3, 64); // @1
    if (t == 0) MB_ARRIVE(&bar);
#else
    if (t == 0) MB_ARRIVE(&bar);
    NB_SYNC(3, 64);
#endif
  } else {
    MB_WAIT(&bar, 0); // @2
    NB_SYNC(3, 64);
  }
  out[t] = t;
}
