// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "init", "mend": ["fence.mbarrier_init|release"], "args": ["out"], "block": 64, "expected": "np.arange(64)[::-1]+7"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 buf[64];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) MB_INIT(&bar, 64); // @1
  __syncthreads();
#ifndef FAULT
  if (t == 0) FENCE_MBAR_INIT();
#endif
  CLUSTER_ARRIVE_RELAXED();
  CLUSTER_WAIT();
  if (rank == 0) {
    ST_CLUSTER(MAPA(&buf[t], 1), t + 7);
    RMB_ARRIVE(MAPA(&bar, 1)); // @2
  } else {
    MB_WAIT_CLUSTER(&bar, 0);
    out[t] = buf[63 - t];
  }
  CLUSTER_SYNC();
}
