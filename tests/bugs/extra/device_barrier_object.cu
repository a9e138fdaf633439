// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "race|scope", "mend": [], "args": ["in", "out", "scratch"], "scratch": 1024, "block": 32, "expected": "np.concatenate([inp[32:64], inp[:32]])"}
#include <cuda/atomic>
// A sense-reversing barrier of the whole grid, by one thread of each block.
struct GridBarrier {
  unsigned count, sense;
  __device__ void arrive_and_wait() {
    __syncthreads();
    if (threadIdx.x == 0) {
      cuda::atomic_ref<unsigned, cuda::thread_scope_device> c(count), s(sense);
      unsigned old = s.load(cuda::memory_order_relaxed);
#ifdef FAULT
      if (c.fetch_add(1, cuda::memory_order_acquire) == gridDim.x - 1) {
#else
      if (c.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
#endif
        c.store(0, cuda::memory_order_relaxed);
        s.store(old + 1, cuda::memory_order_release);
      } else while (s.load(cuda::memory_order_acquire) == old) {}
    }
    __syncthreads();
  }
};
extern "C" __global__ void k(const unsigned *in, unsigned *out, unsigned *scratch) {
  auto *barrier = reinterpret_cast<GridBarrier *>(scratch);
  unsigned *data = scratch + 32;
  data[blockIdx.x * 32 + threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x]; // @1
  barrier->arrive_and_wait();
  out[blockIdx.x * 32 + threadIdx.x] = data[(blockIdx.x ^ 1) * 32 + threadIdx.x]; // @2
}
