// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "args": ["in", "out"], "schedules": [["random", 4]], "block": 64, "expected": "inp[:8]+5"}
#include <cuda/semaphore>
using semaphore = cuda::counting_semaphore<cuda::thread_scope_block>;
extern "C" __global__ void k(const unsigned *in, unsigned *out) {
  __shared__ unsigned slot[2];
  __shared__ alignas(alignof(semaphore)) unsigned char room[2 * sizeof(semaphore)];
  auto *free = reinterpret_cast<semaphore *>(room), *full = free + 1;
#ifdef FAULT
  if (threadIdx.x == 0) { new (free) semaphore(3); new (full) semaphore(0); }
#else
  if (threadIdx.x == 0) { new (free) semaphore(2); new (full) semaphore(0); }
#endif
  __syncthreads();
  if (threadIdx.x == 0) for (int i = 0; i < 8; ++i) { free->acquire(); slot[i % 2] = in[i]; full->release(); } // @1
  if (threadIdx.x == 32) for (int i = 0; i < 8; ++i) { full->acquire(); out[i] = slot[i % 2] + 5; free->release(); } // @2
}
