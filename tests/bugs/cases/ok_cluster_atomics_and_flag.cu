// {"block": 32, "cluster": 2, "grid": 2, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(u32 *out) {
  __shared__ u32 sum, flag, data[32];
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) { sum = 0; flag = 0; }
  CLUSTER_SYNC();
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(MAPA(&sum, 0)), "r"(t) : "memory");
  if (rank == 1) {
    ST_CLUSTER(MAPA(&data[t], 0), t * 3);
    __syncwarp();
    if (t == 0) asm volatile("st.release.cluster.shared::cluster.u32 [%0], 1;" ::"r"(MAPA(&flag, 0)) : "memory");
  } else {
    u32 v = 0;
    if (t == 0)
      while (!v) asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(v) : "r"(S32(&flag)) : "memory");
    __syncwarp();
    out[t] = data[31 - t];
  }
  CLUSTER_SYNC();
  if (rank == 0) out[32 + t] = sum + t;
}
