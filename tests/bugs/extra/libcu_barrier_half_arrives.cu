// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["init the barrier|64"], "args": ["in", "out"], "block": 96, "expected": "inp[:256]*2"}
#include <cuda/barrier>
#include <cooperative_groups.h>
using barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void k(const unsigned *in, unsigned *out) {
  __shared__ alignas(8) unsigned char store[4 * sizeof(barrier)];
  barrier *bar = reinterpret_cast<barrier *>(store); // bar[0], bar[1]: buffer ready; bar[2], bar[3]: buffer filled
  __shared__ unsigned buffer[2][32];
  auto block = cooperative_groups::this_thread_block();
  if (block.thread_rank() < 4) init(bar + block.thread_rank(), block.size());
  block.sync();
  if (block.thread_rank() < 32) {
    for (int i = 0; i < 8; ++i) {
      bar[i % 2].arrive_and_wait(); // @1
      buffer[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];
      auto token = bar[2 + i % 2].arrive();
      (void)token;
    }
  } else {
    auto t0 = bar[0].arrive(); auto t1 = bar[1].arrive();
    (void)t0; (void)t1;
    for (int i = 0; i < 8; ++i) {
      bar[2 + i % 2].arrive_and_wait(); // @1
      unsigned v = buffer[i % 2][threadIdx.x % 32];
      if (threadIdx.x < 64) out[i * 32 + threadIdx.x % 32] = v * 2;
#ifdef FAULT
      if (threadIdx.x < 64)
#endif
      { auto token = bar[i % 2].arrive(); (void)token; }
    }
  }
}
