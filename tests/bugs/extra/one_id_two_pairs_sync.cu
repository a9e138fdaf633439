// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "barrier-misuse|race", "mend": ["id"], "args": ["out"], "block": 128, "expected": "np.concatenate([np.arange(64)[::-1]+64*i for i in range(2)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(128) k(u32 *out) {
  __shared__ u32 buf[2][64];
  u32 t = threadIdx.x, pair = t / 64, lane = t & 63;
  buf[pair][lane] = t;
#ifdef FAULT
  NB_SYNC(1, 64); // @1
#else
  NB_SYNC(1 + pair, 64);
#endif
  out[t] = buf[pair][63 - lane];
}
