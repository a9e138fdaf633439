// {"grid": 4, "cluster": 4, "verdict": "error", "kind": "scope", "mend": ["cluster"], "args": ["in", "out"], "block": 32, "expected": "np.tile(inp[:128].reshape(4,32).sum(0), 4)"}
#include "fn.cuh"
// each CTA passes its partial sums round the cluster; two slots, credits come back
extern "C" __global__ void __cluster_dims__(4, 1, 1) k(const uint32_t *in, uint32_t *out) {
  __shared__ uint32_t slot[2][32];
  __shared__ Mbar full[2], free_[2];
  uint32_t rank = cta_rank(), next = (rank + 1) % 4, prev = (rank + 3) % 4, lane = threadIdx.x;
  if (lane == 0) { for (int s = 0; s < 2; ++s) { full[s].init(32); free_[s].init(1); } fence_barrier_init(); }
  cluster_sync();
  uint32_t v = in[rank * 32 + lane], sum = v;
  for (int step = 0; step < 3; ++step) {
    int s = step & 1;
    if (step >= 2) free_[s].wait_cluster(0);
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(map_rank(smem_u32(&slot[s][lane]), next)), "r"(v) : "memory"); // @1
#ifdef FAULT
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(map_rank(smem_u32(&full[s]), next)) : "memory");
#else
    full[s].arrive_remote(next);
#endif
    full[s].wait_cluster(step >> 1);
    v = slot[s][lane]; // @2
    sum += v;
    __syncwarp();
    free_[s].arrive_remote(prev, lane == 0);
  }
  out[rank * 32 + lane] = sum;
  cluster_sync();
}
