// {"block": 32, "cluster": 1, "grid": 2, "kind": "race", "mend": ["acquire"], "args": ["out", "scratch"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0, "scratch": 256}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out, u32 *scratch) {
  u32 t = threadIdx.x;
  if (blockIdx.x == 0) {
    scratch[32 + t] = t * 3; // @1
    __syncwarp();
    if (t == 0) {
#ifdef FAULT
      asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(scratch) : "memory");
#else
      asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(scratch) : "memory");
#endif
    }
  } else {
    u32 v = 0;
    if (t == 0)
      while (v == 0) {
#ifdef FAULT
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(scratch) : "memory");
#else
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(scratch) : "memory");
#endif
      }
    __syncwarp();
    out[t] = scratch[32 + 31 - t]; // @2
  }
}
