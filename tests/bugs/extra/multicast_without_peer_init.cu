// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "init|lifetime", "mend": ["cluster"], "args": ["in", "out"], "block": 64, "expected": "np.tile(inp[:64], 2)"}
#include "more.cuh"
// Rank 0 multicasts to both; only a block barrier lies between the peer's init and the copy's signal there.
extern "C" __global__ void CLUSTER2 k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x, r = RANK();
  INIT(&full, 1); // @1
#ifdef FAULT
  __syncthreads();
#else
  CLUSTER_SYNC();
#endif
  if (t == 0) {
    MB_ARRIVE_EXPECT(&full, 256);
    if (r == 0) BULK_LOAD_MC(tile, in, 256, &full, 3); // @2
  }
  MB_WAIT(&full, 0);
  out[r * 64 + t] = tile[t];
  CLUSTER_SYNC();
}
