// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "lifetime|race", "mend": ["barrier"], "args": ["in", "out"], "block": 64, "expected": "np.concatenate([inp[64:128], inp[:64]])"}
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(const unsigned *in, unsigned *out) {
  __shared__ unsigned tile[64];
  auto cluster = cg::this_cluster();
  tile[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x]; // @1
  auto token = cluster.barrier_arrive();
  unsigned *peer = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
#ifdef FAULT
  unsigned v = peer[threadIdx.x]; // @2
  cluster.barrier_wait(std::move(token));
#else
  cluster.barrier_wait(std::move(token));
  unsigned v = peer[threadIdx.x];
#endif
  cluster.sync();
  out[blockIdx.x * 64 + threadIdx.x] = v;
}
