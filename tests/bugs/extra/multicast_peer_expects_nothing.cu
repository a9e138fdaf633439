// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "deadlock|tx", "mend": ["expect_tx|arrive"], "args": ["in", "out"], "block": 32, "expected": "np.tile(inp[:32][::-1],2)"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[32];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x, rank = RANK();
  INIT(&full, 1);
  CLUSTER_SYNC();
  if (t == 0) {
#ifdef FAULT
    if (rank == 0) MB_ARRIVE_EXPECT(&full, 128);
#else
    MB_ARRIVE_EXPECT(&full, 128);
#endif
    if (rank == 0) BULK_LOAD_MC(tile, in, 128, &full, 3);
  }
  __syncwarp();
  MB_WAIT(&full, 0); // @1
  out[rank * 32 + t] = tile[31 - t];
  CLUSTER_SYNC();
}
