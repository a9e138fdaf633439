// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["__syncwarp|bar.warp.sync"], "args": ["in", "out"], "block": 32, "expected": "np.array([inp[:32].sum()])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const u32 *in, u32 *out) {
  __shared__ volatile u32 s[32];
  u32 t = threadIdx.x;
  s[t] = in[t];
  __syncwarp();
  for (int d = 16; d; d >>= 1) {
    u32 v = t < d ? s[t + d] : 0; // @1
#ifndef FAULT
    __syncwarp();
#endif
    if (t < d) asm volatile("{.reg .u32 x; ld.shared.u32 x, [%0]; add.u32 x, x, %1; st.shared.u32 [%0], x;}" ::"r"(S32((u32 *)&s[t])), "r"(v) : "memory"); // @1
#ifndef FAULT
    __syncwarp();
#endif
  }
  if (t == 0) out[0] = s[0];
}
