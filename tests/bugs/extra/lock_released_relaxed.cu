// {"grid": 4, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["release|acquire|fence|threadfence"], "args": ["out", "scratch"], "block": 32, "scratch": 256, "expected": "np.array([0])"}
#include <cuda/atomic>
// a spin lock with exponential back-off guards a plain counter
extern "C" __global__ void k(unsigned *out, unsigned *scratch) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> lock(scratch[0]);
  if (threadIdx.x == 0) {
    unsigned wait = 8, expected = 0;
    while (!lock.compare_exchange_weak(expected, 1u, cuda::memory_order_acquire, cuda::memory_order_relaxed)) {
      expected = 0;
      __nanosleep(wait);
      if (wait < 256) wait *= 2;
    }
    scratch[8] += blockIdx.x + 1; // @1
#ifdef FAULT
    lock.store(0, cuda::memory_order_relaxed);
#else
    lock.store(0, cuda::memory_order_release);
#endif
    if (blockIdx.x == 0) out[0] = 0;
  }
}
