// {"block": 64, "cluster": 2, "grid": 2, "kind": "none", "mend": [], "args": ["in", "out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[2][64];
  __shared__ alignas(8) u64 full[2], empty[2];
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) {
    for (int s = 0; s < 2; ++s) { MB_INIT(&full[s], 1); MB_INIT(&empty[s], 2); }
    FENCE_MBAR_INIT();
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  CLUSTER_WAIT();
  if (t >= 32) {
    if (t == 32)
      for (int i = 0; i < 5; ++i) { // each CTA multicasts its half of the tile to both
        int s = i & 1;
        MB_WAIT_CLUSTER(&empty[s], ((i >> 1) & 1) ^ 1);
        MB_ARRIVE_EXPECT(&full[s], 256);
        BULK_LOAD_MC(tile[s] + rank * 32, in + i * 64 + rank * 32, 128, &full[s], 3);
      }
  } else {
    for (int i = 0; i < 5; ++i) {
      int s = i & 1;
      MB_WAIT_CLUSTER(&full[s], (i >> 1) & 1);
      out[(rank * 5 + i) * 32 + t] = tile[s][t] + tile[s][63 - t];
      FENCE_PROXY();
      __syncwarp();
      if (t < 2) RMB_ARRIVE(MAPA(&empty[s], t)); // tells both producers
    }
  }
  CLUSTER_SYNC();
}
