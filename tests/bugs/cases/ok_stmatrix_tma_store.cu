// {"block": 32, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["out"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(128) u32 tile[128];
  u32 t = threadIdx.x;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(S32(&tile[t * 4])), "r"(t), "r"(t + 32), "r"(t + 64), "r"(t + 96) : "memory");
  FENCE_PROXY();
  __syncwarp();
  if (t == 0) {
    BULK_STORE(out, tile, 512);
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
