// {"grid": 1, "cluster": 1, "verdict": "error", "kind": "race", "mend": ["syncwarp"], "args": ["in", "out"], "block": 32, "expected": "inp[:32].reshape(2,16)[:,::-1].reshape(-1)"}
extern "C" __global__ void k(const unsigned *in, unsigned *out) {
  __shared__ unsigned x[32];
  unsigned t = threadIdx.x, half = t < 16 ? 0xffffu : 0xffff0000u;
  x[t] = in[t]; // @1
#ifdef FAULT
  unsigned pairs = 3u << (t & ~1u);
  __syncwarp(pairs);
#else
  __syncwarp(half);
#endif
  out[t] = x[(t & 16) + 15 - (t & 15)] + (half == 0); // @2
}
