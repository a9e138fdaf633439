// {"block": 64, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["in", "out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&full, 1); FENCE_MBAR_INIT(); MB_ARRIVE_EXPECT(&full, 256); BULK_LOAD(tile, in, 256, &full); }
  __syncthreads();
  if ((t & 31) == 0) MB_WAIT(&full, 0);
  __syncwarp();
  out[t] = tile[63 - t];
}
