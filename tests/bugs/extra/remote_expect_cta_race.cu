// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "race|scope", "mend": ["release.cluster|acquire.cluster"], "args": ["in", "out"], "block": 32, "expected": "np.arange(32)[::-1]+inp[:32]"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[32];
  __shared__ u32 box[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, rank = RANK();
  INIT(&bar, 32);
  tile[t] = in[t];
  FENCE_PROXY();
  CLUSTER_SYNC();
  if (rank == 0) {
    ST_CLUSTER(MAPA(&box[t], 1), t); // @1
#ifdef FAULT
    if (t == 0) asm volatile("mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(MAPA(&bar, 1)), "r"(128) : "memory");
    else RMB_ARRIVE_Q(".relaxed.cluster", MAPA(&bar, 1));
#else
    if (t == 0) RMB_ARRIVE_EXPECT(MAPA(&bar, 1), 128);
    else RMB_ARRIVE(MAPA(&bar, 1));
#endif
    if (t == 0) BULK_PUSH(MAPA(tile, 1), tile, 128, MAPA(&bar, 1));
  } else {
    MB_WAIT_CLUSTER(&bar, 0);
    out[t] = box[31 - t] + tile[t]; // @2
  }
  CLUSTER_SYNC();
}
