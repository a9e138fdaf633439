// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["out"], "block": 64, "expected": "np.concatenate([np.arange(64)[::-1]+i for i in range(5)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 s[2][64];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, ok;
  u64 token;
  INIT(&bar, 64);
  __syncthreads();
  for (int i = 0; i < 5; ++i) {
    s[i & 1][t] = t + i;
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(S32(&bar)) : "memory");
    do asm volatile("{.reg .pred p; mbarrier.test_wait.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(ok) : "r"(S32(&bar)), "l"(token) : "memory"); while (!ok);
    out[i * 64 + t] = s[i & 1][63 - t];
  }
}
