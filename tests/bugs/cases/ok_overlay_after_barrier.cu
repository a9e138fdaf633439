// {"block": 64, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["in", "out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) unsigned char raw[512];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&full, 1); FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t == 0) { MB_ARRIVE_EXPECT(&full, 512); BULK_LOAD(raw, in, 512, &full); }
  MB_WAIT(&full, 0);
  u32 a = ((u32 *)raw)[t], b = ((u32 *)raw)[127 - t];
  __syncthreads();
  ((unsigned short *)raw)[t] = a + b; // other types over the same bytes
  __syncthreads();
  out[t] = ((unsigned short *)raw)[63 - t] + ((unsigned char *)raw)[t];
}
