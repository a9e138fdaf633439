// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "proxy", "mend": ["shared::cta"], "args": ["out"], "block": 64, "expected": "np.arange(64)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(128) u32 tile[64];
  u32 t = threadIdx.x;
  tile[t] = t; // @1
#ifdef FAULT
  asm volatile("fence.proxy.async.global;" ::: "memory");
#else
  FENCE_PROXY();
#endif
  __syncthreads();
  if (t == 0) {
    BULK_STORE(out, tile, 256); // @2
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
