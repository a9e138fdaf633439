// {"block": 64, "cluster": 1, "grid": 1, "kind": "lifetime", "mend": ["barrier"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(8) u32 raw[66];
  u64 *bar = (u64 *)(raw + 64);
  u32 t = threadIdx.x;
  if (t == 0) {
    MB_INIT(bar, 64); // @1
    FENCE_MBAR_INIT();
  }
  __syncthreads();
#ifdef FAULT
  for (int i = t; i < 66; i += 64)
#else
  for (int i = t; i < 64; i += 64)
#endif
    raw[i] = i; // @2
  MB_ARRIVE(bar);
  MB_WAIT(bar, 0);
  out[t] = raw[63 - t];
}
