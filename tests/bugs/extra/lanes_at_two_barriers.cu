// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["branch"], "args": ["in", "out"], "block": 64, "expected": "inp[:64].reshape(2,32)[::-1].reshape(-1)"}
#include <stdint.h>
extern "C" __global__ void k(const uint32_t *in, uint32_t *out) {
  __shared__ uint32_t x[64];
  uint32_t t = threadIdx.x;
  x[t] = in[t];
  if (t & 1) {
#ifdef FAULT
    asm volatile("barrier.sync 1, 64;" ::: "memory"); // @1
    out[t] = x[t ^ 32];
#else
    asm volatile("barrier.sync 0;" ::: "memory");
    out[t] = x[t ^ 32];
#endif
  } else {
#ifdef FAULT
    asm volatile("barrier.sync 2, 64;" ::: "memory"); // @1
#else
    asm volatile("barrier.sync 0;" ::: "memory");
#endif
    out[t] = x[t ^ 32];
  }
}
