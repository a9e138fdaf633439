// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 64, "expected": "inp[:64].reshape(2,32)[:,::-1].reshape(-1)*8"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ u32 s[64];
  u32 t = threadIdx.x, v = in[t];
  for (int i = 0; i < 3; ++i) {
    s[t] = v + v;
    __syncwarp();
    v = s[t ^ 31];
    __syncwarp();
  }
  out[t] = v;
}
