// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["out"], "block": 96, "expected": "np.arange(96)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(96) k(u32 *out) {
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, w = t / 32, lane = t & 31;
  INIT(&bar, 96);
  __syncthreads();
  for (int i = 0; i < 3; ++i) {
    if (i == (int)w) { asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(S32(&bar)) : "memory"); break; }
    MB_ARRIVE(&bar);
    MB_WAIT(&bar, i & 1);
  }
  out[t] = w * 32 + lane;
}
