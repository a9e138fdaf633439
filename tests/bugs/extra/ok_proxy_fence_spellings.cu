// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["out"], "block": 64, "expected": "np.concatenate([np.arange(64)+i for i in range(3)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(u32 *out) {
  __shared__ alignas(128) u32 tile[3][64];
  u32 t = threadIdx.x;
  tile[0][t] = t;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  tile[1][t] = t + 1;
  asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
  tile[2][t] = t + 2;
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    for (int i = 0; i < 3; ++i) BULK_STORE(out + 64 * i, tile[i], 256);
    BULK_COMMIT();
    BULK_WAIT(0);
  }
}
