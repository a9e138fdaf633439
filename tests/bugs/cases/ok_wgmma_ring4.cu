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
      for (int i = 0, s = 0, ph = 1; i < 5; ++i) {
        MB_WAIT(&empty[s], ph);
        MB_ARRIVE_EXPECT(&full[s], 9216);
        TMA_LOAD(a[s], &ma, 0, 0, &full[s]);
        TMA_LOAD(b[s], &mb, 0, 0, &full[s]);
        if (++s == 2) s = 0, ph ^= 1;
      }
  } else {
    float d[4] = {0, 0, 0, 0};
    for (int i = 0, s = 0, ph = 0; i < 5; ++i) {
      MB_WAIT(&full[s], ph);
      WG_FENCE();
      WGMMA_K64(d, DESC128(a[s]), DESC128(b[s]));
      WG_COMMIT();
      WG_WAIT(0);
      if (t == 0) MB_ARRIVE(&empty[s]); // one signalling thread of the warpgroup
      if (++s == 2) s = 0, ph ^= 1;
    }
    for (int i = 0; i < 4; ++i) out[t * 4 + i] = d[i];
  }
}
