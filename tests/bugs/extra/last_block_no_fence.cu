// {"grid": 4, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["threadfence|fence.acq_rel.gpu"], "args": ["out", "scratch"], "block": 32, "scratch": 1024, "expected": "np.array([32*31//2*4+32*(0+1+2+3)*10])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out, u32 *scratch) {
  __shared__ u32 last;
  u32 t = threadIdx.x, b = blockIdx.x;
  scratch[32 + b * 32 + t] = b * 10 + t; // @1
#ifndef FAULT
  __threadfence();
#endif
  __syncthreads();
  if (t == 0) last = atomicAdd(scratch, 1) == 3;
  __syncthreads();
  if (last) {
    __threadfence();
    u32 s = 0;
    for (int i = 0; i < 4; ++i) s += scratch[32 + i * 32 + t]; // @2
    s = __reduce_add_sync(~0u, s);
    if (t == 0) out[0] = s;
  }
}
