// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "tx|race", "mend": ["expect"], "args": ["in", "out"], "block": 32, "expected": "np.tile(inp[:64][::-1].reshape(2,32)[::-1].reshape(-1),1).tolist()+inp[:64][::-1].reshape(2,32)[::-1].reshape(-1).tolist()"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x, rank = RANK();
  INIT(&full, 1);
  CLUSTER_SYNC();
  if (t == 0) {
#ifdef FAULT
    MB_ARRIVE_EXPECT(&full, 128); // @1
#else
    MB_ARRIVE_EXPECT(&full, 256);
#endif
    BULK_LOAD_MC(tile + rank * 32, in + rank * 32, 128, &full, 3); // @1
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  out[rank * 64 + t] = tile[31 - t];
  out[rank * 64 + 32 + t] = tile[63 - t];
  CLUSTER_SYNC();
}
