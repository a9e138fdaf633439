// {"block": 64, "cluster": 1, "grid": 1, "kind": "race", "mend": ["wait_group"], "args": ["out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  u32 t = threadIdx.x;
  tile[t] = t * 3;
  FENCE_PROXY();
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 256); // @1
    BULK_COMMIT();
  }
#ifdef FAULT
  if (t == 1) BULK_WAIT_READ(0);
#else
  if (t == 0) BULK_WAIT_READ(0);
#endif
  __syncthreads();
  tile[t] = 7; // @2
  out[64 + t] = tile[t];
  if (t == 0) BULK_WAIT(0);
}
