// {"block": 64, "cluster": 1, "grid": 1, "kind": "race", "mend": ["cp.async.wait_group"], "args": ["in", "out"], "verdict": "error", "out": 4096, "inp": 4096, "smem": 0}
#include "../corpus/hop.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(16) u32 buf[64];
  u32 t = threadIdx.x;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(S32(&buf[t])), "l"(in + t) : "memory"); // @1
  asm volatile("cp.async.commit_group;" ::: "memory");
#ifndef FAULT
  asm volatile("cp.async.wait_group 0;" ::: "memory");
#endif
  __syncthreads();
  out[t] = buf[63 - t]; // @2
}
