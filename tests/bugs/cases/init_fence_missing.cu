// {"block": 32, "cluster": 2, "grid": 2, "kind": "init", "mend": ["fence.mbarrier_init"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) {
    MB_INIT(&bar, 32); // @1
#ifndef FAULT
    FENCE_MBAR_INIT();
#endif
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  CLUSTER_WAIT();
  ST_CLUSTER(MAPA(&box[t], rank ^ 1), rank * 100 + t);
  RMB_ARRIVE(MAPA(&bar, rank ^ 1)); // @2
  MB_WAIT_CLUSTER(&bar, 0);
  out[rank * 32 + t] = box[31 - t];
}
