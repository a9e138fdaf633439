// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "*", "mend": ["align"], "args": ["out"], "block": 32, "expected": "np.arange(32)*4+1"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *out) {
  __shared__ alignas(16) u32 s[132];
  u32 t = threadIdx.x, a, b, c, d;
  for (int i = t; i < 132; i += 32) s[i] = i;
  __syncthreads();
#ifdef FAULT
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(S32(&s[4 * t + 1])) : "memory"); // @1
#else
  asm volatile("ld.shared.v4.u32 {%1, %0, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(S32(&s[4 * t])) : "memory");
#endif
  out[t] = a;
}
