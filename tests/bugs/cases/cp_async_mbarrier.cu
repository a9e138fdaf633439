// {"block": 64, "cluster": 1, "grid": 1, "kind": "race", "mend": ["wait"], "args": ["in", "out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 buf[64];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&full, 32); FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t < 32) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(S32(&buf[t])), "l"(in + t) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(S32(&buf[t + 32])), "l"(in + t + 32) : "memory"); // @1
#ifdef FAULT
    MB_ARRIVE(&full);
#else
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(S32(&full)) : "memory");
#endif
  } else {
    MB_WAIT(&full, 0);
    out[t] = buf[95 - t]; // @2
  }
}
