// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 64, "expected": "inp[:64]+1"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  u32 t = threadIdx.x;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[t] = in[t] + 1;
}
