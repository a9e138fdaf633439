// The physical limits behind an in-cluster split-K combine on Hopper, in plain CUDA C++.
//   nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a floor_cluster.cu -o floor_cluster && ./floor_cluster
// Sections (each prints one compact block; all well under a minute together):
//   A  clusters that fit at once, by cluster size x shared memory, and the GPC sizes seen through %smid
//   B  cost of one kernel node in a CUDA graph, by cluster size; two dependent nodes with and without PDL
//   C  cluster barrier round trip; remote (DSMEM), local and L2 load latency
//   D  DSMEM read bandwidth over the whole chip, by cluster size
//   E  one split-K combine of f32 partials [P][rows][128] -> bf16, six ways, from partials that each CTA has in
//      registers/shared memory (as after the KV loop), checked against the host in double:
//        base      stage to shared memory, write own band, no combine           (subtract this)
//        dsmem_rs  reduce-scatter: rank r combines its column band from all peers' shared memory
//        dsmem_r0  rank 0 combines everything
//        dsmem_push reduce-scatter by st.async from registers into the owner's slots, completing on its mbarrier:
//                  one cluster barrier at the start (which a real kernel hides under its KV loop), none at the end
//        lastcta   partials to global, counter, the last CTA combines from L2
//        twokernel partials to global, second kernel combines; also with programmatic dependent launch
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <vector>
namespace cg = cooperative_groups;
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("CUDA error %s at line %d: %s\n", cudaGetErrorString(e_), __LINE__, #x); exit(1); } } while (0)

static cudaStream_t S;
static int SMS;

template <class F> static float graph_us(F f, int n, int reps = 9) {
  cudaGraph_t g; cudaGraphExec_t x;
  f(); CK(cudaStreamSynchronize(S));
  CK(cudaStreamBeginCapture(S, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < n; i++) f();
  CK(cudaStreamEndCapture(S, &g));
  CK(cudaGraphInstantiate(&x, g, 0));
  cudaEvent_t a, b; CK(cudaEventCreate(&a)); CK(cudaEventCreate(&b));
  std::vector<float> t;
  for (int i = 0; i < reps + 2; i++) {
    CK(cudaEventRecord(a, S)); CK(cudaGraphLaunch(x, S)); CK(cudaEventRecord(b, S)); CK(cudaEventSynchronize(b));
    float ms; CK(cudaEventElapsedTime(&ms, a, b)); if (i >= 2) t.push_back(ms * 1e3f);
  }
  std::sort(t.begin(), t.end());
  CK(cudaGraphExecDestroy(x)); CK(cudaGraphDestroy(g)); CK(cudaEventDestroy(a)); CK(cudaEventDestroy(b));
  return t[t.size() / 2] / n;
}

struct Launch {
  cudaLaunchConfig_t c{}; cudaLaunchAttribute at[2]; int na = 0;
  Launch(int grid, int block, size_t smem, int cluster, bool pdl = false) {
    c.gridDim = dim3(grid); c.blockDim = dim3(block); c.dynamicSmemBytes = smem; c.stream = S;
    if (cluster > 0) { at[na].id = cudaLaunchAttributeClusterDimension; at[na].val.clusterDim.x = cluster; at[na].val.clusterDim.y = 1; at[na].val.clusterDim.z = 1; na++; }
    if (pdl) { at[na].id = cudaLaunchAttributeProgrammaticStreamSerialization; at[na].val.programmaticStreamSerializationAllowed = 1; na++; }
    c.attrs = at; c.numAttrs = na;
  }
};
template <class K> static void allow(K k, size_t smem) {
  CK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)smem));
  CK(cudaFuncSetAttribute(k, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

// ---------------------------------------------------------------- A
__global__ void k_smid(int* out, int spin) {
  extern __shared__ char sm[];
  unsigned id; asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  long long t = clock64(); while (clock64() - t < spin) {}
  if (threadIdx.x == 0) out[blockIdx.x] = (int)id;
  if (spin < 0) sm[threadIdx.x] = 1;
}
static int uf[512]; static int fnd(int a) { while (uf[a] != a) a = uf[a] = uf[uf[a]]; return a; }

static void sectionA() {
  printf("== A clusters resident at once (CTAs = clusters x size), 256 threads\n   smem/CTA ");
  int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16};
  for (int s : sizes) printf("%8d", s);
  printf("\n");
  for (int kb : {0, 48, 72, 100, 112, 160, 200, 227}) {
    printf("   %4d KB  ", kb);
    allow(k_smid, 227 * 1024);
    for (int s : sizes) {
      Launch L(s * 64, 256, kb * 1024, s);
      int n = -1; cudaError_t e = cudaOccupancyMaxActiveClusters(&n, k_smid, &L.c);
      if (e != cudaSuccess) { cudaGetLastError(); printf("%8s", "-"); } else printf("%4d/%-3d", n, n * s);
    }
    printf("\n");
  }
  // GPC sizes: SMs that ever share a cluster are in one GPC
  for (int i = 0; i < 512; i++) uf[i] = i;
  int* d; CK(cudaMalloc(&d, 4096 * 4)); std::vector<int> h(4096); std::set<int> seen;
  for (int cs : {2, 3, 4, 5, 8, 16}) for (int it = 0; it < 20; it++) {
    int grid = (2 * 132 / cs) * cs; Launch L(grid, 64, 200 * 1024, cs);
    if (cudaLaunchKernelEx(&L.c, k_smid, d, 20000) != cudaSuccess) { cudaGetLastError(); break; }
    CK(cudaStreamSynchronize(S)); CK(cudaMemcpy(h.data(), d, grid * 4, cudaMemcpyDeviceToHost));
    for (int b = 0; b < grid; b++) { seen.insert(h[b]); int r = fnd(h[b]), q = fnd(h[b / cs * cs]); uf[r] = q; }
  }
  std::map<int, int> cnt; for (int s : seen) cnt[fnd(s)]++;
  printf("   SMs seen %zu; groups that share clusters (GPCs): ", seen.size());
  for (auto& p : cnt) printf("%d ", p.second);
  printf("\n");
  CK(cudaFree(d));
}

// ---------------------------------------------------------------- B
__global__ void k_empty(int* p) { if (p && threadIdx.x > 2000) *p = 1; }
__global__ void k_cl_sync(int* p) { cg::this_cluster().sync(); if (p && threadIdx.x > 2000) *p = 1; }
__global__ void k_pdl_a(int* p) { asm volatile("griddepcontrol.launch_dependents;"); if (p && threadIdx.x > 2000) *p = 1; }
__global__ void k_pdl_b(int* p) { asm volatile("griddepcontrol.wait;" ::: "memory"); if (p && threadIdx.x > 2000) *p = 1; }

static void sectionB() {
  printf("== B us per graph node (200 nodes), 128 threads\n");
  allow(k_empty, 200 * 1024); allow(k_cl_sync, 200 * 1024);
  for (int kb : {0, 100, 200}) {
    printf("   empty kernel, ~132 CTAs, %3d KB smem:  no cluster attr %.2f", kb, graph_us([&] { Launch L(132, 128, kb * 1024, 0); CK(cudaLaunchKernelEx(&L.c, k_empty, (int*)nullptr)); }, 200));
    for (int cs : {1, 2, 4, 8, 16}) { int grid = 128 / cs * cs; printf("  c%d %.2f", cs, graph_us([&] { Launch L(grid, 128, kb * 1024, cs); CK(cudaLaunchKernelEx(&L.c, k_empty, (int*)nullptr)); }, 200)); }
    printf("\n");
  }
  printf("   one cluster sync, 128 CTAs:  ");
  for (int cs : {1, 2, 4, 8, 16}) { int grid = 128 / cs * cs; printf("  c%d %.2f", cs, graph_us([&] { Launch L(grid, 128, 0, cs); CK(cudaLaunchKernelEx(&L.c, k_cl_sync, (int*)nullptr)); }, 200)); }
  printf("\n   pair of dependent empty kernels: plain %.2f  PDL %.2f us per pair\n",
         graph_us([&] { Launch L(132, 128, 0, 0); CK(cudaLaunchKernelEx(&L.c, k_empty, (int*)nullptr)); CK(cudaLaunchKernelEx(&L.c, k_empty, (int*)nullptr)); }, 100),
         graph_us([&] { Launch L(132, 128, 0, 0), M(132, 128, 0, 0, true); CK(cudaLaunchKernelEx(&L.c, k_pdl_a, (int*)nullptr)); CK(cudaLaunchKernelEx(&M.c, k_pdl_b, (int*)nullptr)); }, 100));
}

// ---------------------------------------------------------------- C
__device__ __forceinline__ unsigned map_shared(unsigned a, unsigned rank) { unsigned r; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
__device__ __forceinline__ unsigned ld_cl(unsigned a) { unsigned v; asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory"); return v; }
__device__ __forceinline__ float4 ld_cl4(unsigned a) { float4 v; asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(a) : "memory"); return v; }
__device__ __forceinline__ void cl_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cl_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

__global__ void k_lat(long long* out, unsigned* gl, int n) {
  __shared__ unsigned buf[256];
  cg::cluster_group cl = cg::this_cluster();
  unsigned rank = cl.block_rank(), np = cl.num_blocks(), peer = (rank + 1) % np;
  unsigned base = (unsigned)__cvta_generic_to_shared(buf), rb = map_shared(base, peer);
  // each buffer holds addresses (in the cluster window) inside itself, so a peer's chase stays in this CTA's memory
  for (int i = threadIdx.x; i < 256; i += blockDim.x) buf[i] = map_shared(base, rank) + ((i * 4 + 68) & 1020);
  cl.sync();
  if (threadIdx.x == 0) {
    unsigned a = rb; long long t = clock64();
    for (int i = 0; i < n; i++) a = ld_cl(a);
    long long dt = clock64() - t;
    unsigned b = base; asm volatile("" :: "r"(a)); long long t2 = clock64();
    for (int i = 0; i < n; i++) { unsigned v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(base + (b & 1020)) : "memory"); b = v; }
    long long dl = clock64() - t2;
    unsigned j = 0; long long t3 = clock64();
    for (int i = 0; i < n; i++) { unsigned v; asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(gl + j) : "memory"); j = v; }
    long long dg = clock64() - t3;
    if (blockIdx.x == 0) { out[0] = dt; out[1] = dl; out[2] = dg; out[4] = a + b + j; }
  }
  __syncthreads();
  cl.sync();
  long long t4 = clock64();
  for (int i = 0; i < n; i++) { cl_arrive(); cl_wait(); }
  long long db = clock64() - t4;
  if (blockIdx.x == 0 && threadIdx.x == 0) out[3] = db;
}
static void sectionC() {
  long long *d, h[5]; CK(cudaMalloc(&d, 40)); unsigned* g; int n = 512;
  std::vector<unsigned> hg(1 << 16); for (size_t i = 0; i < hg.size(); i++) hg[i] = (unsigned)((i + 4129) & 0xffff);
  CK(cudaMalloc(&g, hg.size() * 4)); CK(cudaMemcpy(g, hg.data(), hg.size() * 4, cudaMemcpyHostToDevice));
  int khz; CK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  printf("== C latency in cycles (max SM clock %d MHz): cluster size, DSMEM load, local smem load, L2 load, cluster barrier arrive+wait\n", khz / 1000);
  allow(k_lat, 0);
  for (int cs : {2, 4, 8, 16}) for (int nt : {128, 384}) {
    for (int i = 0; i < 3; i++) { Launch L(128 / cs * cs, nt, 0, cs); CK(cudaLaunchKernelEx(&L.c, k_lat, d, g, n)); CK(cudaStreamSynchronize(S)); }
    CK(cudaMemcpy(h, d, 40, cudaMemcpyDeviceToHost));
    printf("   c%-2d %3d threads: dsmem %5.0f  smem %5.0f  l2 %5.0f  barrier %5.0f\n", cs, nt, (double)h[0] / n, (double)h[1] / n, (double)h[2] / n, (double)h[3] / n);
  }
  CK(cudaFree(d)); CK(cudaFree(g));
}

// ---------------------------------------------------------------- D
__global__ void k_bw(float* out, int iters, int bytes, int allpeers) {
  extern __shared__ float4 sm4[];
  cg::cluster_group cl = cg::this_cluster();
  unsigned rank = cl.block_rank(), np = cl.num_blocks();
  for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) sm4[i] = make_float4(i, rank, 1, 2);
  cl.sync();
  unsigned base = (unsigned)__cvta_generic_to_shared(sm4);
  float4 acc = make_float4(0, 0, 0, 0);
  for (int it = 0; it < iters; it++) {
    unsigned peer = np == 1 ? 0 : (allpeers ? (rank + 1 + it % (np - 1)) % np : (rank + 1) % np);
    unsigned rb = map_shared(base, peer);
#pragma unroll 8
    for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) { float4 v = ld_cl4(rb + i * 16); acc.x += v.x; acc.y += v.y; acc.z += v.z; acc.w += v.w; }
  }
  cl.sync();
  if (acc.x == 12345.678f) out[0] = acc.y + acc.z + acc.w;
}
static void sectionD() {
  printf("== D DSMEM read bandwidth, whole chip, ld.shared::cluster.v4 (TB/s; per SM B/clk is TB/s / CTAs / clock)\n");
  float* o; CK(cudaMalloc(&o, 4)); allow(k_bw, 64 * 1024);
  for (int nt : {128, 256, 512, 1024}) {
    printf("   %4d threads, 1 CTA/SM: ", nt);
    for (int cs : {1, 2, 4, 8, 16}) for (int ap : {0, 1}) {
      if (cs <= 2 && ap) continue;
      int bytes = 64 * 1024, iters = 64; Launch q(cs * 64, nt, 200 * 1024, cs); allow(k_bw, 200 * 1024); int nc = 0;
      CK(cudaOccupancyMaxActiveClusters(&nc, k_bw, &q.c)); int grid = nc * cs;
      float us1 = graph_us([&] { Launch L(grid, nt, 200 * 1024, cs); CK(cudaLaunchKernelEx(&L.c, k_bw, o, iters, bytes, ap)); }, 3, 5);
      float us0 = graph_us([&] { Launch L(grid, nt, 200 * 1024, cs); CK(cudaLaunchKernelEx(&L.c, k_bw, o, 0, bytes, ap)); }, 3, 5);
      printf(" c%d%s %.2f(%d)", cs, ap ? "all" : "", (double)grid * bytes * iters / ((us1 - us0) * 1e-6) / 1e12, grid);
    }
    printf("\n");
  }
  CK(cudaFree(o));
}

// ---------------------------------------------------------------- E
constexpr int DH = 128, NT = 128;
__host__ __device__ inline float hsh(unsigned x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16; return (x >> 8) * (2.0f / 16777216.0f) - 1.0f; }
__host__ __device__ inline float gen_o(int cid, int p, int r, int d) { return hsh(((cid * 131 + p) * 257 + r) * 128 + d + 17); }
__host__ __device__ inline float gen_l(int cid, int p, int r) { return 3.0f * hsh(((cid * 131 + p) * 257 + r) + 0x51ed27u); }

// fill this CTA's partial [ROWS][128] (columns vectorised over threads, so stores are conflict-free)
template <int ROWS> __device__ __forceinline__ void fill(float* so, float* sl, int cid, int p) {
#pragma unroll
  for (int i = threadIdx.x; i < ROWS * DH / 4; i += NT) {
    int r = i / (DH / 4), d = (i % (DH / 4)) * 4;
    reinterpret_cast<float4*>(so)[i] = make_float4(gen_o(cid, p, r, d), gen_o(cid, p, r, d + 1), gen_o(cid, p, r, d + 2), gen_o(cid, p, r, d + 3));
  }
  for (int r = threadIdx.x; r < ROWS; r += NT) sl[r] = gen_l(cid, p, r);
}
__device__ __forceinline__ void st_bf16x4(__nv_bfloat16* p, float4 v) {
  __nv_bfloat162 a = __floats2bfloat162_rn(v.x, v.y), b = __floats2bfloat162_rn(v.z, v.w);
  uint2 u; u.x = *reinterpret_cast<unsigned*>(&a); u.y = *reinterpret_cast<unsigned*>(&b); *reinterpret_cast<uint2*>(p) = u;
}

template <int ROWS> __global__ void __launch_bounds__(NT) e_base(__nv_bfloat16* out, int P) {
  extern __shared__ float so[]; float* sl = so + ROWS * DH;
  int cid = blockIdx.x / P, p = blockIdx.x % P;
  fill<ROWS>(so, sl, cid, p); __syncthreads();
  int band = DH / P;  // own columns, same bytes written as a combine
  for (int i = threadIdx.x; i < ROWS * band / 4; i += NT) {
    int r = i / (band / 4), d = p * band + (i % (band / 4)) * 4;
    float4 v = *reinterpret_cast<float4*>(so + r * DH + d); float w = sl[r]; v.x *= w; v.y *= w; v.z *= w; v.w *= w;
    st_bf16x4(out + ((size_t)cid * ROWS + r) * DH + d, v);
  }
}

template <int ROWS, int P, bool R0> __global__ void __launch_bounds__(NT) e_dsmem(__nv_bfloat16* out) {
  extern __shared__ float so[]; float* sl = so + ROWS * DH;
  int cid = blockIdx.x / P, p = blockIdx.x % P;
  fill<ROWS>(so, sl, cid, p);
  __syncwarp();
  cl_arrive(); cl_wait();
  if (!R0 || p == 0) {
    unsigned ob = (unsigned)__cvta_generic_to_shared(so), lb = (unsigned)__cvta_generic_to_shared(sl);
    constexpr int band = R0 ? DH : DH / P; int d0 = R0 ? 0 : p * band;
    for (int i = threadIdx.x; i < ROWS * band / 4; i += NT) {
      int r = i / (band / 4), d = d0 + (i % (band / 4)) * 4;
      float l[P]; float4 v[P];
#pragma unroll
      for (int q = 0; q < P; q++) { unsigned rk = (p + q) % P; l[q] = __uint_as_float(ld_cl(map_shared(lb, rk) + r * 4)); v[q] = ld_cl4(map_shared(ob, rk) + (r * DH + d) * 4); }
      float m = l[0];
#pragma unroll
      for (int q = 1; q < P; q++) m = fmaxf(m, l[q]);
      float den = 0; float4 a = make_float4(0, 0, 0, 0);
#pragma unroll
      for (int q = 0; q < P; q++) { float w = exp2f(l[q] - m); den += w; a.x += w * v[q].x; a.y += w * v[q].y; a.z += w * v[q].z; a.w += w * v[q].w; }
      float inv = 1.0f / den; a.x *= inv; a.y *= inv; a.z *= inv; a.w *= inv;
      st_bf16x4(out + ((size_t)cid * ROWS + r) * DH + d, a);
    }
  }
  __syncwarp();
  cl_arrive(); cl_wait();   // peers' shared memory stays alive until all have read it
}

// ---- push: every CTA sends each column band of its partial to the band's owner with st.async; owners wait on an mbarrier
__device__ __forceinline__ void st_async4(unsigned a, float4 v, unsigned bar) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1,%2,%3,%4}, [%5];" :: "r"(a), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(bar) : "memory");
}
__device__ __forceinline__ void st_async1(unsigned a, float v, unsigned bar) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" :: "r"(a), "f"(v), "r"(bar) : "memory");
}
template <int ROWS, int P> __global__ void __launch_bounds__(NT) e_push(__nv_bfloat16* out) {
  extern __shared__ __align__(16) float rx[];                 // [P][ROWS][band] then lse [P][ROWS], then the mbarrier
  constexpr int band = DH / P, NV = (ROWS * DH / 4 + NT - 1) / NT;
  float* rl = rx + ROWS * DH;
  __shared__ __align__(8) unsigned long long bar;
  int cid = blockIdx.x / P, p = blockIdx.x % P;
  unsigned bb = (unsigned)__cvta_generic_to_shared(&bar), ob = (unsigned)__cvta_generic_to_shared(rx), lb = (unsigned)__cvta_generic_to_shared(rl);
  if (threadIdx.x == 0) {
    constexpr unsigned bytes = P * (ROWS * band * 4 + ROWS * 4);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bb) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(bb), "r"(bytes) : "memory");
  }
  __syncthreads();
  cl_arrive();
  float4 v[NV];
#pragma unroll
  for (int k = 0; k < NV; k++) {
    int i = threadIdx.x + k * NT, r = i / (DH / 4), d = (i % (DH / 4)) * 4;
    v[k] = make_float4(gen_o(cid, p, r, d), gen_o(cid, p, r, d + 1), gen_o(cid, p, r, d + 2), gen_o(cid, p, r, d + 3));
  }
  cl_wait();
#pragma unroll
  for (int k = 0; k < NV; k++) {
    int i = threadIdx.x + k * NT, r = i / (DH / 4), d = (i % (DH / 4)) * 4; unsigned q = d / band;
    if (i < ROWS * DH / 4) st_async4(map_shared(ob, q) + ((p * ROWS + r) * band + d % band) * 4, v[k], map_shared(bb, q));
  }
  for (int i = threadIdx.x; i < ROWS * P; i += NT) { int r = i % ROWS; unsigned q = i / ROWS; st_async1(map_shared(lb, q) + (p * ROWS + r) * 4, gen_l(cid, p, r), map_shared(bb, q)); }
  unsigned done = 0;
  while (!done) asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 q, [%1], 0; selp.u32 %0, 1, 0, q; }" : "=r"(done) : "r"(bb) : "memory");
  for (int i = threadIdx.x; i < ROWS * band / 4; i += NT) {
    int r = i / (band / 4), dd = (i % (band / 4)) * 4;
    float l[P], m = -INFINITY;
#pragma unroll
    for (int q = 0; q < P; q++) { l[q] = rl[q * ROWS + r]; m = fmaxf(m, l[q]); }
    float den = 0; float4 a = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int q = 0; q < P; q++) { float w = exp2f(l[q] - m); den += w; float4 x = *reinterpret_cast<float4*>(rx + (q * ROWS + r) * band + dd); a.x += w * x.x; a.y += w * x.y; a.z += w * x.z; a.w += w * x.w; }
    float inv = 1.0f / den; a.x *= inv; a.y *= inv; a.z *= inv; a.w *= inv;
    st_bf16x4(out + ((size_t)cid * ROWS + r) * DH + p * band + dd, a);
  }
}

template <int ROWS> __device__ __forceinline__ void combine_rows(const float* go, const float* gl, __nv_bfloat16* out, int cid, int P, int i0, int di) {
  for (int i = i0; i < ROWS * DH / 4; i += di) {
    int r = i / (DH / 4), d = (i % (DH / 4)) * 4;
    float m = -INFINITY;
    for (int q = 0; q < P; q++) m = fmaxf(m, __ldcg(gl + ((size_t)cid * P + q) * ROWS + r));
    float den = 0; float4 a = make_float4(0, 0, 0, 0);
#pragma unroll 8
    for (int q = 0; q < P; q++) {
      float w = exp2f(__ldcg(gl + ((size_t)cid * P + q) * ROWS + r) - m); den += w;
      float4 v = __ldcg(reinterpret_cast<const float4*>(go + (((size_t)cid * P + q) * ROWS + r) * DH + d));
      a.x += w * v.x; a.y += w * v.y; a.z += w * v.z; a.w += w * v.w;
    }
    float inv = 1.0f / den; a.x *= inv; a.y *= inv; a.z *= inv; a.w *= inv;
    st_bf16x4(out + ((size_t)cid * ROWS + r) * DH + d, a);
  }
}
// MODE 0: partials only; 1: last CTA combines; 2: partials only, and lets the dependent kernel start early (PDL)
template <int ROWS, int MODE> __global__ void __launch_bounds__(NT) e_gmem(float* go, float* gl, int* cnt, __nv_bfloat16* out, int P) {
  extern __shared__ float so[]; float* sl = so + ROWS * DH; __shared__ int last;
  int cid = blockIdx.x / P, p = blockIdx.x % P;
  if (MODE == 2) asm volatile("griddepcontrol.launch_dependents;");
  fill<ROWS>(so, sl, cid, p); __syncthreads();
  float* o = go + ((size_t)cid * P + p) * ROWS * DH;
  for (int i = threadIdx.x; i < ROWS * DH / 4; i += NT) reinterpret_cast<float4*>(o)[i] = reinterpret_cast<float4*>(so)[i];
  for (int r = threadIdx.x; r < ROWS; r += NT) gl[((size_t)cid * P + p) * ROWS + r] = sl[r];
  if (MODE == 1) {
    __threadfence(); __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(cnt + cid, 1) == P - 1;
    __syncthreads();
    if (last) { __threadfence(); combine_rows<ROWS>(go, gl, out, cid, P, threadIdx.x, NT); if (threadIdx.x == 0) cnt[cid] = 0; }
  }
}
template <int ROWS, bool PDL> __global__ void __launch_bounds__(128) e_second(const float* go, const float* gl, __nv_bfloat16* out, int P, int per) {
  if (PDL) asm volatile("griddepcontrol.wait;" ::: "memory");
  int cid = blockIdx.x / per, part = blockIdx.x % per;
  combine_rows<ROWS>(go, gl, out, cid, P, part * 128 + threadIdx.x, per * 128);
}

static double check(const std::vector<__nv_bfloat16>& h, int ncl, int P, int ROWS) {
  double n = 0, e = 0;
  for (int c = 0; c < ncl; c += std::max(1, ncl / 5)) for (int r = 0; r < ROWS; r += std::max(1, ROWS / 7)) {
    double m = -1e30, den = 0; for (int p = 0; p < P; p++) m = std::max(m, (double)gen_l(c, p, r));
    for (int p = 0; p < P; p++) den += std::exp2(gen_l(c, p, r) - m);
    for (int d = 0; d < DH; d++) {
      double s = 0; for (int p = 0; p < P; p++) s += std::exp2(gen_l(c, p, r) - m) / den * gen_o(c, p, r, d);
      double x = __bfloat162float(h[((size_t)c * ROWS + r) * DH + d]); n += s * s; e += (x - s) * (x - s);
    }
  }
  return std::sqrt(e / n);
}

template <int ROWS, int P> static void caseE(int ncl) {
  size_t smem = (ROWS * DH + ROWS) * 4, on = (size_t)ncl * ROWS * DH;
  __nv_bfloat16* out; float *go, *gl; int* cnt;
  CK(cudaMalloc(&out, on * 2)); CK(cudaMalloc(&go, on * P * 4)); CK(cudaMalloc(&gl, (size_t)ncl * P * ROWS * 4)); CK(cudaMalloc(&cnt, ncl * 4)); CK(cudaMemset(cnt, 0, ncl * 4));
  std::vector<__nv_bfloat16> h(on);
  allow(e_base<ROWS>, smem); allow(e_dsmem<ROWS, P, false>, smem); allow(e_dsmem<ROWS, P, true>, smem); allow(e_push<ROWS, P>, smem + P * ROWS * 4);
  allow(e_gmem<ROWS, 0>, smem); allow(e_gmem<ROWS, 1>, smem); allow(e_gmem<ROWS, 2>, smem);
  int grid = ncl * P, N = 60;
  auto err = [&](const char* nm, float us) { CK(cudaMemcpy(h.data(), out, on * 2, cudaMemcpyDeviceToHost)); double e = check(h, ncl, P, ROWS); printf("  %s %.2f%s", nm, us, e < 6e-3 ? "" : " WRONG"); CK(cudaMemset(out, 0xff, on * 2)); };
  printf("   P%-2d rows %-3d x %3d outputs-groups (%4d CTAs, %5.0f KB partials):", P, ROWS, ncl, grid, on * P * 4 / 1024.0);
  float b = graph_us([&] { Launch L(grid, NT, smem, 0); CK(cudaLaunchKernelEx(&L.c, e_base<ROWS>, out, P)); }, N);
  printf("  base %.2f", b); CK(cudaMemset(out, 0xff, on * 2));
  err("dsmem_rs", graph_us([&] { Launch L(grid, NT, smem, P); CK(cudaLaunchKernelEx(&L.c, e_dsmem<ROWS, P, false>, out)); }, N));
  err("dsmem_push", graph_us([&] { Launch L(grid, NT, smem + P * ROWS * 4, P); CK(cudaLaunchKernelEx(&L.c, e_push<ROWS, P>, out)); }, N));
  err("dsmem_r0", graph_us([&] { Launch L(grid, NT, smem, P); CK(cudaLaunchKernelEx(&L.c, e_dsmem<ROWS, P, true>, out)); }, N));
  err("lastcta", graph_us([&] { Launch L(grid, NT, smem, 0); CK(cudaLaunchKernelEx(&L.c, e_gmem<ROWS, 1>, go, gl, cnt, out, P)); }, N));
  int per = std::max(1, std::min(ROWS * DH / 4 / 128, 264 / ncl + 1));
  err("twokernel", graph_us([&] { Launch L(grid, NT, smem, 0), M(ncl * per, 128, 0, 0); CK(cudaLaunchKernelEx(&L.c, e_gmem<ROWS, 0>, go, gl, cnt, out, P)); CK(cudaLaunchKernelEx(&M.c, e_second<ROWS, false>, (const float*)go, (const float*)gl, out, P, per)); }, N));
  err("twokernel_pdl", graph_us([&] { Launch L(grid, NT, smem, 0), M(ncl * per, 128, 0, 0, true); CK(cudaLaunchKernelEx(&L.c, e_gmem<ROWS, 2>, go, gl, cnt, out, P)); CK(cudaLaunchKernelEx(&M.c, e_second<ROWS, true>, (const float*)go, (const float*)gl, out, P, per)); }, N));
  printf("\n");
  CK(cudaFree(out)); CK(cudaFree(go)); CK(cudaFree(gl)); CK(cudaFree(cnt));
}

static void sectionE() {
  printf("== E us per combine from on-chip partials, d=128, %d threads (subtract base for the cost of combining)\n", NT);
  // rows = q heads per kv head (4, 8) or a whole query tile (16, 64); groups = batch x kv heads
  caseE<4, 2>(64); caseE<4, 4>(32); caseE<4, 8>(8); caseE<4, 8>(16); caseE<4, 16>(8);
  caseE<8, 2>(64); caseE<8, 4>(32); caseE<8, 8>(8); caseE<8, 8>(16); caseE<8, 16>(8);
  caseE<16, 4>(32); caseE<16, 8>(16); caseE<16, 16>(8);
  caseE<16, 2>(64);
  caseE<64, 2>(64); caseE<64, 4>(32); caseE<64, 8>(16); caseE<64, 16>(8);
  caseE<128, 2>(64); caseE<128, 4>(32); caseE<128, 8>(16); caseE<128, 16>(8);
  // more groups than fit at once: several waves
  caseE<8, 4>(256); caseE<64, 4>(256); caseE<64, 8>(128);
}

int main(int argc, char** argv) {
  cudaDeviceProp p; CK(cudaGetDeviceProperties(&p, 0)); SMS = p.multiProcessorCount; CK(cudaStreamCreate(&S));
  printf("# %s  %d SMs  cc %d.%d  L2 %d MB\n", p.name, SMS, p.major, p.minor, (int)(p.l2CacheSize >> 20));
  const char* w = argc > 1 ? argv[1] : "ABCDE";
  if (strchr(w, 'A')) sectionA();
  if (strchr(w, 'B')) sectionB();
  if (strchr(w, 'C')) sectionC();
  if (strchr(w, 'D')) sectionD();
  if (strchr(w, 'E')) sectionE();
  CK(cudaDeviceSynchronize()); printf("# done\n");
}
