// {"grid": 2, "cluster": 1, "verdict": "error", "kind": "proxy", "mend": ["fence.proxy.async"], "args": ["in", "out", "scratch"], "scratch": 512, "block": 32, "expected": "inp[:32]+9"}
#include "fn.cuh"
// Split work: block 0 writes a row with ordinary stores, block 1 fetches it by bulk copy after a flag.
extern "C" __global__ void __launch_bounds__(32) k(const uint32_t *in, uint32_t *out, uint32_t *scratch) {
  __shared__ alignas(128) uint32_t row[32];
  __shared__ Mbar full;
  uint32_t t = threadIdx.x;
  if (blockIdx.x == 0) {
    scratch[32 + t] = in[t] + 9; // @1
#ifndef FAULT
    asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
    __threadfence();
    __syncwarp();
    if (t == 0) atomicExch(scratch, 1);
  } else {
    if (t == 0) {
      full.init(1); fence_barrier_init();
      while (atomicAdd(scratch, 0) == 0) {}
      __threadfence();
      full.arrive_and_expect_tx(128);
      bulk_load(row, scratch + 32, 128, full); // @2
    }
    __syncwarp();
    full.wait(0);
    out[t] = row[t];
  }
}
