// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["cp.async"], "args": ["in", "out"], "block": 64, "expected": "inp[:256]+1"}
#include "more.cuh"
// A producer warp fills slots with cp.async and hands them over by named barriers.
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 ring[2][32];
  u32 lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < 8; ++i) {
      if (i >= 2) NB_SYNC(3 + i % 2, 64);
      CP_ASYNC4(&ring[i % 2][lane], in + i * 32 + lane); // @1
      CP_COMMIT();
#ifdef FAULT
      NB_ARRIVE(1 + i % 2, 64);
      CP_WAIT(0);
#else
      CP_WAIT(0);
      NB_ARRIVE(1 + i % 2, 64);
#endif
    }
  } else {
    for (int i = 0; i < 8; ++i) {
      NB_SYNC(1 + i % 2, 64);
      out[i * 32 + lane] = ring[i % 2][lane] + 1; // @2
      if (i < 6) NB_ARRIVE(3 + i % 2, 64);
    }
  }
}
