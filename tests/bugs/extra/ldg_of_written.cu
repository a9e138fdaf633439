// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["__ldg"], "args": ["in", "out", "scratch"], "block": 32, "scratch": 1024, "expected": "inp[:32]+1"}
#include "more.cuh"
// __ldg of what another block of the same grid wrote: the read-only path needs data that no one writes while the kernel runs.
extern "C" __global__ void k(const u32 *in, u32 *out, u32 *scratch) {
  u32 *flag = scratch, *data = scratch + 32, t = threadIdx.x;
  if (blockIdx.x == 0) {
    data[t] = in[t] + 1; // @1
    __threadfence();
    __syncthreads();
    if (t == 0) ST_REL("gpu", flag, 1);
  } else {
    while (LD_ACQ("gpu", flag) == 0) {}
#ifdef FAULT
    out[t] = __ldg(data + t); // @2
#else
    out[t] = data[t];
#endif
  }
}
