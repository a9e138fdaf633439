// {"grid": 4, "cluster": 4, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 96, "expected": "np.tile((inp[:5*64].reshape(5,64)).reshape(-1),4)"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(96) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 slot[2][64];
  __shared__ alignas(8) u64 full[2], empty[2];
  u32 t = threadIdx.x, rank = RANK();
  if (t == 0) {
    for (int s = 0; s < 2; ++s) { MB_INIT(&full[s], 1); MB_INIT(&empty[s], 8); }
    FENCE_MBAR_INIT();
  }
  CLUSTER_ARRIVE_RELAXED();
  CLUSTER_WAIT();
  if (t >= 64) {
    if (ELECT())
      for (int i = 0, s = 0, ph = 0; i < 5; ++i) {
        MB_WAIT_CLUSTER(&empty[s], ph ^ 1);
        MB_ARRIVE_EXPECT(&full[s], 256);
        BULK_LOAD_MC(slot[s] + 16 * rank, in + 64 * i + 16 * rank, 64, &full[s], 15);
        if (++s == 2) s = 0, ph ^= 1;
      }
  } else {
    for (int i = 0, s = 0, ph = 0; i < 5; ++i) {
      MB_WAIT_CLUSTER(&full[s], ph);
      out[(rank * 5 + i) * 64 + t] = slot[s][t];
      FENCE_PROXY();
      __syncwarp();
      if ((t & 31) < 4) RMB_ARRIVE(MAPA(&empty[s], t & 3));
      if (++s == 2) s = 0, ph ^= 1;
    }
  }
  CLUSTER_SYNC();
}
