// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["__syncthreads|bar.sync|barrier"], "args": ["in", "out"], "block": 128, "expected": "np.concatenate([np.cumsum(inp[:512]), [inp[:512].sum(), inp[:512:4].sum()]])"}
#include <cub/block/block_scan.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_load.cuh>
extern "C" __global__ void __launch_bounds__(128) k(const unsigned *in, unsigned *out) {
  using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<unsigned, 128>;
  using Reduce = cub::BlockReduce<unsigned, 128>;
  __shared__ union { typename Load::TempStorage load; typename Scan::TempStorage scan; typename Reduce::TempStorage reduce; } tmp;
  unsigned v[4];
  Load(tmp.load).Load(in, v);
  __syncthreads();
  unsigned s = Reduce(tmp.reduce).Sum(v); // @1
#ifndef FAULT
  __syncthreads();
#endif
  unsigned s2 = Reduce(tmp.reduce).Sum(v[0]); // @1
  __syncthreads();
  Scan(tmp.scan).InclusiveSum(v, v);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = v[i];
  if (threadIdx.x == 0) { out[512] = s; out[513] = s2; }
}
