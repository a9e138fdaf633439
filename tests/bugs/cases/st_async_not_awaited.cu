// {"block": 32, "cluster": 2, "grid": 2, "kind": "race", "mend": ["wait"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(16) u32 box[32];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) { MB_INIT(&full, 1); FENCE_MBAR_INIT(); if (rank == 1) MB_ARRIVE_EXPECT(&full, 128); }
  CLUSTER_SYNC();
  if (rank == 0) {
    u32 d = MAPA(&box[t], 1), b = MAPA(&full, 1);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(d), "r"(t * 5), "r"(b) : "memory"); // @1
  }
#ifdef FAULT
  CLUSTER_SYNC();
#else
  if (rank == 1) MB_WAIT_CLUSTER(&full, 0);
#endif
  if (rank == 1) out[t] = box[31 - t]; // @2
#ifdef FAULT
  if (rank == 1) MB_WAIT_CLUSTER(&full, 0);
#endif
}
