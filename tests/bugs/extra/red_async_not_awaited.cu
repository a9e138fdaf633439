// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "race", "mend": ["wait"], "args": ["out"], "block": 32, "expected": "np.array([32])"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 sum;
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, rank = RANK();
  INIT(&bar, 1);
  if (t == 0) { sum = 0; if (rank) MB_ARRIVE_EXPECT(&bar, 128); }
  CLUSTER_SYNC();
  if (rank == 0) asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(MAPA(&sum, 1)), "r"(1), "r"(MAPA(&bar, 1)) : "memory"); // @1
#ifdef FAULT
  CLUSTER_SYNC();
#else
  if (rank) MB_WAIT(&bar, 0);
#endif
  if (rank && t == 0) out[0] = sum; // @2
#ifdef FAULT
  if (rank) MB_WAIT(&bar, 0);
#endif
}
