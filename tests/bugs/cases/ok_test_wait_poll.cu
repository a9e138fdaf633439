// {"block": 64, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 buf[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x;
  if (t == 0) { MB_INIT(&bar, 32); FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t < 32) {
    for (int r = 0; r < 3; ++r) buf[t] = t * 9 + r;
    MB_ARRIVE(&bar);
  } else {
    u32 done = 0;
    while (!done) asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(done) : "r"(S32(&bar)) : "memory");
    out[t - 32] = buf[63 - t];
  }
}
