// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["release|fence"], "args": ["out", "scratch"], "block": 32, "scratch": 256, "expected": "np.arange(32)[::-1]*5"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out, u32 *scratch) {
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    scratch[t] = 5 * t; // @1
    __syncwarp();
    if (t == 0) {
#ifdef FAULT
      ST_RELAXED(scratch + 32, 1);
#else
      ST_REL("gpu", scratch + 32, 1);
#endif
    }
  } else {
    if (t == 0) while (LD_ACQ("gpu", scratch + 32) == 0) {}
    __syncwarp();
    out[t] = scratch[31 - t]; // @2
  }
}
