// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["arrive"], "args": ["out"], "block": 64, "expected": "np.arange(96)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, lane = t & 31;
  INIT(&bar, 64);
  __syncthreads();
  if (t >= 32) {
#ifdef FAULT
    MB_ARRIVE(&bar);
#else
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(S32(&bar)) : "memory");
#endif
    return;
  }
  for (int i = 0; i < 3; ++i) {
    MB_ARRIVE(&bar);
    MB_WAIT(&bar, i & 1); // @1
    out[i * 32 + lane] = i * 32 + lane;
  }
}
