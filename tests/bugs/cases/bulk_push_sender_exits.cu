// {"block": 32, "cluster": 2, "grid": 2, "kind": "lifetime", "mend": ["cluster barrier"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(128) u32 src[32], dst[32];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) { MB_INIT(&full, 1); FENCE_MBAR_INIT(); if (rank == 1) MB_ARRIVE_EXPECT(&full, 128); }
  src[t] = t * 7;
  FENCE_PROXY();
  CLUSTER_SYNC();
  if (rank == 0) {
    if (t == 0) BULK_PUSH(MAPA(dst, 1), src, 128, MAPA(&full, 1)); // @1
  } else {
    MB_WAIT_CLUSTER(&full, 0);
    out[t] = dst[31 - t];
  }
#ifndef FAULT
  CLUSTER_SYNC();
#endif
}
