// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "race|lifetime", "mend": ["cluster"], "args": ["in", "out"], "block": 64, "expected": "np.concatenate([inp[64:128]+inp[:64], inp[:64]+inp[64:128]])"}
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(const unsigned *in, unsigned *out) {
  __shared__ unsigned box[64];
  auto cluster = cg::this_cluster();
  unsigned r = cluster.block_rank(), v = in[r * 64 + threadIdx.x];
  box[threadIdx.x] = v; // @1
  auto token = cluster.barrier_arrive();
#ifdef FAULT
  unsigned w = cluster.map_shared_rank(box, r ^ 1)[threadIdx.x]; // @2
  cluster.barrier_wait(std::move(token));
#else
  cluster.barrier_wait(std::move(token));
  unsigned w = cluster.map_shared_rank(box, r ^ 1)[threadIdx.x];
#endif
  out[r * 64 + threadIdx.x] = v + w;
  cluster.sync();
}
