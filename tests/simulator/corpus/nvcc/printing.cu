// Device printf. nvcc -arch=sm_90a -ptx -O3 (printing.O3.ptx), -O0 (printing.O0.ptx), -G (printing.G.ptx).
#include <cassert>
#include <cstdio>

__constant__ char where[] = "constant";
__device__ char there[] = "global";

extern "C" __global__ void conversions(int* status, float f, double d, long long l, short h, unsigned char c)
{
    __shared__ char mine[8];
    char own[4] = {'o', 'w', 'n', 0};
    int t = threadIdx.x;
    if (t == 0) {
        mine[0] = 's';
        mine[1] = 0;
    }
    __syncthreads();
    int* r = status + 9 * t;
    r[0] = printf("thread %d of %u: %5.2f|%-10.3e|%G|%a|\n", t, blockDim.x, f, d, d * 1e10, f);
    r[1] = printf("nothing\n");
    if (t == 1) {
        r[2] = printf("%lld %ld %lu %hd %hhu %c %x %#o %%\n", l, (long)l, (unsigned long)l, h, (int)c + 256, c, t + 254, 8);
        r[3] = printf("%s %s %s %s [%10s] [%-6.2s]\n", where, there, mine, own, "literal", "abc");
        r[4] = printf("%p %p %s\n", (void*)0, (void*)16, (char*)0);
        r[5] = printf("[%*d] [%*d] [%08.3f] [%+d] [% i] [%-5X] [%.4u]\n", 7, 42, -4, 7, f, 3, 4, 255, 7);
        r[6] = printf((const char*)nullptr);
        r[7] = printf("50%! %k %d\n", 1);
        r[8] = printf("%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6,
                      7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3);
    }
}

extern "C" __global__ void blocks()
{
    if (threadIdx.x == 0) printf("block %d", blockIdx.x);
    __syncthreads();
    if (threadIdx.x == 33) printf(" again (%d)\n", threadIdx.y);
}

extern "C" __global__ void mismatched()
{
    printf("%d and %lld\n", 1);
}

extern "C" __global__ void racing(char* text)
{
    text[threadIdx.x] = 'a' + threadIdx.x;
    if (threadIdx.x == 0) printf("%s\n", text);
}

extern "C" __global__ void asserting(int n)
{
    assert(n > 3);
}
