// What C++ asks of a simulator besides arithmetic. language.O3.ptx, .O0.ptx and .G.ptx: nvcc -ptx -arch=compute_90a with -O3 -lineinfo, with -Xcicc -O0 -lineinfo, with -G.
#include <cassert>
#include <cstdio>

__constant__ int scale[4] = {1, 5, 9, 13};
__device__ int offset = 11;
__device__ int visitors;
__managed__ int shift = 2;
extern __shared__ int dynamic[];

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int add7(int v) { return v + 7; }
__device__ __noinline__ int twice(int v) { return v * 2; }
__device__ __noinline__ int flip(int v) { return v ^ 0x55; }
__device__ int (*const table[3])(int) = {add7, twice, flip};

struct Step {
  __device__ virtual int run(int v) const = 0;
};
struct Plus : Step {
  __device__ int run(int v) const override { return v + 1; }
};
struct Minus : Step {
  __device__ int run(int v) const override { return v - 1; }
};

extern "C" __global__ void other(int *out) { out[0] = -1; }

extern "C" __global__ void k(const int *in, int *out, int n) {
  int t = threadIdx.x, v = in[t], local[16];
  assert(v >= 0);
  for (int i = 0; i < 16; ++i) local[(i * 5 + n) % 16] = i;
  int where = 0;
  for (int i = 0; i < 16; ++i) where += local[(t + i) % 16] == 7;
  Plus plus;
  Minus minus;
  const Step *step = v & 1 ? static_cast<const Step *>(&plus) : &minus;
  dynamic[t] = step->run(v) * scale[1];
  atomicAdd(&visitors, 1);
  __syncthreads();
  if (t == 0) printf("%d visitors, %s\n", visitors, "all");
  switch (v % 5) {
    case 0: v = 3; break;
    case 1: v = 1; break;
    case 2: v = 4; break;
    case 3: v = 1; break;
    default: v = 5;
  }
  out[t] = table[t % 3](dynamic[t ^ 1]) + fibonacci(t % 9) + offset + n * where + shift + visitors + v;
}
