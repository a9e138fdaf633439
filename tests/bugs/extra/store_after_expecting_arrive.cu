// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["arrive"], "args": ["in", "out"], "block": 64, "expected": "inp[:32]+inp[33]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[32];
  __shared__ u32 bias;
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncthreads();
  if (t == 0) {
#ifdef FAULT
    MB_ARRIVE_EXPECT(&full, 128);
    bias = in[33]; // @1
#else
    bias = in[33];
    MB_ARRIVE_EXPECT(&full, 128);
#endif
    BULK_LOAD(tile, in, 128, &full);
  }
  if (t >= 32) {
    MB_WAIT(&full, 0);
    out[t - 32] = tile[t - 32] + bias; // @2
  }
}
