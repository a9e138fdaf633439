// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["mapIn", "scratch", "in", "out"], "block": 32, "scratch": 256, "expected": "inp[256:512]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(const __grid_constant__ CUtensorMap m, u64 *copy, const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[256];
  __shared__ alignas(128) u64 desc[16];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  if (t < 16) desc[t] = ((const u64 *)&m)[t];
  __syncwarp();
  if (t == 0) asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(S32(desc)), "l"(in + 256) : "memory");
  __syncwarp();
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(copy), "r"(S32(desc)) : "memory");
  if (t == 0) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(copy) : "memory");
    MB_ARRIVE_EXPECT(&full, 1024);
    TMA_LOAD(tile, copy, 0, 0, &full);
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  for (int r = 0; r < 8; ++r) out[r * 32 + t] = tile[r * 32 + t];
}
