// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["wgmma.wait_group"], "args": ["mapA", "mapA", "mapA", "outf"], "block": 384, "smem": 66560, "out": 32768, "close": 0.5, "expected": "(lambda a: np.concatenate([2*((a@a.T/16)@a)]*2).reshape(-1).astype(np.float32).view(np.uint32))(A)"}
#include "fn.cuh"
// two consumer warpgroups in ping-pong, S = Q K^T from shared memory, O += P V with P in registers and V transposed by the descriptor
DEV void mma_ss(float (&d)[32], uint64_t a, uint64_t b, int scale) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0;\n}"
    : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31])
    : "l"(a), "l"(b), "r"(scale));
}
DEV void mma_rs(float (&d)[32], const uint32_t *a, uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, 1, 1, 1, 1;\n"
    : "+f"(d[0]),"+f"(d[1]),"+f"(d[2]),"+f"(d[3]),"+f"(d[4]),"+f"(d[5]),"+f"(d[6]),"+f"(d[7]),"+f"(d[8]),"+f"(d[9]),"+f"(d[10]),"+f"(d[11]),"+f"(d[12]),"+f"(d[13]),"+f"(d[14]),"+f"(d[15]),"+f"(d[16]),"+f"(d[17]),"+f"(d[18]),"+f"(d[19]),"+f"(d[20]),"+f"(d[21]),"+f"(d[22]),"+f"(d[23]),"+f"(d[24]),"+f"(d[25]),"+f"(d[26]),"+f"(d[27]),"+f"(d[28]),"+f"(d[29]),"+f"(d[30]),"+f"(d[31])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
extern "C" __global__ void __launch_bounds__(384, 1) k(const __grid_constant__ CUtensorMap mq, const __grid_constant__ CUtensorMap mk, const __grid_constant__ CUtensorMap mv, float *out) {
  extern __shared__ __align__(1024) uint8_t raw[];
  auto q = reinterpret_cast<__nv_bfloat16 *>(raw);                // 64 x 64, 128B swizzle
  auto kk = [&](int s) { return raw + 8192 + s * 8192; };         // 2 stages
  auto vv = [&](int s) { return raw + 24576 + s * 8192; };        // 2 stages
  auto bars = reinterpret_cast<Mbar *>(raw + 65536);
  Mbar &qfull = bars[0]; Mbar *kf = bars + 1, *ke = bars + 3, *vf = bars + 5, *ve = bars + 7;
  int wg = threadIdx.x / 128, t = threadIdx.x % 128;
  if (threadIdx.x == 0) {
    qfull.init(1);
    for (int s = 0; s < 2; ++s) { kf[s].init(1); vf[s].init(1); ke[s].init(256); ve[s].init(256); }
    fence_barrier_init();
  }
  __syncthreads();
  constexpr int N = 4;
  if (wg == 0) {
    reg_dealloc<24>();
    if (threadIdx.x / 32 == 0 && elect_one()) {
      qfull.arrive_and_expect_tx(8192);
      tma_2d(q, &mq, 0, 0, qfull);
      for (int j = 0; j < N; ++j) {
        int s = j % 2, ph = j / 2 & 1;
        ke[s].wait(ph ^ 1);
        kf[s].arrive_and_expect_tx(8192);
        tma_2d(kk(s), &mk, 0, 0, kf[s]);
        ve[s].wait(ph ^ 1);
        vf[s].arrive_and_expect_tx(8192);
        tma_2d(vv(s), &mv, 0, 0, vf[s]); // @2
      }
    }
  } else {
    reg_alloc<240>();
    float o[32] = {}, sc[32];
    if (wg == 1) named_arrive(256, 2 + 0); // let the first one go first
    qfull.wait(0);
    uint64_t dq = desc_sw128(q);
    for (int j = 0; j < N; ++j) {
      int s = j % 2, ph = j / 2 & 1;
      kf[s].wait(ph);
      named_sync(256, 1 + wg == 2 ? 2 : 3);
      warpgroup_arrive();
#pragma unroll
      for (int i = 0; i < 4; ++i) mma_ss(sc, dq + 2 * i, desc_sw128(kk(s)) + 2 * i, i);
      warpgroup_commit();
      if (wg == 1) named_arrive(256, 3); else if (j + 1 < N) named_arrive(256, 2);
      warpgroup_wait<0>();
      ke[s].arrive();
      uint32_t p[16];
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        __nv_bfloat162 h = __floats2bfloat162_rn(sc[2 * i] * (0.5f / 16), sc[2 * i + 1] * (0.5f / 16));
        p[i] = *reinterpret_cast<uint32_t *>(&h);
      }
      vf[s].wait(ph);
      warpgroup_arrive();
#pragma unroll
      for (int i = 0; i < 4; ++i) mma_rs(o, p + 4 * i, desc_sw128(vv(s)) + 128 * i); // @1
      warpgroup_commit();
#ifdef FAULT
      ve[s].arrive();
      warpgroup_wait<0>();
#else
      warpgroup_wait<0>();
      ve[s].arrive();
#endif
    }
    int r = t / 32 * 16 + t % 32 / 4, c = t % 4 * 2;
    float *ob = out + (wg - 1) * 4096;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      ob[r * 64 + 8 * i + c] = o[4 * i]; ob[r * 64 + 8 * i + c + 1] = o[4 * i + 1];
      ob[(r + 8) * 64 + 8 * i + c] = o[4 * i + 2]; ob[(r + 8) * 64 + 8 * i + c + 1] = o[4 * i + 3];
    }
  }
}
