// How far the GPU's approximate instructions lie from the correctly rounded f32 result, over every f32 input.
// One histogram a function: distance in units in the last place, hardware minus reference, -8 to 8 (the ends collect all beyond), for normal results;
// then subnormal references, results that are special in one of the two only, and the greatest relative and absolute errors.
#include <cstdint>
#include <cstdio>

constexpr int BINS = 17;

struct Report {
  unsigned long long histogram[BINS];
  unsigned long long subnormal_equal, subnormal_flushed, subnormal_other;
  unsigned long long special_equal, special_different;
  unsigned long long worst_relative, worst_absolute;  // bits of a double: positive ones order as integers
  unsigned int worst_input, special_input, subnormal_input;
};

template <int F> __device__ float approximate(float x) {
  float y;
  if (F == 0) asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 1) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 2) asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 3) asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 4) asm("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 5) asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 6) asm("sin.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 7) asm("cos.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 8) asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if (F == 9) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <int F> __device__ double exact(double x) {
  if (F <= 1) return exp2(x);
  if (F == 2) return log2(x);
  if (F == 3 || F == 9) return 1.0 / x;
  if (F == 4) return 1.0 / sqrt(x);
  if (F == 5) return sqrt(x);
  if (F == 6) return sin(x);
  if (F == 7) return cos(x);
  return tanh(x);
}

// Floats in order as integers.
__device__ long long place(float y) {
  int bits = __float_as_int(y);
  return bits < 0 ? -(long long)(bits & 0x7fffffff) : bits;
}

// sin and cos are specified on [-pi, pi] only: others are left out.
template <int F> __global__ void sweep(Report* out) {
  __shared__ unsigned long long bins[BINS];
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  unsigned long long equal = 0, flushed = 0, other = 0, special = 0, different = 0;
  double relative = 0, absolute = 0;
  unsigned int worst = 0;
  unsigned long long count = 1ull << 32, step = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    float x = __uint_as_float((unsigned int)i);
    if ((F == 6 || F == 7) && !(fabsf(x) <= 3.14159274f)) continue;
    float y = approximate<F>(x);
    double wide = exact<F>((double)x);
    float reference = (float)wide;
    bool odd = isnan(reference) || isinf(reference) || isnan(y) || isinf(y);
    if (odd) {
      bool same = (isnan(reference) && isnan(y)) || reference == y;
      if (same) special++; else { different++; out->special_input = (unsigned int)i; }
    } else if (fabsf(reference) < 1.17549435e-38f) {
      if (__float_as_uint(y) == __float_as_uint(reference)) equal++;
      else if (y == 0) flushed++;
      else { other++; out->subnormal_input = (unsigned int)i; }
      double error = fabs((double)y - wide);
      if (error > absolute) absolute = error;
    } else {
      long long distance = place(y) - place(reference);
      int bin = distance < -8 ? 0 : distance > 8 ? BINS - 1 : (int)distance + 8;
      atomicAdd(&bins[bin], 1ull);
      double error = fabs((double)y - wide), ratio = error / fabs(wide);
      if (ratio > relative) { relative = ratio; worst = (unsigned int)i; }
      if (error > absolute) absolute = error;
    }
  }
  atomicAdd(&out->subnormal_equal, equal);
  atomicAdd(&out->subnormal_flushed, flushed);
  atomicAdd(&out->subnormal_other, other);
  atomicAdd(&out->special_equal, special);
  atomicAdd(&out->special_different, different);
  if (atomicMax(&out->worst_relative, (unsigned long long)__double_as_longlong(relative)) < (unsigned long long)__double_as_longlong(relative)) out->worst_input = worst;
  atomicMax(&out->worst_absolute, (unsigned long long)__double_as_longlong(absolute));
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&out->histogram[i], bins[i]);
}

template <int F> void run(const char* name, bool last) {
  Report* device;
  Report host = {};
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  sweep<F><<<1056, 256>>>(device);
  cudaError_t status = cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
  double relative, absolute;
  memcpy(&relative, &host.worst_relative, 8);
  memcpy(&absolute, &host.worst_absolute, 8);
  printf("  \"%s\": {\"status\": %d, \"histogram\": [", name, (int)status);
  for (int i = 0; i < BINS; i++) printf("%llu%s", host.histogram[i], i + 1 < BINS ? ", " : "");
  printf("], \"subnormal\": {\"equal\": %llu, \"zero\": %llu, \"other\": %llu, \"example\": \"%#x\"}, ", host.subnormal_equal, host.subnormal_flushed, host.subnormal_other, host.subnormal_input);
  printf("\"special\": {\"equal\": %llu, \"different\": %llu, \"example\": \"%#x\"}, ", host.special_equal, host.special_different, host.special_input);
  printf("\"relative_log2\": %.3f, \"absolute_log2\": %.3f, \"worst\": \"%#x\"}%s\n", relative > 0 ? log2(relative) : -999.0, absolute > 0 ? log2(absolute) : -999.0, host.worst_input, last ? "" : ",");
  cudaFree(device);
}

// The 16-bit functions over every input, and quotients of random numbers.
template <int F> __device__ unsigned short narrow_result(unsigned short x) {
  unsigned short y;
  if (F == 0) asm("ex2.approx.f16 %0, %1;" : "=h"(y) : "h"(x));
  if (F == 1) asm("tanh.approx.f16 %0, %1;" : "=h"(y) : "h"(x));
  if (F == 2) asm("ex2.approx.ftz.bf16 %0, %1;" : "=h"(y) : "h"(x));
  if (F == 3) asm("tanh.approx.bf16 %0, %1;" : "=h"(y) : "h"(x));
  return y;
}

template <int F> __global__ void narrow_sweep(unsigned short* out) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 65536) out[i] = narrow_result<F>((unsigned short)i);
}

template <int F> __global__ void quotient_sweep(unsigned int* out, unsigned int rounds) {
  __shared__ unsigned int bins[BINS + 1];
  for (int i = threadIdx.x; i <= BINS; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  unsigned long long state = (blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x + 1) * 0x9E3779B97F4A7C15ull;
  for (unsigned int i = 0; i < rounds; i++) {
    state ^= state >> 12; state ^= state << 25; state ^= state >> 27;
    unsigned long long z = state * 0x2545F4914F6CDD1Dull;
    // numbers of ordinary size: no overflow, no subnormals, divisors below 2^126
    unsigned int ua = ((unsigned int)z & 0x807fffffu) | (64 + (unsigned int)(z >> 40) % 64) << 23, ub = ((unsigned int)(z >> 32) & 0x807fffffu) | (96 + (unsigned int)(z >> 20) % 64) << 23;
    float a = __uint_as_float(ua), b = __uint_as_float(ub), y;
    if (F == 0) asm("div.approx.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    if (F == 1) asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    long long distance = place(y) - place(__fdiv_rn(a, b));
    int bin = distance < -8 ? 0 : distance > 8 ? BINS - 1 : (int)distance + 8;
    atomicAdd(&bins[bin], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}

template <int F> void quotients(const char* name) {
  unsigned int *device, host[BINS] = {};
  cudaMalloc(&device, sizeof host);
  cudaMemset(device, 0, sizeof host);
  quotient_sweep<F><<<1056, 256>>>(device, 400);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("  \"%s\": {\"histogram\": [", name);
  for (int i = 0; i < BINS; i++) printf("%u%s", host[i], i + 1 < BINS ? ", " : "");
  printf("]},\n");
}

// All 65,536 results in hexadecimal, for comparing elsewhere.
template <int F> void narrow_table(const char* name, bool last) {
  static unsigned short host[65536];
  unsigned short* device;
  cudaMalloc(&device, sizeof host);
  narrow_sweep<F><<<256, 256>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  printf("  \"%s\": \"", name);
  for (int i = 0; i < 65536; i++) printf("%04x", host[i]);
  printf("\"%s\n", last ? "" : ",");
}

int main() {
  printf("{\n");
  run<0>("ex2.approx.f32", false);
  run<1>("ex2.approx.ftz.f32", false);
  run<2>("lg2.approx.f32", false);
  run<3>("rcp.approx.f32", false);
  run<9>("rcp.approx.ftz.f32", false);
  run<4>("rsqrt.approx.f32", false);
  run<5>("sqrt.approx.f32", false);
  run<6>("sin.approx.f32", false);
  run<7>("cos.approx.f32", false);
  run<8>("tanh.approx.f32", false);
  quotients<0>("div.approx.f32");
  quotients<1>("div.full.f32");
  narrow_table<0>("ex2.approx.f16", false);
  narrow_table<1>("tanh.approx.f16", false);
  narrow_table<2>("ex2.approx.ftz.bf16", false);
  narrow_table<3>("tanh.approx.bf16", true);
  printf("}\n");
}
