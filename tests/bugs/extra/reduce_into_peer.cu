// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "race|lifetime", "mend": ["wait"], "args": ["in", "out"], "block": 32, "expected": "np.concatenate([inp[:32]+inp[32:64]]*2)"}
#include "more.cuh"
// cp.reduce.async.bulk adds a tile into the peer's shared memory and completes on the peer's barrier.
extern "C" __global__ void CLUSTER2 k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 mine[32], sum[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, r = RANK();
  mine[t] = sum[t] = in[r * 32 + t];
  if (t == 0) { MB_INIT(&bar, 1); FENCE_MBAR_INIT(); MB_ARRIVE_EXPECT(&bar, 128); }
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
  CLUSTER_SYNC();
  if (t == 0) {
    u32 to = MAPA(sum, r ^ 1), at = MAPA(&bar, r ^ 1);
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];" ::"r"(to), "r"(S32(mine)), "r"(128), "r"(at) : "memory"); // @1
  }
#ifdef FAULT
  CLUSTER_SYNC();
#else
  MB_WAIT_CLUSTER(&bar, 0);
#endif
  out[r * 32 + t] = sum[t]; // @2
#ifndef FAULT
  CLUSTER_SYNC();
#endif
}
