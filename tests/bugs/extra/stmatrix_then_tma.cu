// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "proxy", "mend": ["fence.proxy.async"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(128) u32 s[64];
  u32 t = threadIdx.x;
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(S32(&s[(t & 15) * 4])), "r"(t), "r"(t + 32) : "memory"); // @1
#ifndef FAULT
  FENCE_PROXY();
#endif
  __syncwarp();
  if (t == 0) {
    BULK_STORE(out, s, 256); // @2
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
