// {"grid": 4, "cluster": 1, "verdict": "error", "kind": "none", "args": ["scratch", "out"], "block": 64, "scratch": 256, "expected": "np.array([6, 1])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *scratch, u32 *out) {
  u32 t = threadIdx.x;
  atomicAdd(scratch + (t & 7), 1);
  atomicMax(scratch + 8, blockIdx.x * 64 + t);
  u32 seen = atomicAdd(scratch + 9, 0);
  u32 old = atomicCAS(scratch + 10, 0, 7 + seen);
  if (old == 0) atomicExch(out, 6), atomicExch(out + 1, 1);
}
