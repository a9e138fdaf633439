// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "scope|race", "mend": ["gpu|cluster"], "args": ["scratch"], "block": 32, "scratch": 256}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(32) k(u32 *counter) {
#ifdef FAULT
  asm volatile("red.relaxed.cta.global.add.u32 [%0], 1;" ::"l"(counter) : "memory"); // @1
#else
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
#endif
}
