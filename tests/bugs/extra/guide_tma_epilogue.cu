// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "proxy", "mend": ["fence.proxy.async"], "args": ["mapIn", "mapOut", "out"], "block": 128, "expected": "inp.reshape(32,32)[8:16].reshape(-1)+1"}
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
extern "C" __global__ void k(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out, unsigned *) {
  __shared__ alignas(128) unsigned tile[8][32];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&tile, &in, 0, 8, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < 256; i += 128) tile[i / 32][i % 32] += 1; // @1
#ifndef FAULT
  cde::fence_proxy_async_shared_cta();
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&out, 0, 0, &tile); // @2
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
  if (threadIdx.x == 0) bar.~barrier();
}
