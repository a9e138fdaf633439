// {"block": 32, "cluster": 1, "grid": 2, "kind": "none", "mend": [], "args": ["scratch", "out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0, "scratch": 256}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *acc, u32 *out) {
  __shared__ alignas(128) u32 tile[32];
  u32 t = threadIdx.x;
  tile[t] = t + 1;
  FENCE_PROXY();
  __syncwarp();
  if (t == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(acc), "r"(S32(tile)), "r"(128) : "memory");
    BULK_COMMIT();
    BULK_WAIT(0);
  }
  out[blockIdx.x * 32 + t] = t;
}
