// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "barrier-misuse", "mend": ["noComplete|count"], "args": ["out"], "block": 32}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x;
#ifdef FAULT
  INIT(&bar, 1);
#else
  INIT(&bar, 2);
#endif
  __syncthreads();
  if (t == 0) {
    [[maybe_unused]] u64 s;
    asm volatile("mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %0, [%1], 1;" : "=l"(s) : "r"(S32(&bar)) : "memory"); // @1
#ifndef FAULT
    MB_ARRIVE(&bar);
#endif
  }
  __syncwarp();
  MB_WAIT(&bar, 0);
  out[t] = t;
}
