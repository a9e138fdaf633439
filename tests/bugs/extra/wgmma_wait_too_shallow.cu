// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wgmma.wait_group 0"], "args": ["mapA", "mapB", "outf"], "block": 128, "expected": "np.concatenate([mm, mm])", "out": 4096}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ alignas(1024) unsigned short a[4096];
  __shared__ alignas(1024) unsigned short b[512];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  __syncthreads();
  if (t == 0) {
    MB_ARRIVE_EXPECT(&full, 9216);
    TMA_LOAD(a, &ma, 0, 0, &full);
    TMA_LOAD(b, &mb, 0, 0, &full);
  }
  __syncwarp();
  MB_WAIT(&full, 0);
  float d[4] = {0, 0, 0, 0}, e[4] = {0, 0, 0, 0};
  WG_FENCE();
  WGMMA_K64(d, DESC128(a), DESC128(b));
  WG_COMMIT();
  WGMMA_K64(e, DESC128(a), DESC128(b)); // @1
  WG_COMMIT();
  WG_WAIT(1);
  float *o = out + (t / 32 * 16 + (t & 31) / 4) * 8 + (t & 3) * 2;
  o[0] = d[0]; o[1] = d[1]; o[64] = d[2]; o[65] = d[3];
#ifndef FAULT
  WG_WAIT(0);
#endif
  o += 512;
  o[0] = e[0]; o[1] = e[1]; o[64] = e[2]; o[65] = e[3]; // @2
}
