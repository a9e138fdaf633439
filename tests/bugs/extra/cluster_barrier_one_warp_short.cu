// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "deadlock", "mend": ["cluster"], "args": ["out"], "block": 64, "expected": "np.arange(128)"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, rank = RANK();
  INIT(&bar, 1);
  __syncthreads();
#ifdef FAULT
  if (t >= 32) MB_WAIT(&bar, 0); // @2
  CLUSTER_SYNC(); // @1
  if (t == 0) MB_ARRIVE(&bar);
#else
  if (t == 0) MB_ARRIVE(&bar);
  if (t >= 32) MB_WAIT(&bar, 0);
  CLUSTER_SYNC();
#endif
  out[rank * 64 + t] = rank * 64 + t;
}
