// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 64, "expected": "np.concatenate([inp[i*32:i*32+32][::-1] for i in range(5)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 s[2][32];
  __shared__ alignas(8) u64 full[2], empty[2];
  u32 t = threadIdx.x, lane = t & 31;
  if (t == 0) { for (int j = 0; j < 2; ++j) { MB_INIT(&full[j], 32); MB_INIT(&empty[j], 32); } FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < 5; ++i) {
      MB_WAIT(&empty[i & 1], ((i >> 1) & 1) ^ 1);
      CP_ASYNC4(&s[i & 1][t], in + 32 * i + t);
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(S32(&full[i & 1])) : "memory");
    }
  } else
    for (int i = 0; i < 5; ++i) {
      MB_WAIT(&full[i & 1], (i >> 1) & 1);
      out[i * 32 + lane] = s[i & 1][31 - lane];
      MB_ARRIVE(&empty[i & 1]);
    }
}
