// {"block": 64, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(8) u64 raw[32];
  u32 t = threadIdx.x;
  if (t == 0) MB_INIT(&raw[3], 64);
  __syncthreads();
  MB_ARRIVE(&raw[3]);
  MB_WAIT(&raw[3], 0);
  __syncthreads();
  if (t == 0) MB_INVAL(&raw[3]);
  __syncthreads();
  if (t < 32) raw[t] = t * 5;
  __syncthreads();
  out[t] = (u32)raw[31 - (t & 31)];
}
