// {"block": 128, "cluster": 1, "grid": 1, "kind": "barrier-misuse", "mend": ["id"], "args": ["in", "out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(128) k(const u32 *in, u32 *out) {
  __shared__ u32 buf[128];
  u32 t = threadIdx.x;
#ifdef FAULT
  int id = 1;
#else
  int id = 1 + (t >> 6);
#endif
  buf[t] = in[t];
  NB_SYNC(id, 64); // @1
  out[t] = buf[t ^ 32];
}
