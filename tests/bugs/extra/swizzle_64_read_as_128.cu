// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "layout", "mend": ["swizzle"], "args": ["mapA64sw", "mapB64sw", "outf"], "block": 128, "expected": "(A[:,:32]@B[:,:32].T).astype(np.float32).reshape(-1).view(np.uint32)"}
#include "fn.cuh"
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ CUtensorMap ma, const __grid_constant__ CUtensorMap mb, float *out) {
  __shared__ alignas(1024) __nv_bfloat16 a[64 * 32], b[8 * 32];
  __shared__ Mbar full;
  if (threadIdx.x == 0) { full.init(1); fence_barrier_init(); }
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_and_expect_tx(4096 + 512);
    tma_2d(a, &ma, 0, 0, full); // @1
    tma_2d(b, &mb, 0, 0, full);
  }
  full.wait(0);
#ifdef FAULT
  auto desc = [](const void *p) { return (1ull << 62) | (32ull << 32) | (1ull << 16) | ((smem_u32(p) & 0x3ffff) >> 4); };
#else
  auto desc = [](const void *p) { return (2ull << 62) | (32ull << 32) | (1ull << 16) | ((smem_u32(p) & 0x3ffff) >> 4); };
#endif
  float d[4];
  warpgroup_arrive();
  mma_64x8x16(d, desc(a), desc(b), 0); // @2
  mma_64x8x16(d, desc(a) + 2, desc(b) + 2);
  warpgroup_commit();
  warpgroup_wait<0>();
  store_acc(out, d, threadIdx.x);
}
