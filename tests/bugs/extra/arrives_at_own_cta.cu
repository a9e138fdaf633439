// {"grid": 2, "cluster": 2, "verdict": "error", "kind": "deadlock", "mend": ["mapa|peer|other"], "args": ["in", "out"], "block": 32, "expected": "np.concatenate([inp[32:64], inp[:32]])"}
#include "more.cuh"
// The arrival meant for the peer goes to the own barrier: a shared::cluster address without mapa names the own CTA.
extern "C" __global__ void CLUSTER2 k(const u32 *in, u32 *out) {
  __shared__ u32 box[32];
  __shared__ alignas(8) u64 full[2];
  u32 t = threadIdx.x, r = RANK();
  if (t == 0) { MB_INIT(&full[0], 32); MB_INIT(&full[1], 32); FENCE_MBAR_INIT(); }
  CLUSTER_SYNC();
  ST_CLUSTER(MAPA(&box[t], r ^ 1), in[r * 32 + t]);
#ifdef FAULT
  RMB_ARRIVE(S32(&full[r])); // @1
#else
  RMB_ARRIVE(MAPA(&full[r], r ^ 1));
#endif
  MB_WAIT_CLUSTER(&full[r ^ 1], 0); // @2
  out[r * 32 + t] = box[t];
  CLUSTER_SYNC();
}
