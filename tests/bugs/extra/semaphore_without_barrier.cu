// {"grid": 4, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["__syncthreads|bar.sync|barrier"], "args": ["in", "out", "scratch"], "block": 64, "scratch": 1024, "expected": "inp[:256].reshape(4,64).sum(0)"}
#include "fn.cuh"
// a serial split-K: each block waits for its turn, adds to the workspace, passes the turn on
struct Semaphore {
  int *lock; int state = -1;
  DEV void fetch() { if (threadIdx.x == 0) asm volatile("ld.global.acquire.gpu.b32 %0, [%1];\n" : "=r"(state) : "l"(lock) : "memory"); }
  DEV void wait(int status) { while (__syncthreads_and(state != status)) fetch(); __syncthreads(); }
  DEV void release(int status) {
#ifndef FAULT
    __syncthreads();
#endif
    if (threadIdx.x == 0) asm volatile("st.global.release.gpu.b32 [%0], %1;\n" ::"l"(lock), "r"(status) : "memory");
  }
};
extern "C" __global__ void __launch_bounds__(64) k(const unsigned *in, unsigned *out, unsigned *ws) {
  int b = blockIdx.x, t = threadIdx.x;
  Semaphore sem{reinterpret_cast<int *>(ws)};
  unsigned v = in[b * 64 + t];
  sem.fetch();
  sem.wait(b);
  if (b) v += ws[64 + t]; // @2
  if (b < 3) { ws[64 + t] = v; sem.release(b + 1); } // @1
  else out[t] = v;
}
