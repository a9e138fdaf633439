// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": [], "args": ["in", "out"], "block": 64, "expected": "np.tile(inp[:64],8)+1"}
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void k(const unsigned *in, unsigned *out) {
  __shared__ alignas(16) unsigned stage[2][64 * 4];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int fetch = 0, use = 0; use < 8; ++use) {
    for (; fetch < 8 && fetch < use + 2; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[fetch % 2][threadIdx.x * 4], in + threadIdx.x * 4, cuda::aligned_size_t<16>(16), pipe); // @1
      pipe.producer_commit();
    }
#ifndef FAULT
    pipe.consumer_wait();
#endif
    out[use * 64 + threadIdx.x] = stage[use % 2][threadIdx.x] + 1; // @2
#ifdef FAULT
    pipe.consumer_wait();
#endif
    pipe.consumer_release();
  }
}
