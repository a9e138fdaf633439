// {"block": 64, "cluster": 1, "grid": 1, "kind": "deadlock", "mend": ["arrive"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ u32 a[32], b[32];
  __shared__ alignas(8) u64 ready_a, ready_b;
  u32 t = threadIdx.x, lane = t & 31;
  if (t == 0) { MB_INIT(&ready_a, 32); MB_INIT(&ready_b, 32); FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t < 32) {
#ifndef FAULT
    a[lane] = lane * 3;
    MB_ARRIVE(&ready_a);
#endif
    MB_WAIT(&ready_b, 0); // @1
#ifdef FAULT
    a[lane] = lane * 3;
    MB_ARRIVE(&ready_a);
#endif
    out[lane] = b[31 - lane];
  } else {
    MB_WAIT(&ready_a, 0); // @2
    b[lane] = a[31 - lane] + 1;
    MB_ARRIVE(&ready_b);
  }
}
