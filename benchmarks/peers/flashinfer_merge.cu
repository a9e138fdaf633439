// FlashInfer's two merges of partial results on f32 partials, which its Python interface does not reach: a library for combine_peers.py.
//
//   nvcc -O3 -std=c++17 -shared -Xcompiler -fPIC -gencode=arch=compute_90a,code=sm_90a -I FLASHINFER/data/include flashinfer_merge.cu -o libfi_merge_f32.so
//   FI_MERGE_SO=./libfi_merge_f32.so python combine_peers.py
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <flashinfer/utils.cuh>

// One depth: the merge of variable lengths does not compile for f32 at 512.
#undef DISPATCH_HEAD_DIM
#define DISPATCH_HEAD_DIM(head_dim, HEAD_DIM, ...)  \
  {                                                 \
    if (head_dim != 128) return cudaErrorInvalidValue; \
    constexpr size_t HEAD_DIM = 128;                \
    __VA_ARGS__                                     \
  }

#include <flashinfer/attention/cascade.cuh>

// v: f32 [length, P, heads, depth]; s: f32 [length, P, heads], log2; indptr: i32 [length + 1]; merged: bf16 [length, heads, depth].
extern "C" int fi_varlen_merge_f32(float* v, float* s, int* indptr, void* merged, int length, int heads, int depth, int programmatic, cudaStream_t stream) {
  return flashinfer::VariableLengthMergeStates<float, __nv_bfloat16, int>(v, s, indptr, static_cast<__nv_bfloat16*>(merged), nullptr, length, nullptr, heads,
                                                                          depth, programmatic != 0, stream);
}

extern "C" int fi_merge_states_f32(float* v, float* s, void* merged, int partitions, int length, int heads, int depth, cudaStream_t stream) {
  return flashinfer::MergeStates<float, __nv_bfloat16>(v, s, static_cast<__nv_bfloat16*>(merged), nullptr, partitions, length, heads, depth, stream);
}
