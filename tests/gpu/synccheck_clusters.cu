// What compute-sanitizer's synccheck says of clusters of 16 that are not all resident, shown by a kernel as plain as it can be: every CTA initialises one
// mbarrier, the cluster meets (release, acquire, all threads), each CTA stores 64 words into every peer with st.async, waits for its own barrier's phase,
// invalidates it, and the cluster meets again.
//
//     nvcc -std=c++17 -arch=sm_90a synccheck_clusters.cu -o synccheck_clusters
//     compute-sanitizer --tool synccheck ./synccheck_clusters CLUSTERS
//
// On an H200, where 7 such clusters are resident, the tool (CUDA 13.0) finds nothing in 7 clusters; from 8 on the launch ends with an illegal memory access,
// from 14 on with "Missing wait" before it. Without the tool every number of clusters is right, which the program checks.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t status = (call); if (status) { printf("%s\n", cudaGetErrorString(status)); return 1; } } while (0)

constexpr int RANKS = 16, WORDS = 64;

__device__ uint32_t shared_address(const void *pointer) { return (uint32_t)__cvta_generic_to_shared(pointer); }
__device__ uint32_t on_peer(uint32_t address, uint32_t rank) {
    uint32_t mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}
__device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

__global__ void push(float *sums) {
    __shared__ alignas(16) uint64_t barrier;
    __shared__ alignas(16) float received[RANKS * WORDS];
    const uint32_t mine = shared_address(&barrier), thread = threadIdx.x;
    uint32_t rank, done = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (thread == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(mine) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mine), "r"(RANKS * WORDS * 4) : "memory");
    }
    cluster_sync();
    for (uint32_t step = 0; step < RANKS; step++) {
        const uint32_t to = (rank + step) % RANKS;
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(on_peer(shared_address(&received[rank * WORDS + thread]), to)),
                     "r"(__float_as_uint(rank + 1.f)), "r"(on_peer(mine, to))
                     : "memory");
    }
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(mine) : "memory");
    float sum = 0;
    for (int peer = 0; peer < RANKS; peer++) sum += received[peer * WORDS + thread];
    sums[blockIdx.x * WORDS + thread] = sum;
    __syncthreads();
    if (thread == 0) asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(mine) : "memory");
    cluster_sync();
}

int main(int count, char **arguments) {
    const int clusters = count > 1 ? atoi(arguments[1]) : 7, words = clusters * RANKS * WORDS;
    float *sums;
    CHECK(cudaHostAlloc(&sums, words * sizeof(float), cudaHostAllocMapped));
    CHECK(cudaFuncSetAttribute(push, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {RANKS, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = clusters * RANKS;
    config.blockDim = WORDS;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, push, sums));
    CHECK(cudaDeviceSynchronize());
    for (int word = 0; word < words; word++)
        if (sums[word] != RANKS * (RANKS + 1) / 2) {
            printf("wrong\n");
            return 1;
        }
    printf("%d clusters done and right\n", clusters);
    return 0;
}
