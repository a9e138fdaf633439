// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "barrier-misuse", "mend": ["token|state|phase"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, ok;
  u64 s, first = 0;
  INIT(&bar, 32);
  __syncwarp();
  for (int i = 0; i < 3; ++i) {
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(s) : "r"(S32(&bar)) : "memory");
    if (i == 0) first = s;
    do asm volatile("{.reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(ok) : "r"(S32(&bar)), "l"(s) : "memory"); while (!ok);
    __syncwarp();
  }
#ifdef FAULT
  s = first;
#endif
  asm volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(ok) : "r"(S32(&bar)), "l"(s) : "memory"); // @1
  out[t] = ok + (u32)(first & 0);
}
