// {"block": 64, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["in", "out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 buf[2][256];
  u32 t = threadIdx.x;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(S32(&buf[0][4 * t])), "l"(in + 4 * t) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  for (int i = 0; i < 3; ++i) {
    if (i + 1 < 3) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(S32(&buf[(i + 1) & 1][4 * t])), "l"(in + (i + 1) * 256 + 4 * t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    out[i * 64 + t] = buf[i & 1][255 - t] + buf[i & 1][t];
    __syncthreads();
  }
}
