// {"block": 64, "cluster": 4, "grid": 4, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 stage[4][64];
  __shared__ alignas(8) u64 publish;
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) { MB_INIT(&publish, 256); FENCE_MBAR_INIT(); }
  CLUSTER_SYNC();
  for (int p = 0; p < 4; ++p) stage[p][t] = rank * 1000 + p * 100 + t;
  for (int p = 0; p < 4; ++p) RMB_ARRIVE(MAPA(&publish, p));
  MB_WAIT_CLUSTER(&publish, 0);
  u32 s = 0;
  for (int p = 0; p < 4; ++p) s += LD_CLUSTER(MAPA(&stage[rank][t], p));
  out[rank * 64 + t] = s;
  CLUSTER_SYNC();
}
