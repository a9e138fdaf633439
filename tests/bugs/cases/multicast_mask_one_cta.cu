// {"block": 32, "cluster": 2, "grid": 2, "kind": "tx", "mend": ["mask"], "args": ["in", "out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) { MB_INIT(&full, 1); FENCE_MBAR_INIT(); MB_ARRIVE_EXPECT(&full, 256); }
  CLUSTER_SYNC();
#ifdef FAULT
  if (t == 0 && rank == 0) BULK_LOAD_MC(tile, in, 256, &full, 1);
#else
  if (t == 0 && rank == 0) BULK_LOAD_MC(tile, in, 256, &full, 3);
#endif
  __syncwarp();
  MB_WAIT(&full, 0); // @1
  out[rank * 64 + t] = tile[t] + tile[t + 32];
  CLUSTER_SYNC();
}
