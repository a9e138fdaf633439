// {"block": 384, "cluster": 1, "grid": 1, "kind": "register-pool", "mend": ["setmaxnreg"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0, "maxnreg": 64}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(384, 1) k(u32 *out) {
  u32 t = threadIdx.x, wg = t >> 7;
  if (wg == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  } else {
#ifdef FAULT
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); // @1
#else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 176;");
#endif
  }
  out[t] = t * 2;
}
