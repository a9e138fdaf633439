#!/usr/bin/env python3
"""Single-token GQA decode attention on one Hopper GPU: what a user would pick, side by side.

Peers: torch SDPA (flash / cuDNN / efficient; native GQA and "grouped heads as query rows"),
torch flex_attention (its flex_decoding split-KV template), a tuned Triton flash-decoding
(two kernels; two kernels with programmatic dependent launch; one kernel whose last CTA combines
through L2), FlashAttention-3 (wheel fa3-fwd or tokenspeed-fa3), FlashInfer, xformers triton_splitk,
FlashAttention-4 (CuTe DSL; on sm_90 it has NO split-KV).  A peer that is missing or fails prints one SKIP line and is left out.

Timing: one CUDA graph holding many back-to-back calls that rotate over enough KV copies that
no call finds its KV in L2 (working set >= 4 x L2); median over replays, per call.  So the number
includes every kernel of the call and the gaps between them, and no host time.
Bytes: K + V + Q + O once each (partials are NOT counted: they are a cost of the method).
Check: relative L2 error against float64 on a sample of (batch, kv head) pairs, fresh random data.

fa4dsl's own kernel is measured in the same way if --ours names the folder that benchmarks/decode.py prepared.

  python decode_peers.py [--shapes main|quick|tp|all] [--only sdpa,triton,...] [--ours FOLDER] [--json FILE]
                         [--budget SECONDS]      (default budget 225 s; shapes past it are dropped)
"""

# A script for a GPU machine, kept as it was measured with; its one-letter names are the shapes of the problem.
# ruff: noqa
import argparse, json, math, os, time, traceback, warnings

os.environ.setdefault("PYTHONUNBUFFERED", "1")
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", "/tmp/ti_cache")
warnings.filterwarnings("ignore")
import torch
import torch.nn.functional as F

T0 = time.time()
D = 128
DT = torch.bfloat16

# (batch, q heads, kv heads, kv length)
SHAPES = {
    "quick": [(1, 32, 8, 8192), (8, 32, 8, 4096)],
    "main": [
        (1, 32, 8, 1024),
        (1, 32, 8, 4096),
        (1, 32, 8, 16384),
        (1, 32, 8, 65536),
        (1, 32, 8, 131072),
        (4, 32, 8, 4096),
        (4, 32, 8, 32768),
        (16, 32, 8, 4096),
        (64, 32, 8, 4096),
        (1, 64, 8, 4096),
        (1, 64, 8, 32768),
        (1, 64, 8, 131072),
        (8, 64, 8, 8192),
        (32, 64, 8, 4096),
    ],
    # one tensor-parallel rank of the same models: few kv heads, where splitting matters most
    "tp": [
        (1, 8, 1, 8192),
        (1, 8, 1, 65536),
        (4, 8, 1, 8192),
        (16, 8, 1, 8192),
        (64, 8, 1, 8192),
        (1, 4, 1, 8192),
        (8, 16, 2, 8192),
        (32, 16, 2, 8192),
    ],
}
# many query heads of a key head: 16 of them in one model's attention or on one rank of it, 32 with one key head
SHAPES["heads"] = [
    (1, 128, 8, 8192),
    (8, 128, 8, 8192),
    (32, 128, 8, 4096),
    (1, 16, 1, 8192),
    (8, 16, 1, 8192),
    (1, 32, 1, 32768),
    (8, 32, 1, 8192),
    (64, 32, 1, 4096),
]
SHAPES["all"] = SHAPES["main"] + SHAPES["tp"]

ap = argparse.ArgumentParser()
ap.add_argument("--shapes", default="main")
ap.add_argument("--only", default="")
ap.add_argument("--json", default="")
ap.add_argument(
    "--cache", default="bf16", choices=("bf16", "e4m3"), help="element type of keys and values; peers that take no e4m3 are left out"
)
ap.add_argument("--ours", default="")
ap.add_argument("--budget", type=float, default=225.0)
args = ap.parse_args()
ONLY = [x for x in args.only.split(",") if x]
KV = torch.bfloat16 if args.cache == "bf16" else torch.float8_e4m3fn
KV_BYTES = KV.itemsize

dev = torch.device("cuda")
prop = torch.cuda.get_device_properties(0)
SMS = prop.multi_processor_count
L2 = prop.L2_cache_size
ROT_BYTES = max(4 * L2, 256 << 20)
rows, skips = [], {}


def left():
    return args.budget - (time.time() - T0)


def skip(name, why):
    why = " ".join(str(why).split())[:170]
    if name not in skips:
        skips[name] = [0, why]
        print(f"SKIP {name}: {why}", flush=True)
    skips[name][0] += 1


# ------------------------------------------------------------------ timing
def _event_time(g, reps):
    ts = []
    for _ in range(reps):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        g.replay()
        b.record()
        b.synchronize()
        ts.append(a.elapsed_time(b) * 1e3)
    ts.sort()
    return ts


def bench(calls, est_us=50.0, reps=7):
    """calls: zero-argument callables, one per buffer set. Median us per call, graph-replayed."""
    n = int(min(max(len(calls), 1500.0 / max(est_us, 1.0)), 256))
    n = -(-n // len(calls)) * len(calls)
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        for i in range(min(3, len(calls))):
            calls[i]()
    torch.cuda.current_stream().wait_stream(s)
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for i in range(n):
            calls[i % len(calls)]()
    g.replay()
    torch.cuda.synchronize()
    ts = _event_time(g, reps)
    del g
    return ts[len(ts) // 2] / n, (ts[-1] - ts[0]) / n


# ------------------------------------------------------------------ data
class Case:
    def __init__(self, b, hq, hkv, s):
        self.b, self.hq, self.hkv, self.s, self.g = b, hq, hkv, s, hq // hkv
        kv = 2 * b * s * hkv * D * KV_BYTES
        self.kv_bytes = kv
        self.io_bytes = kv + 2 * b * hq * D * 2
        self.ncopy = int(min(max(1, -(-ROT_BYTES // kv)), 128))
        if self.ncopy == 1 and kv < 4 << 30:
            self.ncopy = 2
        gen = torch.Generator(device=dev).manual_seed(int(time.time() * 1e3) % (1 << 31))
        r = lambda *sh: torch.randn(*sh, device=dev, dtype=DT, generator=gen)
        self.q = [r(b, hq, D) for _ in range(self.ncopy)]
        self.k = [r(b, s, hkv, D).to(KV) for _ in range(self.ncopy)]  # BSHD, what serving stacks store
        self.v = [r(b, s, hkv, D).to(KV) for _ in range(self.ncopy)]
        self.scale = 1.0 / math.sqrt(D)
        # float64 reference for a sample of (batch, kv head)
        pairs = [(i, j) for i in range(b) for j in range(hkv)]
        step = max(1, len(pairs) // 6)
        self.pairs = pairs[::step][:6]
        self.refs = []
        for i, j in self.pairs:
            q = self.q[0][i, j * self.g : (j + 1) * self.g].double()
            k = self.k[0][i, :, j].double()
            v = self.v[0][i, :, j].double()
            p = torch.softmax(q @ k.T * self.scale, -1)
            self.refs.append(p @ v)

    def err(self, o):
        o = o.reshape(self.b, self.hq, D)
        num = den = 0.0
        for (i, j), ref in zip(self.pairs, self.refs):
            x = o[i, j * self.g : (j + 1) * self.g].double()
            num += float(((x - ref) ** 2).sum())
            den += float((ref**2).sum())
        return math.sqrt(num / den)

    def name(self):
        s = f"{self.s // 1024}k" if self.s % 1024 == 0 else str(self.s)
        return f"b{self.b} {self.hq}/{self.hkv} {s}"


def record(c, peer, us, spread, err, note=""):
    gbs = c.io_bytes / us / 1e3
    ok = err == err and err < 1.5e-2
    rows.append(
        dict(
            shape=c.name(),
            b=c.b,
            hq=c.hq,
            hkv=c.hkv,
            s=c.s,
            cache=args.cache,
            peer=peer,
            us=round(us, 2),
            spread_us=round(spread, 2),
            gbs=round(gbs, 1),
            floor_us=round(c.io_bytes / READ_BW * 1e6, 2),
            pct_of_read_bw=round(100 * gbs * 1e9 / READ_BW, 1),
            rel_err=float(f"{err:.2e}"),
            ok=ok,
            note=note,
        )
    )
    if not ok:
        print(f"WRONG {peer} {c.name()} rel_err={err:.3e}", flush=True)


def run_peer(c, peer, make, note=""):
    """make(i) -> callable returning the output for buffer set i"""
    if ONLY and not any(peer.startswith(o) for o in ONLY):
        return None
    if left() < 3:
        return None
    try:
        with torch.inference_mode():
            calls = [make(i) for i in range(c.ncopy)]
            o = calls[0]()
            torch.cuda.synchronize()
            e = c.err(o)
            us, sp = bench(calls, est_us=max(3.0, c.io_bytes / 3e6))
        record(c, peer, us, sp, e, note() if callable(note) else note)
        return us
    except Exception as ex:  # noqa: BLE001
        skip(peer, f"[{c.name()}] {type(ex).__name__}: {ex}")
        torch.cuda.synchronize()
        return None


# ------------------------------------------------------------------ bandwidth anchors (Triton)
try:
    import triton
    import triton.language as tl

    HAVE_TRITON = True
except Exception as ex:  # noqa: BLE001
    HAVE_TRITON = False
    skip("triton", ex)

if HAVE_TRITON:
    try:
        from triton.language.extra.cuda import gdc_wait, gdc_launch_dependents

        HAVE_PDL = True
    except Exception:
        HAVE_PDL = False

        @triton.jit
        def gdc_wait():
            pass

        @triton.jit
        def gdc_launch_dependents():
            pass

    @triton.jit
    def _read_kernel(X, OUT, n, BLOCK: tl.constexpr, ITERS: tl.constexpr):
        pid = tl.program_id(0).to(tl.int64)
        acc = tl.zeros([BLOCK], tl.int32)
        base = pid * (BLOCK * ITERS)
        for i in tl.static_range(ITERS):
            acc ^= tl.load(X + base + i * BLOCK + tl.arange(0, BLOCK))
        r = tl.sum(acc, 0)
        if r == 0x7EADBEEF:  # practically never: keeps the loads alive
            tl.store(OUT, r)

    @triton.jit
    def _empty_kernel(X):
        pass

    # ---------------------------------------------------------------- split-KV kernel
    @triton.jit(do_not_specialize=["S", "chunk", "n_splits"])
    def _split(
        Q,
        K,
        V,
        OP,
        LSE,
        O,
        CNT,
        S,
        chunk,
        n_splits,
        sk_b,
        sk_s,
        scale_log2,
        HQ: tl.constexpr,
        HKV: tl.constexpr,
        G: tl.constexpr,
        GP: tl.constexpr,
        DH: tl.constexpr,
        BM: tl.constexpr,
        BN: tl.constexpr,
        TMA: tl.constexpr,
        FUSED: tl.constexpr,
        PDL: tl.constexpr,
        SC: tl.constexpr,
    ):
        sp = tl.program_id(0)
        h = tl.program_id(1)
        b = tl.program_id(2)
        nb = tl.num_programs(2)
        offs_m = tl.arange(0, BM)
        offs_d = tl.arange(0, DH)
        offs_n = tl.arange(0, BN)
        q = tl.load(Q + (b * HQ + h * G + offs_m[:, None]) * DH + offs_d[None, :], mask=offs_m[:, None] < G, other=0.0)
        start = sp * chunk
        end = tl.minimum(start + chunk, S)
        m = tl.full([BM], float("-inf"), tl.float32)
        l = tl.zeros([BM], tl.float32)
        acc = tl.zeros([BM, DH], tl.float32)
        if not TMA:
            kb = K + b.to(tl.int64) * sk_b + h * DH
            vb = V + b.to(tl.int64) * sk_b + h * DH
        for n in range(start, end, BN):
            n = tl.multiple_of(n, BN)
            if TMA:
                k = K.load([b * S + n, h * DH])
            else:
                rows = n + offs_n
                k = tl.load(kb + rows[:, None] * sk_s + offs_d[None, :], mask=rows[:, None] < S, other=0.0)
            qk = tl.dot(q, tl.trans(k.to(q.dtype))) * scale_log2
            qk = tl.where((n + offs_n)[None, :] < end, qk, float("-inf"))
            m_new = tl.maximum(m, tl.max(qk, 1))
            p = tl.math.exp2(qk - m_new[:, None])
            alpha = tl.math.exp2(m - m_new)
            l = l * alpha + tl.sum(p, 1)
            acc = acc * alpha[:, None]
            if TMA:
                v = V.load([b * S + n, h * DH])
            else:
                v = tl.load(vb + rows[:, None] * sk_s + offs_d[None, :], mask=rows[:, None] < S, other=0.0)
            acc = tl.dot(p.to(q.dtype), v.to(q.dtype), acc)
            m = m_new
        o = acc / l[:, None]
        lse = m + tl.math.log2(l)
        if PDL:
            gdc_launch_dependents()
        mask_m = offs_m < G
        if n_splits == 1:
            tl.store(O + (b * HQ + h * G + offs_m[:, None]) * DH + offs_d[None, :], o.to(O.dtype.element_ty), mask=mask_m[:, None])
        else:
            row = (sp * nb + b) * HQ + h * G + offs_m  # partials are [split, b, hq, d]
            tl.store(OP + row[:, None].to(tl.int64) * DH + offs_d[None, :], o, mask=mask_m[:, None])
            tl.store(LSE + row, lse, mask=mask_m)
            if FUSED:
                tl.debug_barrier()
                old = tl.atomic_add(CNT + b * HKV + h, 1, sem="acq_rel", scope="gpu")
                if old == n_splits - 1:  # the last CTA of this (b, kv head) combines
                    offs_g = tl.arange(0, GP)
                    offs_s = tl.arange(0, SC)
                    gm = tl.full([GP], float("-inf"), tl.float32)
                    for s0 in range(0, n_splits, SC):
                        si = s0 + offs_s
                        r2 = (si[:, None] * nb + b) * HQ + h * G + offs_g[None, :]
                        ls = tl.load(
                            LSE + r2, mask=(si[:, None] < n_splits) & (offs_g[None, :] < G), other=float("-inf"), cache_modifier=".cg"
                        )
                        gm = tl.maximum(gm, tl.max(ls, 0))
                    gm = tl.where(offs_g < G, gm, 0.0)
                    den = tl.zeros([GP], tl.float32)
                    out = tl.zeros([GP, DH], tl.float32)
                    for s0 in range(0, n_splits, SC):
                        si = s0 + offs_s
                        okm = (si[:, None] < n_splits) & (offs_g[None, :] < G)
                        r2 = (si[:, None] * nb + b) * HQ + h * G + offs_g[None, :]
                        ls = tl.load(LSE + r2, mask=okm, other=float("-inf"), cache_modifier=".cg")
                        w = tl.math.exp2(ls - gm[None, :])
                        den += tl.sum(w, 0)
                        po = tl.load(
                            OP + r2[:, :, None].to(tl.int64) * DH + offs_d[None, None, :],
                            mask=okm[:, :, None],
                            other=0.0,
                            cache_modifier=".cg",
                        )
                        out += tl.sum(po * w[:, :, None], 0)
                    out = out / den[:, None]
                    tl.store(
                        O + (b * HQ + h * G + offs_g[:, None]) * DH + offs_d[None, :], out.to(O.dtype.element_ty), mask=offs_g[:, None] < G
                    )
                    tl.store(CNT + b * HKV + h, 0)

    @triton.jit(do_not_specialize=["n_splits", "R"])
    def _combine(OP, LSE, O, n_splits, R, DH: tl.constexpr, SP: tl.constexpr, BD: tl.constexpr, PDL: tl.constexpr):
        r = tl.program_id(0)
        d0 = tl.program_id(1) * BD
        offs_s = tl.arange(0, SP)
        offs_d = d0 + tl.arange(0, BD)
        if PDL:
            gdc_wait()
        ls = tl.load(LSE + offs_s * R + r, mask=offs_s < n_splits, other=float("-inf"))
        po = tl.load(OP + (offs_s[:, None].to(tl.int64) * R + r) * DH + offs_d[None, :], mask=offs_s[:, None] < n_splits, other=0.0)
        w = tl.math.exp2(ls - tl.max(ls, 0))
        w = w / tl.sum(w, 0)
        tl.store(O + r.to(tl.int64) * DH + offs_d, tl.sum(po * w[:, None], 0).to(O.dtype.element_ty))


def next_pow2(x):
    return 1 << max(0, (x - 1).bit_length())


class TritonDecode:
    """mode: '2k' two kernels, '2kpdl' with programmatic dependent launch, '1k' last CTA combines."""

    def __init__(self, c, mode, BN, warps, stages, splits, tma):
        self.c, self.mode = c, mode
        self.BN, self.warps, self.stages, self.tma = BN, warps, stages, tma
        nblk = -(-c.s // BN)
        splits = max(1, min(splits, nblk))
        per = -(-nblk // splits)
        self.splits = -(-nblk // per)
        self.chunk = per * BN
        self.R = c.b * c.hq
        n = max(1, self.splits)
        self.op = torch.empty(n, c.b, c.hq, D, device=dev, dtype=torch.float32)
        self.lse = torch.empty(n, c.b, c.hq, device=dev, dtype=torch.float32)
        self.cnt = torch.zeros(c.b * c.hkv, device=dev, dtype=torch.int32)
        self.GP = next_pow2(c.g)
        self.SC = max(1, min(32, 8192 // (self.GP * D)))

    def make(self, i):
        c = self.c
        q, k, v = c.q[i], c.k[i], c.v[i]
        o = torch.empty(c.b, c.hq, D, device=dev, dtype=DT)
        if self.tma:
            from triton.tools.tensor_descriptor import TensorDescriptor

            kk = TensorDescriptor.from_tensor(k.view(c.b * c.s, c.hkv * D), [self.BN, D])
            vv = TensorDescriptor.from_tensor(v.view(c.b * c.s, c.hkv * D), [self.BN, D])
        else:
            kk, vv = k, v
        pdl = self.mode == "2kpdl" and self.splits > 1
        fused = self.mode == "1k"
        grid = (self.splits, c.hkv, c.b)
        sl2 = c.scale * 1.4426950408889634
        SP = next_pow2(self.splits)
        BD = D if SP <= 16 else (64 if SP <= 64 else 32)

        def call():
            _split[grid](
                q,
                kk,
                vv,
                self.op,
                self.lse,
                o,
                self.cnt,
                c.s,
                self.chunk,
                self.splits,
                c.s * c.hkv * D,
                c.hkv * D,
                sl2,
                HQ=c.hq,
                HKV=c.hkv,
                G=c.g,
                GP=self.GP,
                DH=D,
                BM=max(16, next_pow2(c.g)),
                BN=self.BN,
                TMA=self.tma,
                FUSED=fused,
                PDL=pdl,
                SC=self.SC,
                num_warps=self.warps,
                num_stages=self.stages,
            )
            if not fused and self.splits > 1:
                kw = dict(launch_pdl=True) if pdl else {}
                _combine[(self.R, D // BD)](
                    self.op, self.lse, o, self.splits, self.R, DH=D, SP=SP, BD=BD, PDL=pdl, num_warps=4 if SP * BD >= 2048 else 2, **kw
                )
            return o

        return call

    def label(self):
        return f"BN{self.BN} w{self.warps} st{self.stages} sp{self.splits}{' tma' if self.tma else ''}"


TRITON_CFGS = [
    (64, 4, 3, False),
    (64, 4, 4, False),
    (128, 4, 2, False),
    (128, 8, 3, False),
    (32, 2, 5, False),
    (64, 4, 4, True),
    (128, 8, 3, True),
]
bad_cfg = set()


def split_candidates(c, BN):
    nblk = -(-c.s // BN)
    units = c.b * c.hkv
    cand = {1} if units >= SMS // 2 else set()
    for k in (1, 2, 3, 4):
        cand.add(max(1, min(nblk, (k * SMS) // units)))
    return sorted(cand)


def tune_triton(c):
    """quick sweep; returns best (cfg, splits) for the two-kernel form"""
    best = None
    for cfg in TRITON_CFGS:
        if cfg in bad_cfg or left() < 15:
            continue
        for sp in split_candidates(c, cfg[0]):
            try:
                t = TritonDecode(c, "2k", *cfg[:3], sp, cfg[3])
                calls = [t.make(i) for i in range(c.ncopy)]
                us, _ = bench(calls, est_us=max(3.0, c.io_bytes / 3e6), reps=2)
                if best is None or us < best[0]:
                    best = (us, cfg, sp)
            except Exception as ex:  # noqa: BLE001
                bad_cfg.add(cfg)
                skip(f"triton cfg {cfg}", f"{type(ex).__name__}: {ex}")
                torch.cuda.synchronize()
                break
    return best


def do_triton(c):
    if not HAVE_TRITON or (ONLY and not any(o.startswith("triton") for o in ONLY)):
        return
    with torch.inference_mode():
        best = tune_triton(c)
        if best is None:
            return
        _, cfg, sp = best
        for mode, name in (("2k", "triton_2kernel"), ("2kpdl", "triton_2kernel_pdl"), ("1k", "triton_lastcta")):
            if mode == "2kpdl" and not HAVE_PDL:
                skip("triton_2kernel_pdl", "no gdc_wait in this triton")
                continue
            t = TritonDecode(c, mode, *cfg[:3], sp, cfg[3])
            if mode != "2k" and t.splits == 1:
                continue
            run_peer(c, name, t.make, t.label())


# ------------------------------------------------------------------ fa4dsl
def do_fa4dsl(c):
    """Every prepared variant that suits the shape, quickly; the best one, and the best with programmatic dependent launch, measured in full."""
    import glob, re

    if not args.ours or (ONLY and not any(o.startswith("fa4dsl") for o in ONLY)):
        return
    from fa4dsl.runtime import load
    from fa4dsl.runtime.launch import launch

    lengths = torch.full((c.b,), c.s, device=dev, dtype=torch.int32)
    unused = torch.zeros(1, device=dev, dtype=torch.int32)
    line = 128 // KV_BYTES
    view = lambda x: x.view(c.b, c.s, c.hkv, D // line, line).permute(0, 2, 1, 3, 4)
    scale = c.scale * 1.4426950408889634
    best = {}
    for path in sorted(glob.glob(f"{args.ours}/decode_{args.cache}_g{c.g}_*.fa4")):
        label = os.path.basename(path)[:-4].partition(f"_g{c.g}_")[2]
        P, C, stages, dependent = (int(x) for x in re.findall(r"\d+", label))
        ctas = c.b * c.hkv * P * C
        if P * C * 64 > c.s or ctas > 264 * (c.b * c.hkv > 132) + 264 or (ctas < 32 and P * C < 16) or left() < 10:
            continue
        if stages > max(2, -(-c.s // (64 * P * C))):
            continue

        def make(i, path=path, P=P, C=C, dependent=dependent):
            artifact, grid = load(path), (P * C, c.hkv, c.b)
            kernel = (lambda *a: launch(artifact, grid, a, programmatic=True)) if dependent else artifact[grid]
            k, v = view(c.k[i]), view(c.v[i])
            out = torch.full((c.b, c.hkv, c.g, D), float("nan"), device=dev, dtype=DT)
            lse = torch.empty(1, device=dev)
            workspace = torch.empty(c.b * c.hkv * C * c.g * D // 4 * 8 if C > 1 else 1, device=dev)
            counters = torch.zeros(c.b * c.hkv * P, device=dev, dtype=torch.int32)
            q = c.q[i].view(c.b, c.hkv, c.g, D)
            return lambda: (kernel(q, k, v, lengths, unused, out, 0, scale, 1.0, lse, workspace, counters), out)[1]

        try:
            with torch.inference_mode():
                calls = [make(i) for i in range(c.ncopy)]
                us, _ = bench(calls, est_us=max(3.0, c.io_bytes / 3e6), reps=2)
            kind = "fa4dsl_pdl" if dependent else "fa4dsl"
            if kind not in best or us < best[kind][0]:
                best[kind] = (us, label, make)
        except Exception as ex:  # noqa: BLE001
            skip(f"fa4dsl {label}", f"[{c.name()}] {type(ex).__name__}: {ex}")
            torch.cuda.synchronize()
    for kind, (_, label, make) in best.items():
        run_peer(c, kind, make, label)


# ------------------------------------------------------------------ torch
def do_torch(c):
    if args.cache != "bf16":
        return
    from torch.nn.attention import sdpa_kernel, SDPBackend

    qh = [x.view(c.b, c.hq, 1, D) for x in c.q]
    kh = [x.transpose(1, 2) for x in c.k]
    vh = [x.transpose(1, 2) for x in c.v]
    qp = [x.view(c.b, c.hkv, c.g, D) for x in c.q]  # grouped heads as query rows: exact for decode

    def sd(backend, packed):
        def make(i):
            def call():
                with sdpa_kernel(backend):
                    if packed:
                        return F.scaled_dot_product_attention(qp[i], kh[i], vh[i])
                    return F.scaled_dot_product_attention(qh[i], kh[i], vh[i], enable_gqa=True)

            return call

        return make

    for be, nm in (
        (SDPBackend.FLASH_ATTENTION, "flash"),
        (SDPBackend.CUDNN_ATTENTION, "cudnn"),
        (SDPBackend.EFFICIENT_ATTENTION, "efficient"),
    ):
        run_peer(c, f"sdpa_{nm}_gqa", sd(be, False))
        run_peer(c, f"sdpa_{nm}_pack", sd(be, True))


FLEX_SHAPES = {(1, 32, 8, 4096), (1, 32, 8, 65536), (16, 32, 8, 4096), (1, 64, 8, 32768), (1, 32, 8, 8192), (1, 8, 1, 65536)}


def do_flex(c):
    if ONLY and not any(o.startswith("flex") for o in ONLY):
        return
    if left() < 25:
        return
    try:
        from torch.nn.attention.flex_attention import flex_attention
    except Exception as ex:  # noqa: BLE001
        return skip("flex_attention", ex)
    qh = [x.view(c.b, c.hq, 1, D) for x in c.q]
    kh = [x.transpose(1, 2) for x in c.k]
    vh = [x.transpose(1, 2) for x in c.v]
    for nm, opt in (("flex_default", None), ("flex_tuned", {"BLOCK_N": 64, "num_warps": 4, "num_stages": 3})):
        torch._dynamo.reset()
        fn = torch.compile(lambda q, k, v, o=opt: flex_attention(q, k, v, enable_gqa=True, kernel_options=o), dynamic=False)
        run_peer(c, nm, lambda i: lambda: fn(qh[i], kh[i], vh[i]), str(opt or "inductor default"))


# ------------------------------------------------------------------ FlashAttention-3
FA3 = []
for modname, label in (("fa3_fwd_interface", "fa3"), ("flash_attn_interface", "fa3_ts")):
    try:
        m = __import__(modname)
        if hasattr(m, "flash_attn_with_kvcache"):
            FA3.append((label, m))
    except Exception as ex:  # noqa: BLE001
        skip(f"{label} ({modname})", f"{type(ex).__name__}: {ex}")


def do_fa3(c):
    if args.cache != "bf16":  # its queries would have to be e4m3 too, another problem
        return
    for label, m in FA3:
        q4 = [x.view(c.b, 1, c.hq, D) for x in c.q]

        def fn(ns, pack=None):
            return lambda i: lambda: m.flash_attn_func(q4[i], c.k[i], c.v[i], softmax_scale=c.scale, num_splits=ns, pack_gqa=pack)

        run_peer(c, f"{label}_auto", fn(0), "flash_attn_func num_splits=0")
        # best explicit split count: what a user who tunes would get
        if not ONLY or any(o.startswith("fa3") for o in ONLY):
            best = None
            for ns in sorted({1, 2, 4, 8, 16, 32, max(1, SMS // (c.b * c.hkv)), max(1, 2 * SMS // (c.b * c.hkv))}):
                if ns > 128 or (ns > 1 and c.s // ns < 128) or left() < 10:
                    continue
                try:
                    with torch.inference_mode():
                        us, _ = bench([fn(ns, True)(i) for i in range(c.ncopy)], est_us=max(3.0, c.io_bytes / 3e6), reps=2)
                    if best is None or us < best[0]:
                        best = (us, ns)
                except Exception as ex:  # noqa: BLE001
                    skip(f"{label} num_splits={ns}", f"[{c.name()}] {type(ex).__name__}: {ex}")
                    torch.cuda.synchronize()
            if best:
                run_peer(c, f"{label}_best", fn(best[1], True), f"num_splits={best[1]} pack_gqa")
        # the serving call: kv-cache entry with precomputed scheduler metadata
        try:
            lens = torch.full((c.b,), c.s, device=dev, dtype=torch.int32)
            meta = m.get_scheduler_metadata(c.b, 1, c.s, c.hq, c.hkv, D, lens, qkv_dtype=DT, headdim_v=D, num_splits=0)
            run_peer(
                c,
                f"{label}_kvcache",
                lambda i: (
                    lambda: m.flash_attn_with_kvcache(
                        q4[i], c.k[i], c.v[i], cache_seqlens=lens, softmax_scale=c.scale, scheduler_metadata=meta, num_splits=0
                    )
                ),
                "flash_attn_with_kvcache + scheduler_metadata",
            )
        except Exception as ex:  # noqa: BLE001
            skip(f"{label}_kvcache", f"{type(ex).__name__}: {ex}")


# ------------------------------------------------------------------ FlashAttention-4 (no split-KV on sm_90)
try:
    if not ONLY or any(o.startswith("fa4") for o in ONLY):
        from flash_attn.cute.interface import flash_attn_func as fa4_func
    else:
        fa4_func = None
except Exception as ex:  # noqa: BLE001
    fa4_func = None
    skip("fa4 (flash_attn.cute)", f"{type(ex).__name__}: {ex}")


def do_fa4(c):
    if fa4_func is None or args.cache != "bf16":
        return
    q4 = [x.view(c.b, 1, c.hq, D) for x in c.q]

    def first(r):
        return r[0] if isinstance(r, (tuple, list)) else r

    run_peer(
        c,
        "fa4_nosplit",
        lambda i: lambda: first(fa4_func(q4[i], c.k[i], c.v[i], softmax_scale=c.scale)),
        "num_splits=1 (sm_90 asserts no split)",
    )


# ------------------------------------------------------------------ FlashInfer
try:
    if not ONLY or any(o.startswith("flashinfer") for o in ONLY):
        import flashinfer

        FI_WS = torch.zeros(256 << 20, dtype=torch.uint8, device=dev)
    else:
        flashinfer = None
except Exception as ex:  # noqa: BLE001
    flashinfer = None
    skip("flashinfer", f"{type(ex).__name__}: {ex}")


def do_flashinfer(c):
    if flashinfer is None:
        return
    if c.b == 1:
        for tc in (True, False):
            run_peer(
                c,
                f"flashinfer_single{'_tc' if tc else ''}",
                lambda i, tc=tc: (
                    lambda: flashinfer.single_decode_with_kv_cache(
                        c.q[i][0], c.k[i][0], c.v[i][0], kv_layout="NHD", use_tensor_cores=tc, sm_scale=c.scale
                    )
                ),
                f"use_tensor_cores={tc}",
            )
    PS = 64
    if c.s % PS:
        return
    npg = c.s // PS
    pages = lambda x: x.view(c.b * npg, PS, c.hkv, D)
    indptr = torch.arange(0, c.b + 1, dtype=torch.int32, device=dev) * npg
    idx = torch.arange(0, c.b * npg, dtype=torch.int32, device=dev)
    last = torch.full((c.b,), PS, dtype=torch.int32, device=dev)
    try:
        if not ONLY or any(o.startswith("flashinfer") for o in ONLY):
            FI_WS.zero_()
            w = flashinfer.BatchDecodeWithPagedKVCacheWrapper(FI_WS, "NHD", use_tensor_cores=True)
            w.plan(indptr, idx, last, c.hq, c.hkv, D, PS, pos_encoding_mode="NONE", q_data_type=DT, kv_data_type=KV, sm_scale=c.scale)
            run_peer(
                c, "flashinfer_batch_tc", lambda i: lambda: w.run(c.q[i], (pages(c.k[i]), pages(c.v[i]))), "paged 64, fa2 tensor cores"
            )
    except Exception as ex:  # noqa: BLE001
        skip("flashinfer_batch_tc", f"[{c.name()}] {type(ex).__name__}: {ex}")
    try:
        fn = flashinfer.decode.trtllm_batch_decode_with_kv_cache
        tbl = idx.view(c.b, npg)
        lens = torch.full((c.b,), c.s, dtype=torch.int32, device=dev)
        FI_WS.zero_()
        run_peer(
            c,
            "flashinfer_xqa",
            lambda i: (
                lambda: fn(
                    c.q[i],
                    (pages(c.k[i]), pages(c.v[i])),
                    FI_WS,
                    tbl,
                    lens,
                    c.s,
                    bmm1_scale=c.scale,
                    bmm2_scale=1.0,
                    kv_layout="NHD",
                    backend="xqa",
                )
            ),
            "TensorRT-LLM XQA, paged 64",
        )
    except Exception as ex:  # noqa: BLE001
        skip("flashinfer_xqa", f"[{c.name()}] {type(ex).__name__}: {ex}")


# ------------------------------------------------------------------ xformers
try:
    if not ONLY or any(o.startswith("xformers") for o in ONLY):
        import xformers.ops.fmha as xfmha
        from xformers.ops.fmha import triton_splitk as xf_splitk
    else:
        xfmha = None
except Exception as ex:  # noqa: BLE001
    xfmha = None
    skip("xformers", f"{type(ex).__name__}: {ex}")


def do_xformers(c):
    if xfmha is None or left() < 25:
        return
    q5 = [x.view(c.b, 1, c.hkv, c.g, D) for x in c.q]
    k5 = [x.view(c.b, c.s, c.hkv, 1, D).expand(c.b, c.s, c.hkv, c.g, D) for x in c.k]
    v5 = [x.view(c.b, c.s, c.hkv, 1, D).expand(c.b, c.s, c.hkv, c.g, D) for x in c.v]
    run_peer(
        c,
        "xformers_splitk",
        lambda i: lambda: xfmha.memory_efficient_attention_forward(q5[i], k5[i], v5[i], op=xf_splitk.FwOp, scale=c.scale),
        "triton_splitk heuristic",
    )


# ------------------------------------------------------------------ main
print(
    f"# {prop.name} SMs={SMS} L2={L2 >> 20}MiB torch={torch.__version__} cuda={torch.version.cuda} "
    f"triton={getattr(triton, '__version__', '-') if HAVE_TRITON else '-'} cudnn={torch.backends.cudnn.version()}",
    flush=True,
)

n = 1 << 30
x = torch.randint(0, 255, (n,), device=dev, dtype=torch.uint8)
y = torch.empty_like(x)
us, _ = bench([lambda: y.copy_(x)], est_us=600)
COPY_BW = 2 * n / us * 1e6
READ_BW = COPY_BW
EMPTY_US = 0.0
if HAVE_TRITON:
    xi = x.view(torch.int32)
    out = torch.zeros(1, device=dev, dtype=torch.int32)
    best = 0.0
    for BL, IT, W in ((2048, 8, 4), (1024, 8, 4), (4096, 4, 8), (2048, 16, 8)):
        try:
            g = xi.numel() // (BL * IT)
            us, _ = bench([lambda: _read_kernel[(g,)](xi, out, n, BLOCK=BL, ITERS=IT, num_warps=W)], est_us=250, reps=3)
            best = max(best, n / us * 1e6)
        except Exception as ex:  # noqa: BLE001
            skip("read_bw", ex)
    READ_BW = best or COPY_BW
    try:
        EMPTY_US, _ = bench([lambda: _empty_kernel[(1,)](out)], est_us=6)
    except Exception as ex:  # noqa: BLE001
        skip("empty kernel", ex)
del x, y
torch.cuda.empty_cache()
print(
    f"# copy {COPY_BW / 1e12:.3f} TB/s (read+write)   read-only {READ_BW / 1e12:.3f} TB/s   empty kernel in a graph {EMPTY_US:.2f} us/node",
    flush=True,
)

for sh in SHAPES[args.shapes]:
    if left() < 12:
        skip(f"shape {sh}", "time budget")
        continue
    try:
        c = Case(*sh)
    except torch.cuda.OutOfMemoryError as ex:
        skip(f"shape {sh}", ex)
        continue
    t1 = time.time()
    for f in (do_fa4dsl, do_triton, do_fa3, do_flashinfer, do_torch, do_fa4):
        try:
            f(c)
        except Exception as ex:  # noqa: BLE001
            skip(f.__name__, f"[{c.name()}] {type(ex).__name__}: {ex}")
            if os.environ.get("TRACE"):
                traceback.print_exc()
    mine = [r for r in rows if r["shape"] == c.name() and r["ok"]]
    if mine:
        b0 = min(mine, key=lambda r: r["us"])
        print(
            f"# {c.name():16s} copies={c.ncopy:3d} {time.time() - t1:5.1f}s  best {b0['peer']} {b0['us']:.1f} us = {b0['gbs']:.0f} GB/s",
            flush=True,
        )
    del c
    torch.cuda.empty_cache()

# second pass: the peers that compile for a long time, with whatever budget is left
for sh in SHAPES[args.shapes]:
    if args.cache != "bf16" or sh not in FLEX_SHAPES or left() < 25 or (ONLY and not any(o.startswith(("flex", "xformers")) for o in ONLY)):
        continue
    c = Case(*sh)
    for f in (do_xformers, do_flex):
        try:
            f(c)
        except Exception as ex:  # noqa: BLE001
            skip(f.__name__, f"[{c.name()}] {type(ex).__name__}: {ex}")
    del c
    torch.cuda.empty_cache()

if args.json:
    with open(args.json, "w") as f:
        f.write(
            json.dumps(dict(kind="anchor", gpu=prop.name, sms=SMS, copy_bw=COPY_BW, read_bw=READ_BW, empty_us=EMPTY_US, skips=skips)) + "\n"
        )
        for r in rows:
            f.write(json.dumps(r) + "\n")

# compact table last: one line per shape, peers as columns sorted by how often they win
peers = sorted({r["peer"] for r in rows})
print("\n## us per call (percent of measured read-only bandwidth); '*' fastest, '!' wrong result")
for shn in dict.fromkeys(r["shape"] for r in rows):
    rs = sorted([r for r in rows if r["shape"] == shn], key=lambda r: r["us"])
    okr = [r for r in rs if r["ok"]]
    fl = rs[0]["floor_us"]
    print(
        f"{shn:16s} floor {fl:8.1f} | "
        + "  ".join(
            f"{'*' if okr and r is okr[0] else ''}{r['peer']} {r['us']:.1f} ({r['pct_of_read_bw']:.0f}%){'' if r['ok'] else '!'}"
            for r in rs
        )
    )
print(f"## skipped: {', '.join(f'{k} x{v[0]}' for k, v in skips.items()) or 'none'}   total {time.time() - T0:.0f} s")
