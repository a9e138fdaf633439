// {"block": 128, "cluster": 1, "grid": 1, "kind": "layout", "mend": ["swizzle"], "args": ["mapA128", "mapB", "outf"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ alignas(1024) unsigned short a[4096];
  __shared__ alignas(1024) unsigned short b[512];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  if (t == 0) {
    MB_INIT(&full, 1);
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  if (t == 0) {
    MB_ARRIVE_EXPECT(&full, 9216);
    TMA_LOAD(a, &ma, 0, 0, &full); // @1
    TMA_LOAD(b, &mb, 0, 0, &full);
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  float d[4] = {0, 0, 0, 0};
  WG_FENCE();
#ifdef FAULT
  WGMMA(d, DESC64(a), DESC128(b)); // @2
#else
  WGMMA(d, DESC128(a), DESC128(b));
#endif
  WG_COMMIT();
  WG_WAIT(0);
  for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
}
