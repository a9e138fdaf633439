// {"grid": 4, "cluster": 1, "verdict": "error", "kind": "none", "mend": [], "args": ["in", "out", "scratch"], "block": 32, "scratch": 1024, "expected": "inp[:128][::-1]"}
#include <cooperative_groups.h>
extern "C" __global__ void k(const unsigned *in, unsigned *out, unsigned *scratch) {
  auto grid = cooperative_groups::this_grid();
  scratch[grid.thread_rank()] = in[grid.thread_rank()];
  grid.sync();
  out[grid.thread_rank()] = scratch[127 - grid.thread_rank()];
}
