// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "deadlock", "mend": ["count who changes it"], "args": ["in", "out"], "block": 96, "expected": "inp[:32]+inp[32:64]"}
#include <cuda/latch>
extern "C" __global__ void k(const unsigned *in, unsigned *out) {
  __shared__ alignas(alignof(cuda::latch<cuda::thread_scope_block>)) unsigned char room[sizeof(cuda::latch<cuda::thread_scope_block>)];
  auto &ready = *reinterpret_cast<cuda::latch<cuda::thread_scope_block> *>(room);
  __shared__ unsigned part[64];
#ifdef FAULT
  if (threadIdx.x == 0) new (room) cuda::latch<cuda::thread_scope_block>(63);
#else
  if (threadIdx.x == 0) new (room) cuda::latch<cuda::thread_scope_block>(64);
#endif
  __syncthreads();
  if (threadIdx.x < 64) {
    part[threadIdx.x] = in[threadIdx.x];
    ready.count_down(); // @1
  } else {
    ready.wait(); // @2
    unsigned t = threadIdx.x - 64;
    out[t] = part[t] + part[t + 32];
  }
}
