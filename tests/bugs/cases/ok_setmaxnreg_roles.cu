// {"block": 384, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(384, 1) k(u32 *out) {
  __shared__ u32 buf[128];
  u32 t = threadIdx.x;
  if (t < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    buf[t] = t;
    NB_ARRIVE(1, 384);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    NB_SYNC(1, 384);
    out[t - 128] = buf[255 - t & 127];
  }
}
