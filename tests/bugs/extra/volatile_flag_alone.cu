// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["fence|release|acquire"], "args": ["in", "out"], "block": 64, "expected": "inp[7:8]"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ u32 data;
  __shared__ volatile u32 flag;
  u32 t = threadIdx.x;
  if (t == 0) flag = 0;
  __syncthreads();
  if (t == 0) {
    data = in[7]; // @1
#ifndef FAULT
    __threadfence_block();
#else
    asm volatile("" ::: "memory");
#endif
    flag = 1;
  }
  if (t == 32) {
    while (flag == 0) {}
#ifndef FAULT
    __threadfence_block();
#else
    asm volatile("" ::: "memory");
#endif
    out[0] = data; // @2
  }
}
