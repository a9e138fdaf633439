// {"grid": 4, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["__threadfence|release"], "args": ["in", "out", "scratch"], "block": 32, "scratch": 1024, "expected": "np.cumsum(inp[:128].reshape(4,32).sum(1)).astype(np.uint32)"}
// Decoupled look-back: each block publishes its sum, then its prefix, for the next one.
extern "C" __global__ void k(const unsigned *in, unsigned *out, unsigned *scratch) {
  volatile unsigned *status = scratch;
  unsigned b = blockIdx.x, s = __reduce_add_sync(~0u, in[b * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    unsigned before = 0;
    if (b) {
      while (status[b - 1] == 0) {}
      __threadfence();
      before = scratch[64 + b - 1]; // @2
    }
    scratch[64 + b] = before + s; // @1
#ifndef FAULT
    __threadfence();
#endif
    status[b] = 1;
    out[b] = before + s;
  }
}
