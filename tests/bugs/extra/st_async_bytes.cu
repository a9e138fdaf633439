// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "tx|deadlock", "mend": ["128"], "args": ["out"], "block": 32, "expected": "np.arange(32)[::-1]*3"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 box[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, rank = RANK();
  INIT(&bar, 1);
#ifdef FAULT
  if (t == 0 && rank) MB_ARRIVE_EXPECT(&bar, 512); // @1
#else
  if (t == 0 && rank) MB_ARRIVE_EXPECT(&bar, 128);
#endif
  CLUSTER_SYNC();
  if (rank == 0) {
    ST_ASYNC(MAPA(&box[t], 1), 3 * t, MAPA(&bar, 1)); // @1
  } else {
    MB_WAIT(&bar, 0); // @1
    out[t] = box[31 - t];
  }
}
