// {"block": 64, "cluster": 1, "grid": 1, "kind": "deadlock", "mend": ["bar"], "args": ["in", "out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ u32 buf[32];
  u32 t = threadIdx.x, lane = t & 31;
  if (t < 32) {
    buf[lane] = in[lane];
#ifndef FAULT
    NB_ARRIVE(1, 64);
#endif
  } else {
    NB_SYNC(1, 64); // @1
    out[lane] = buf[31 - lane];
  }
}
