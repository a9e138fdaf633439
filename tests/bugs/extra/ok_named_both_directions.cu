// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 192, "expected": "np.concatenate([inp[i*64:i*64+64][::-1] for i in range(5)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(192) k(const u32 *in, u32 *out) {
  __shared__ u32 s[64];
  u32 t = threadIdx.x;
  if (t < 128) {
    for (int i = 0; i < 5; ++i) {
      NB_SYNC(2, 192);
      if (t < 64) s[t] = in[i * 64 + t];
      NB_ARRIVE(1, 192);
    }
  } else {
    NB_ARRIVE(2, 192);
    for (int i = 0; i < 5; ++i) {
      NB_SYNC(1, 192);
      out[i * 64 + t - 128] = s[63 - (t - 128)];
      if (i < 4) NB_ARRIVE(2, 192);
    }
  }
}
