// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["size|same"], "args": ["scratch", "out"], "block": 32, "scratch": 256}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *scratch, u32 *out) {
  u32 t = threadIdx.x;
  if (t == 0) {
    if (blockIdx.x == 0) {
#ifdef FAULT
      asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(scratch), "l"(0x100000001ull) : "memory"); // @1
#else
      ST_RELAXED(scratch, 1);
#endif
    } else out[0] = LD_RELAXED(scratch) & 0; // @2
  }
}
