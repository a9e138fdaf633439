// {"grid": 4, "cluster": 1, "verdict": "error", "kind": "race|scope", "mend": [], "args": ["out", "scratch"], "scratch": 256, "out": 256, "block": 64, "expected": "np.array([7])"}
// A lock of the usual textbook kind around a plain counter.
struct Lock {
  int *word;
  __device__ void lock() {
    unsigned ns = 8;
    while (atomicCAS(word, 0, 1)) { __nanosleep(ns); if (ns < 256) ns *= 2; }
#ifndef FAULT
    __threadfence();
#endif
  }
  __device__ void unlock() {
#ifndef FAULT
    __threadfence();
#endif
    atomicExch(word, 0);
  }
};
extern "C" __global__ void k(unsigned *out, unsigned *scratch) {
  Lock lock{reinterpret_cast<int *>(scratch)};
  if (threadIdx.x % 32 == 0) {
    lock.lock();
    scratch[8] = scratch[8] + 1; // @1
    if (scratch[8] == 7) out[0] = 7;
    lock.unlock();
  }
}
