// {"grid": 4, "cluster": 1, "verdict": "error", "kind": "none", "args": ["in", "out", "scratch"], "block": 64, "scratch": 256, "expected": "np.array([inp[:256].sum()])"}
#include "more.cuh"
__device__ __forceinline__ u32 sum(u32 v) { for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d); return v; }
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out, u32 *scratch) {
  __shared__ u32 part[2], last;
  u32 t = threadIdx.x;
  u32 v = sum(in[blockIdx.x * 64 + t]);
  if ((t & 31) == 0) part[t / 32] = v;
  __syncthreads();
  if (t == 0) {
    scratch[1 + blockIdx.x] = part[0] + part[1];
    __threadfence();
    last = atomicInc(scratch, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && t < 32) {
    v = sum(t < gridDim.x ? scratch[1 + t] : 0);
    if (t == 0) out[0] = v;
  }
}
