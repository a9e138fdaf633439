// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["write"], "args": ["out", "scratch"], "block": 32, "scratch": 256, "expected": "np.array([0])"}
extern "C" __global__ void k(unsigned *out, unsigned *scratch) {
  if (threadIdx.x == 0) {
    while (atomicCAS(scratch, 0, 1) != 0) {} // @1
    __threadfence();
    out[0] = 0;
    __threadfence();
#ifdef FAULT
    if (blockIdx.x == 7)
#endif
    atomicExch(scratch, 0);
  }
}
