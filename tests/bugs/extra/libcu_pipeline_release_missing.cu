// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["init the barrier|arrive"], "args": ["in", "out"], "block": 96, "expected": "(inp[:512].reshape(8,64)[:,::-1].sum(0))"}
#include <cuda/pipeline>
#include <cooperative_groups.h>
extern "C" __global__ void k(const unsigned *in, unsigned *out) {
  __shared__ alignas(16) unsigned tile[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto block = cooperative_groups::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (role == cuda::pipeline_role::producer) {
    for (int i = 0; i < 8; ++i) {
      pipe.producer_acquire(); // @1
      cuda::memcpy_async(&tile[i % 2][threadIdx.x * 2], in + i * 64 + threadIdx.x * 2, cuda::aligned_size_t<8>(8), pipe);
      pipe.producer_commit();
    }
  } else {
    unsigned t = threadIdx.x - 32, sum = 0;
    for (int i = 0; i < 8; ++i) {
      pipe.consumer_wait(); // @1
      sum += tile[i % 2][63 - t];
#ifdef FAULT
      if (t)
#endif
      pipe.consumer_release();
    }
    out[t] = sum;
  }
}
