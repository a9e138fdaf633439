// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 64, "expected": "sum(inp[i*64:i*64+64][::-1]*np.uint32(i+1) for i in range(6))"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 s[3][64];
  u32 t = threadIdx.x, acc = 0;
  for (int i = 0; i < 2; ++i) { CP_ASYNC4(&s[i][t], in + i * 64 + t); CP_COMMIT(); }
  for (int i = 0; i < 6; ++i) {
    CP_WAIT(1);
    __syncthreads();
    if (i + 2 < 6) CP_ASYNC4(&s[(i + 2) % 3][t], in + (i + 2) * 64 + t);
    CP_COMMIT();
    acc += s[i % 3][63 - t] * (i + 1);
  }
  out[t] = acc;
}
