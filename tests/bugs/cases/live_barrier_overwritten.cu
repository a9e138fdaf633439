// {"block": 64, "cluster": 1, "grid": 1, "kind": "lifetime", "mend": ["barrier"], "args": ["in", "out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) unsigned char raw[512];
  u64 *full = (u64 *)(raw + 256);
  u32 *tile = (u32 *)raw;
  u32 t = threadIdx.x;
  if (t == 0) {
    MB_INIT(full, 1); // @1
    FENCE_MBAR_INIT();
  }
  __syncthreads();
  if (t == 0) {
    MB_ARRIVE_EXPECT(full, 256);
    BULK_LOAD(tile, in, 256, full);
  }
  MB_WAIT(full, 0);
  out[t] = tile[63 - t];
  FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
#ifdef FAULT
    MB_ARRIVE_EXPECT(full, 384);
    BULK_LOAD(tile, in, 384, full); // @2
#else
    MB_ARRIVE_EXPECT(full, 256);
    BULK_LOAD(tile, in, 256, full);
#endif
  }
#ifndef FAULT
  MB_WAIT(full, 1);
  out[64 + t] = tile[63 - t];
#endif
}
