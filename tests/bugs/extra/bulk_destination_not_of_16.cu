// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "*", "mend": ["16|align"], "args": ["in", "out"], "block": 32, "expected": "inp[:30]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[40];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncwarp();
#ifdef FAULT
  u32 *to = tile + 2;
#else
  u32 *to = tile + 4;
#endif
  if (t == 0) { MB_ARRIVE_EXPECT(&full, 128); BULK_LOAD(to, in, 128, &full); } // @1
  __syncwarp();
  MB_WAIT(&full, 0);
  if (t < 30) out[t] = to[t];
}
