// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["somebody write|change"], "args": ["in", "out", "scratch"], "block": 32, "scratch": 64, "expected": "inp[:32]+1"}
// Waits a while by the clock, which is no hang; then for a flag with a time limit.
extern "C" __global__ void k(const unsigned *in, unsigned *out, volatile unsigned *scratch) {
  long long start = clock64();
  while (clock64() - start < 50000000) {}
#ifndef FAULT
  scratch[0] = 1;
#endif
  start = clock64();
  while (scratch[0] == 0)
    if (clock64() - start > 2000000000) asm volatile("trap;"); // @1
  out[threadIdx.x] = in[threadIdx.x] + 1;
}
