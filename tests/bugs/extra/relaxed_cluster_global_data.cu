// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "race", "mend": ["release|arrive"], "args": ["scratch", "out"], "block": 32, "scratch": 256, "expected": "np.concatenate([np.arange(32)[::-1]+100,np.arange(32)[::-1]])"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *scratch, u32 *out) {
  u32 t = threadIdx.x, rank = RANK();
  scratch[rank * 32 + t] = rank * 100 + t; // @1
#ifdef FAULT
  CLUSTER_ARRIVE_RELAXED();
#else
  CLUSTER_ARRIVE();
#endif
  CLUSTER_WAIT();
  out[rank * 32 + t] = scratch[(rank ^ 1) * 32 + 31 - t]; // @2
}
