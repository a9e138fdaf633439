// {"block": 32, "cluster": 2, "grid": 2, "kind": "scope", "mend": ["cluster"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 sum;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) sum = 0;
  CLUSTER_SYNC();
  u32 a = MAPA(&sum, 0);
#ifdef FAULT
  asm volatile("red.relaxed.cta.shared::cluster.add.u32 [%0], %1;" ::"r"(a), "r"(t) : "memory"); // @1
#else
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(a), "r"(t) : "memory");
#endif
  CLUSTER_SYNC();
  if (rank == 0) out[t] = sum + t;
}
