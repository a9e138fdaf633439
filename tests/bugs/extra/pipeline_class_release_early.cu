// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wgmma.wait_group"], "args": ["mapA", "mapB", "outf"], "block": 384, "expected": "(np.concatenate([mm, mm]).view(np.float32)*6).view(np.uint32)"}
#include "fn.cuh"
struct PipelineState {
  int index = 0; uint32_t phase = 0;
  DEV void operator++() { if (++index == 3) { index = 0; phase ^= 1; } }
};
struct PipelineTmaAsync {
  Mbar *full, *empty;
  DEV void producer_acquire(PipelineState s) { empty[s.index].wait(s.phase ^ 1); full[s.index].arrive_and_expect_tx(9216); }
  DEV void consumer_wait(PipelineState s) { if (!full[s.index].try_wait(s.phase)) full[s.index].wait(s.phase); }
  DEV void consumer_release(PipelineState s) { if (threadIdx.x % 128 == 0) empty[s.index].arrive(); }
};
struct Storage {
  alignas(1024) __nv_bfloat16 a[3][4096];
  alignas(1024) __nv_bfloat16 b[3][512];
  Mbar full[3], empty[3];
};
extern "C" __global__ void __launch_bounds__(384, 1) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ Storage sm;
  int wg = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < 3; ++s) { sm.full[s].init(1); sm.empty[s].init(2); }
    fence_barrier_init();
  }
  __syncthreads();
  PipelineTmaAsync pipe{sm.full, sm.empty};
  PipelineState state;
  if (wg == 0) {
    reg_dealloc<40>();
    if (threadIdx.x < 32 && elect_one()) {
      for (int k = 0; k < 6; ++k, ++state) {
        pipe.producer_acquire(state);
        tma_2d(sm.a[state.index], &ma, 0, 0, sm.full[state.index]); // @2
        tma_2d(sm.b[state.index], &mb, 0, 0, sm.full[state.index]); // @2
      }
      for (int k = 0; k < 3; ++k, ++state) sm.empty[state.index].wait(state.phase ^ 1);
    }
  } else {
    reg_alloc<232>();
    float d[4] = {};
    PipelineState release = state;
    for (int k = 0; k < 6; ++k, ++state) {
      pipe.consumer_wait(state);
      warpgroup_arrive();
      mma_k64(d, sm.a[state.index], sm.b[state.index]); // @1
      warpgroup_commit();
#ifdef FAULT
      warpgroup_wait<1>();
      pipe.consumer_release(state);
#else
      warpgroup_wait<1>();
      if (k) { pipe.consumer_release(release); ++release; }
#endif
    }
    warpgroup_wait<0>();
#ifndef FAULT
    pipe.consumer_release(release);
#endif
    store_acc(out + (wg - 1) * 512, d, threadIdx.x % 128);
  }
}
