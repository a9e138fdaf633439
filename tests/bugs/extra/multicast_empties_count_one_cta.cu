// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "race|proxy|barrier-misuse", "mend": ["init|count|arriv|wait"], "args": ["in", "out"], "block": 64, "expected": "np.tile(np.concatenate([inp[i*32:i*32+32][::-1] for i in range(4)]),2)"}
#include "more.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 slot[32];
  __shared__ alignas(8) u64 full, empty;
  u32 t = threadIdx.x, rank = RANK(), lane = t & 31;
#ifdef FAULT
  if (t == 0) { MB_INIT(&full, 1); MB_INIT(&empty, 1); FENCE_MBAR_INIT(); }
#else
  if (t == 0) { MB_INIT(&full, 1); MB_INIT(&empty, 2); FENCE_MBAR_INIT(); }
#endif
  CLUSTER_SYNC();
  if (t >= 32) {
    if (lane == 0)
      for (int i = 0; i < 4; ++i) {
        MB_WAIT_CLUSTER(&empty, (i & 1) ^ 1);
        MB_ARRIVE_EXPECT(&full, 128);
        BULK_LOAD_MC(slot + 16 * rank, in + 32 * i + 16 * rank, 64, &full, 3); // @2
      }
  } else {
    for (int i = 0; i < 4; ++i) {
      MB_WAIT_CLUSTER(&full, i & 1);
      out[(rank * 4 + i) * 32 + lane] = slot[31 - lane]; // @1
      FENCE_PROXY();
      __syncwarp();
#ifdef FAULT
      if (lane == 0) MB_ARRIVE(&empty);
#else
      if (lane < 2) RMB_ARRIVE(MAPA(&empty, lane));
#endif
    }
  }
  CLUSTER_SYNC();
}
