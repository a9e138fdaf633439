// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "race|lane|*", "mend": [], "args": ["in", "out", "scratch"], "block": 96, "scratch": 64, "expected": "inp[:512]+1"}
#include "fn.cuh"
// A scheduler warp hands tiles to two consumer warps through one slot.
extern "C" __global__ void __launch_bounds__(96) k(const uint32_t *in, uint32_t *out, uint32_t *counter) {
  __shared__ uint32_t tile;
  __shared__ Mbar full, empty;
  if (threadIdx.x == 0) { full.init(1); empty.init(2); fence_barrier_init(); }
  __syncthreads();
  if (threadIdx.x / 32 == 2) {
    if (threadIdx.x == 64)
      for (int n = 0;; ++n) {
        uint32_t next = atomicAdd(counter, 1);
#ifndef FAULT
        empty.wait((n & 1) ^ 1);
#else
        if (n == 0) empty.wait(1);
#endif
        tile = next; // @1
        full.arrive();
        if (next >= 8) break;
#ifdef FAULT
        empty.wait(n & 1 ? 0 : 1);
#endif
      }
  } else {
    for (int n = 0;; ++n) {
      full.wait(n & 1);
      uint32_t mine = tile; // @2
      __syncwarp();
      if (threadIdx.x % 32 == 0) empty.arrive();
      if (mine >= 8) break;
      out[mine * 64 + threadIdx.x] = in[mine * 64 + threadIdx.x] + 1;
    }
  }
}
