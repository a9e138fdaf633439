// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "barrier-misuse", "mend": ["count|arriv"], "args": ["out"], "block": 64, "expected": "np.arange(32)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x;
  INIT(&bar, 1);
  __syncthreads();
  if (t == 0) {
#ifdef FAULT
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" ::"r"(S32(&bar)) : "memory"); // @1
#else
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 1;" ::"r"(S32(&bar)) : "memory");
#endif
  }
  if (t >= 32) { MB_WAIT(&bar, 0); out[t - 32] = t - 32; }
}
