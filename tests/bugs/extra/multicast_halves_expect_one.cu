// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "deadlock|tx", "mend": ["9216|5120|expect"], "args": ["mapA32", "mapB", "outf"], "block": 160, "expected": "(np.concatenate([mm, mm]).view(np.float32)*4).view(np.uint32)"}
#include "fn.cuh"
// A is split in halves: each CTA multicasts its half of the rows to both
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ alignas(1024) __nv_bfloat16 a[2][4096];
  __shared__ alignas(1024) __nv_bfloat16 b[2][512];
  __shared__ Mbar full[2], empty[2];
  const uint32_t rank = cta_rank();
  if (threadIdx.x == 0) {
    for (int s = 0; s < 2; ++s) { full[s].init(1); empty[s].init(2 * 4); }
    fence_barrier_init();
  }
  cluster_sync();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128)
      for (uint32_t it = 0; it < 4; ++it) {
        uint32_t s = it & 1, ph = it >> 1 & 1;
        do {} while (!empty[s].try_wait_cluster(ph ^ 1));
#ifdef FAULT
        full[s].arrive_and_expect_tx(4096 + 1024); // @1
#else
        full[s].arrive_and_expect_tx(8192 + 1024);
#endif
        tma_2d_mc(a[s] + rank * 2048, &ma, 0, rank * 32, full[s], 3); // @2
        tma_2d(b[s], &mb, 0, 0, full[s]);
      }
  } else {
    float d[4] = {};
    for (uint32_t it = 0; it < 4; ++it) {
      uint32_t s = it & 1;
      full[s].wait_cluster(it >> 1 & 1);
      warpgroup_arrive();
      mma_k64(d, a[s], b[s]);
      warpgroup_commit();
      warpgroup_wait<0>();
      if (threadIdx.x % 32 < 2) empty[s].arrive_remote(threadIdx.x % 32);
    }
    store_acc(out + rank * 512, d, threadIdx.x);
  }
  cluster_sync();
}
