// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "tx|deadlock", "mend": ["256"], "args": ["in", "out"], "block": 32, "expected": "inp[:32]+inp[32:64]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 slot[64];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncwarp();
  if (t == 0) {
#ifdef FAULT
    MB_ARRIVE_EXPECT(&full, 128); // @1
#else
    MB_ARRIVE_EXPECT(&full, 256);
#endif
    BULK_LOAD(slot, in, 256, &full); // @1
  }
  __syncwarp();
  MB_WAIT(&full, 0); // @1
  out[t] = slot[t] + slot[32 + t];
}
