// What the cases of this folder need beside the corpus' macros.
#pragma once
#include "../corpus/hop.cuh"
#define CLUSTER2 __cluster_dims__(2, 1, 1)
#define CLUSTER_ARRIVE_RELAXED() asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory")
#define FENCE_CLUSTER() asm volatile("fence.acq_rel.cluster;" ::: "memory")
#define FENCE_GPU() asm volatile("fence.acq_rel.gpu;" ::: "memory")
#define INIT(b, n) if (threadIdx.x == 0) { MB_INIT(b, n); FENCE_MBAR_INIT(); }
#define ELECT() ({ u32 e_; asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(e_)); e_; })
#define ST_ASYNC(a, v, b) asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(a), "r"((u32)(v)), "r"(b) : "memory")
#define ST_REL(q, p, v) asm volatile("st.release." q ".global.u32 [%0], %1;" ::"l"(p), "r"((u32)(v)) : "memory")
#define ST_RELAXED(p, v) asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"((u32)(v)) : "memory")
#define LD_ACQ(q, p) ({ u32 v_; asm volatile("ld.acquire." q ".global.u32 %0, [%1];" : "=r"(v_) : "l"(p) : "memory"); v_; })
#define LD_RELAXED(p) ({ u32 v_; asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v_) : "l"(p) : "memory"); v_; })
#define CP_ASYNC16(d, s) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(S32(d)), "l"(s) : "memory")
#define CP_ASYNC4(d, s) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(S32(d)), "l"(s) : "memory")
#define CP_COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define CP_WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define SETREG_DEC(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n) : "memory")
#define SETREG_INC(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n) : "memory")
