// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["mapB", "outf", 4], "block": 128, "out": 2048}
#include "more.cuh"
__device__ __forceinline__ u32 pack(float a, float b) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a)); return r; }
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ CUtensorMap mb, float *out, int n) {
  __shared__ alignas(1024) unsigned short b[512];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncthreads();
  if (t == 0) { MB_ARRIVE_EXPECT(&full, 1024); TMA_LOAD(b, &mb, 0, 0, &full); }
  __syncwarp();
  MB_WAIT(&full, 0);
  float d[4] = {0, 0, 0, 0}, p[8];
  for (int j = 0; j < 8; ++j) p[j] = j + (t & 3);
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    u32 a0 = pack(p[0], p[1]), a1 = pack(p[2], p[3]), a2 = pack(p[4], p[5]), a3 = pack(p[6], p[7]);
    for (int j = 0; j < 4; ++j) d[j] *= 0.5f;
    WG_FENCE();
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(DESC128(b)) : "memory");
    WG_COMMIT();
    for (int j = 0; j < 8; ++j) p[j] = p[j] + 1.0f;
    WG_WAIT(0);
  }
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
}
