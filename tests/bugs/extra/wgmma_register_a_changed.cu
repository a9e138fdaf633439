// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wgmma.wait_group"], "args": ["mapB", "outf"], "block": 128, "out": 2048}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ alignas(1024) unsigned short b[512];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncthreads();
  if (t == 0) {
    MB_ARRIVE_EXPECT(&full, 1024);
    TMA_LOAD(b, &mb, 0, 0, &full);
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  float d[4] = {0, 0, 0, 0};
  asm volatile(".reg .b32 ra<4>;\n\tmov.b32 ra0, 0x3f803f80;\n\tmov.b32 ra1, 0x3f803f80;\n\tmov.b32 ra2, 0x3f803f80;\n\tmov.b32 ra3, 0x3f803f80;");
  WG_FENCE();
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {ra0, ra1, ra2, ra3}, %4, 1, 1, 1, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(DESC128(b)) : "memory"); // @1
  WG_COMMIT();
#ifdef FAULT
  asm volatile("add.u32 ra1, ra1, 1;" ::: "memory"); // @2
  WG_WAIT(0);
#else
  WG_WAIT(0);
  asm volatile("add.u32 ra1, ra1, 1;" ::: "memory");
#endif
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
}
