// {"grid": 4, "cluster": 4, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 64, "expected": "np.array([inp[:256].sum()])"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ u32 sum;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) sum = 0;
  CLUSTER_SYNC();
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(MAPA(&sum, 0)), "r"(in[rank * 64 + t]) : "memory");
  CLUSTER_SYNC();
  if (rank == 0 && t == 0) out[0] = sum;
}
