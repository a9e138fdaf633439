// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "lifetime", "mend": ["cluster barrier"], "args": ["mapA", "mapB4", "outf"], "block": 256, "expected": "(np.concatenate([mm, mm]).view(np.float32)*5).view(np.uint32)"}
#include "fn.cuh"
// GEMM main loop of a 2x1 cluster: B is multicast, each half by one CTA; consumers arrive at both CTAs' empty barriers
constexpr int S = 2, K = 5;
struct __align__(1024) Shared { __nv_bfloat16 a[S][4096]; __nv_bfloat16 b[S][512]; Mbar full[S], empty[S]; };
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ Shared sm;
  int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
  if (warp == 0 && elect_one()) {
    for (int s = 0; s < S; ++s) { sm.full[s].init(1); sm.empty[s].init(2); }
    fence_barrier_init();
  }
  cluster_arrive_relaxed();
  cluster_wait();
  if (warp >= 4) {
    if (warp == 4 && elect_one()) {
      int slot = 0, parity = 1;
      for (int i = 0; i < K; ++i) {
        sm.empty[slot].wait_cluster(parity);
        sm.full[slot].arrive_and_expect_tx(8192 + 1024);
        tma_2d(sm.a[slot], &ma, 0, 0, sm.full[slot]);
        tma_2d_mc(sm.b[slot] + 256 * cta_rank(), &mb, 0, 4 * cta_rank(), sm.full[slot], 3);
        if (++slot == S) { slot = 0; parity ^= 1; }
      }
#ifndef FAULT
      for (int i = 0; i < S; ++i) { // producer_tail: nobody arrives here any more once all slots have come back
        sm.empty[slot].wait_cluster(parity);
        if (++slot == S) { slot = 0; parity ^= 1; }
      }
#endif
    }
  } else {
    float d[4] = {};
    for (int i = 0; i < K; ++i) {
      sm.full[i % S].wait(i / S & 1);
      warpgroup_arrive();
      mma_k64(d, sm.a[i % S], sm.b[i % S]);
      warpgroup_commit();
      warpgroup_wait<0>();
      sm.empty[i % S].arrive_remote(threadIdx.x, threadIdx.x < 2); // @1
    }
    store_acc(out + cta_rank() * 512, d, threadIdx.x);
  }
}
