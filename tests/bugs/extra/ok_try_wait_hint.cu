// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "none", "args": ["in", "out"], "block": 64, "expected": "np.concatenate([inp[i*32:i*32+32][::-1] for i in range(7)])"}
#include "more.cuh"
extern "C" __global__ void __launch_bounds__(64) k(const u32 *in, u32 *out) {
  __shared__ alignas(128) u32 slot[3][32];
  __shared__ alignas(8) u64 full[3], empty[3];
  u32 t = threadIdx.x, lane = t & 31, ok;
  if (t == 0) { for (int s = 0; s < 3; ++s) { MB_INIT(&full[s], 1); MB_INIT(&empty[s], 32); } FENCE_MBAR_INIT(); }
  __syncthreads();
  if (t >= 32) {
    if (lane == 0)
      for (int i = 0; i < 7; ++i) {
        int s = i % 3;
        if (i >= 3) MB_WAIT(&empty[s], (i / 3 - 1) & 1);
        MB_ARRIVE_EXPECT(&full[s], 128);
        BULK_LOAD(slot[s], in + 32 * i, 128, &full[s]);
      }
  } else
    for (int i = 0; i < 7; ++i) {
      int s = i % 3;
      do asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p;}" : "=r"(ok) : "r"(S32(&full[s])), "r"((i / 3) & 1), "r"(0x989680) : "memory"); while (!ok);
      out[i * 32 + lane] = slot[s][31 - lane];
      FENCE_PROXY();
      MB_ARRIVE(&empty[s]);
    }
}
