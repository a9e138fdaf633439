// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 32, "expected": "np.concatenate([inp[i*32:i*32+32][::-1] for i in range(5)])"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 from[2][32], to[2][32];
  __shared__ alignas(8) u64 full[2], empty[2];
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) { for (int j = 0; j < 2; ++j) { MB_INIT(&full[j], 1); MB_INIT(&empty[j], 1); } FENCE_MBAR_INIT(); }
  CLUSTER_SYNC();
  for (int i = 0; i < 5; ++i) {
    int s = i & 1, ph = (i >> 1) & 1;
    if (rank == 0) {
      MB_WAIT_CLUSTER(&empty[s], ph ^ 1); // the earlier push from this slot has landed, since it was read
      from[s][t] = in[32 * i + t];
      FENCE_PROXY();
      __syncwarp();
      if (t == 0) { RMB_ARRIVE_EXPECT(MAPA(&full[s], 1), 128); BULK_PUSH(MAPA(to[s], 1), from[s], 128, MAPA(&full[s], 1)); }
    } else {
      MB_WAIT_CLUSTER(&full[s], ph);
      out[i * 32 + t] = to[s][31 - t];
      FENCE_PROXY();
      __syncwarp();
      if (t == 0) RMB_ARRIVE(MAPA(&empty[s], 0));
    }
  }
  CLUSTER_SYNC();
}
