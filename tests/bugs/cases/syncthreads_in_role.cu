// {"block": 96, "cluster": 1, "grid": 1, "kind": "deadlock", "mend": ["named barrier"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(96) k(u32 *out) {
  __shared__ u32 buf[64];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&bar, 1); FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t < 64) {
    buf[t] = t;
#ifdef FAULT
    __syncthreads(); // @1
#else
    NB_SYNC(1, 64);
#endif
    if (t == 0) MB_ARRIVE(&bar);
    out[t] = buf[63 - t];
  } else {
    MB_WAIT(&bar, 0);
    out[t] = 5;
  }
}
