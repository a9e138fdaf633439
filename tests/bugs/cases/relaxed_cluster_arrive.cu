// {"block": 32, "cluster": 2, "grid": 2, "kind": "race", "mend": ["release"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  u32 t = threadIdx.x, rank = RANK();
  CLUSTER_SYNC();
  ST_CLUSTER(MAPA(&box[t], rank ^ 1), rank * 100 + t); // @1
#ifdef FAULT
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#else
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  CLUSTER_WAIT();
  out[rank * 32 + t] = box[31 - t]; // @2
}
