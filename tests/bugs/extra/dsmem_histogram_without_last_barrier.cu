// {"grid": 4, "cluster": 2, "verdict": "error", "kind": "lifetime", "mend": ["cluster"], "args": ["in", "out"], "block": 64, "scratch": 256, "expected": "np.zeros(1)"}
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(const int *in, int *out) {
  __shared__ int bins[32];
  auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 32; i += blockDim.x) bins[i] = 0;
  cluster.sync();
  for (int i = blockIdx.x * 64 + threadIdx.x; i < 1024; i += 256) {
    int bin = in[i] & 63;
    int *remote = cluster.map_shared_rank(bins, bin / 32);
    atomicAdd(remote + bin % 32, 1); // @1
  }
#ifndef FAULT
  cluster.sync();
#endif
  for (int i = threadIdx.x; i < 32; i += blockDim.x) atomicAdd(out + 1 + cluster.block_rank() * 32 + i, bins[i]);
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = 0;
}
