// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race|barrier-misuse", "mend": ["count|init|noinc|arriv"], "args": ["in", "out"], "block": 64, "expected": "inp[:32][::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 s[32];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x, lane = t & 31;
#ifdef FAULT
  INIT(&full, 1);
#else
  INIT(&full, 32);
#endif
  __syncthreads();
  if (t < 32) {
    CP_ASYNC4(&s[t], in + t); // @1
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(S32(&full)) : "memory"); // @1
  } else {
    MB_WAIT(&full, 0);
    out[lane] = s[31 - lane];
  }
}
