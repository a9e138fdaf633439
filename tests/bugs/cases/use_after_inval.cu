// {"block": 64, "cluster": 1, "grid": 1, "kind": "lifetime", "mend": ["inval"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 buf[64];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&bar, 64); FENCE_MBAR_INIT(); }
  __syncthreads();
  buf[t] = t;
#ifdef FAULT
  MB_ARRIVE(&bar);
  MB_WAIT(&bar, 0);
  __syncthreads();
  if (t == 0) MB_INVAL(&bar); // @1
  __syncthreads();
  MB_ARRIVE(&bar); // @2
#else
  MB_ARRIVE(&bar);
  MB_WAIT(&bar, 0);
  __syncthreads();
  if (t == 0) MB_INVAL(&bar);
#endif
  out[t] = buf[63 - t];
}
