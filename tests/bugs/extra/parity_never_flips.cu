// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race|barrier-misuse|deadlock", "mend": ["parity|phase|wait"], "args": ["in", "out"], "block": 64, "expected": "inp[:96].reshape(3,32)[:,::-1].reshape(-1)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 slot[32];
  __shared__ alignas(8) u64 full, empty;
  u32 t = threadIdx.x, lane = t & 31;
  if (t == 0) { MB_INIT(&full, 1); MB_INIT(&empty, 32); FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t >= 32) {
    if (lane == 0)
      for (int i = 0; i < 3; ++i) {
        MB_WAIT(&empty, (i & 1) ^ 1);
        MB_ARRIVE_EXPECT(&full, 128);
        BULK_LOAD(slot, in + 32 * i, 128, &full);
      }
  } else {
    for (int i = 0; i < 3; ++i) {
#ifdef FAULT
      MB_WAIT(&full, 0); // @1
#else
      MB_WAIT(&full, i & 1);
#endif
      out[i * 32 + lane] = slot[31 - lane]; // @1
      FENCE_PROXY();
      MB_ARRIVE(&empty); // @1
    }
  }
}
