// {"block": 160, "cluster": 1, "grid": 1, "kind": "none", "mend": [], "args": ["mapA", "mapB", "outf"], "verdict": "clean", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(160) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ alignas(1024) unsigned short a[2][4096];
  __shared__ alignas(1024) unsigned short b[2][512];
  __shared__ alignas(8) u64 full[2], empty[2];
  u32 t = threadIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) { MB_INIT(&full[s], 1); MB_INIT(&empty[s], 1); }
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  if (t >= 128) {
    if (t == 128)
      for (int i = 0; i < 6; ++i) {
        MB_WAIT(&empty[i & 1], ((i >> 1) & 1) ^ 1);
        MB_ARRIVE_EXPECT(&full[i & 1], 9216);
        TMA_LOAD(a[i & 1], &ma, 0, 0, &full[i & 1]);
        TMA_LOAD(b[i & 1], &mb, 0, 0, &full[i & 1]);
      }
  } else {
    float d[4] = {0, 0, 0, 0};
    WG_FENCE();
    for (int i = 0; i < 6; ++i) {
      MB_WAIT(&full[i & 1], (i >> 1) & 1);
      WG_FENCE();
      WGMMA_K64(d, DESC128(a[i & 1]), DESC128(b[i & 1]));
      WG_COMMIT();
      WG_WAIT(1); // the previous group is done: release its slot
      if (i && t == 0) MB_ARRIVE(&empty[(i - 1) & 1]);
    }
    WG_WAIT(0);
    for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
  }
}
