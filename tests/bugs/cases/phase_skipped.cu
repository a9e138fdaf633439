// {"block": 64, "cluster": 1, "grid": 1, "kind": "barrier-misuse", "mend": ["wait"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 buf[32];
  __shared__ alignas(8) u64 bar;
  u32 t = threadIdx.x, lane = t & 31;
  if (t == 0) { MB_INIT(&bar, 32); FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t < 32) {
    buf[lane] = lane;
    MB_ARRIVE(&bar); // @1
    __syncwarp();
#ifdef FAULT
    MB_ARRIVE(&bar); // @1
#endif
  }
  __syncthreads();
  if (t >= 32) {
#ifdef FAULT
    MB_WAIT(&bar, 1);
#else
    MB_WAIT(&bar, 0);
#endif
    out[lane] = buf[31 - lane];
  }
}
