// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["cp.async.wait_group"], "args": ["in", "out"], "block": 64, "expected": "inp[:64][::-1]+inp[64:128][::-1]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 s[2][64];
  u32 t = threadIdx.x;
  CP_ASYNC4(&s[0][t], in + t);
  CP_COMMIT();
  CP_ASYNC4(&s[1][t], in + 64 + t); // @1
  CP_COMMIT();
#ifdef FAULT
  CP_WAIT(1);
#else
  CP_WAIT(0);
#endif
  __syncthreads();
  out[t] = s[0][63 - t] + s[1][63 - t]; // @2
}
