// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["__syncwarp|bar.warp.sync"], "args": ["in", "out"], "block": 64, "expected": "inp[:64].reshape(2,32)[:,::-1].reshape(-1)"}
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const unsigned *in, unsigned *out) {
  __shared__ unsigned row[64];
#ifdef FAULT
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
#else
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
#endif
  row[threadIdx.x] = in[threadIdx.x]; // @1
  tile.sync();
  out[threadIdx.x] = row[threadIdx.x ^ 31]; // @2
}
