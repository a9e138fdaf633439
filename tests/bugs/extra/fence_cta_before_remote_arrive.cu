// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "scope|race", "mend": ["cluster"], "args": ["out"], "block": 32, "expected": "np.arange(32)[::-1]"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, rank = RANK();
  INIT(&bar, 32);
  CLUSTER_SYNC();
  if (rank == 0) {
    ST_CLUSTER(MAPA(&box[t], 1), t); // @1
#ifdef FAULT
    asm volatile("fence.acq_rel.cta;" ::: "memory");
#else
    FENCE_CLUSTER();
#endif
    RMB_ARRIVE_Q(".relaxed.cluster", MAPA(&bar, 1));
  } else {
    MB_WAIT_CLUSTER(&bar, 0);
    out[t] = box[31 - t]; // @2
  }
  CLUSTER_SYNC();
}
