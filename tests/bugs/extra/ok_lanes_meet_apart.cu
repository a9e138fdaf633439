// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "mend": [], "args": ["in", "out"], "block": 80, "expected": "np.concatenate([np.where(np.arange(80)%3==0, 1, 80//2*0+ (np.arange(80)%2==0).sum())])"}
#include <cooperative_groups.h>
#include <stdint.h>
// lanes of a warp reach the block's barrier at different places; some leave before
extern "C" __global__ void k(const uint32_t *in, uint32_t *out) {
  auto block = cooperative_groups::this_thread_block();
  __shared__ uint32_t x[80];
  uint32_t t = threadIdx.x, v;
  x[t] = t % 2 == 0;
  if (t % 3 == 0) {
    block.sync();
    v = x[(t + 40) % 80] + x[(t + 41) % 80];
  } else {
    asm volatile("{\n .reg .pred p;\n setp.ne.u32 p, %1, 0;\n barrier.sync 0;\n}\n mov.u32 %0, %1;" : "=r"(v) : "r"(x[t]) : "memory");
    v = 0;
    for (int i = 0; i < 80; ++i) v += x[i];
  }
  if (t % 5 == 0) { out[t] = v; return; }
  block.sync();
  out[t] = v;
}
