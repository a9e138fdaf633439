// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 64, "expected": "np.concatenate([inp[:64]+1, inp[64:128]])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  __shared__ alignas(8) u64 full;
  u32 t = threadIdx.x;
  INIT(&full, 1);
  tile[t] = in[t] + 1;
  __syncthreads();
  if (t == 0) {
    FENCE_PROXY();
    BULK_STORE(out, tile, 256);
    BULK_COMMIT();
    BULK_WAIT_READ(0);
    MB_ARRIVE_EXPECT(&full, 256);
    BULK_LOAD(tile, in + 64, 256, &full);
  }
  MB_WAIT(&full, 0);
  out[64 + t] = tile[t];
}
