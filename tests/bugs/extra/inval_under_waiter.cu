// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race|lifetime", "mend": ["barrier|wait"], "args": ["out"], "block": 64, "expected": "np.arange(32)[::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 buf[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, lane = t & 31;
  INIT(&bar, 32);
  __syncthreads();
  if (t < 32) {
    buf[lane] = lane;
    MB_ARRIVE(&bar);
#ifdef FAULT
    __syncwarp();
#endif
  } else {
    MB_WAIT(&bar, 0); // @1
    out[lane] = buf[31 - lane];
  }
#ifndef FAULT
  __syncthreads();
#endif
  if (t == 0) MB_INVAL(&bar); // @2
}
