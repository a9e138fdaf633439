// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wait_group"], "args": ["scratch", "out"], "block": 32, "scratch": 256, "expected": "np.arange(32)[::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *scratch, u32 *out) {
  __shared__ alignas(128) u32 tile[32];
  u32 t = threadIdx.x;
  tile[t] = t;
  FENCE_PROXY();
  __syncwarp();
  if (t == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 128;" ::"l"(scratch), "r"(S32(tile)) : "memory"); // @1
    BULK_COMMIT();
#ifndef FAULT
    BULK_WAIT(0);
#endif
  }
  __syncwarp();
  out[t] = ((volatile u32 *)scratch)[31 - t]; // @2
}
