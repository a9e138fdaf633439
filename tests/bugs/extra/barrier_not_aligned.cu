// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "*", "mend": ["align|8"], "args": ["out"], "block": 32, "expected": "np.arange(32)"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(16) u32 raw[8];
  u32 t = threadIdx.x;
#ifdef FAULT
  u64 *bar = (u64 *)(raw + 1);
#else
  u64 *bar = (u64 *)(raw + 2);
#endif
  if (t == 0) MB_INIT(bar, 32); // @1
  __syncwarp();
  MB_ARRIVE(bar);
  MB_WAIT(bar, 0);
  out[t] = t;
}
