#!/usr/bin/env python3
"""The split-K (flash-decoding) combine as a kernel of its own: what a user would pick, side by side.

Input  o[P, rows, 128] f32 locally normalised partials, lse[P, rows] f32;  output bf16 [rows, 128]:
    w_p = exp(lse_p - max) / sum_q exp(lse_q - max);   out = sum_p w_p * o_p
Peers: torch eager, torch.compile, two Triton kernels (tuned), FlashAttention-3 flash_attn_combine,
FlashAttention-4 (CuTe DSL) flash_attn_combine, FlashInfer merge_states (takes only 16-bit partials:
half the bytes, marked) and, if libfi_merge_f32.so is given (FI_MERGE_SO=path), FlashInfer's kernels on f32.
Anchors: device copy of the same number of bytes, an empty kernel, read-only bandwidth.

hot  = the same buffers every call: partials sit in L2, as they do right after the split kernel wrote them
cold = rotate over >= 4 x L2 of buffers: partials come from HBM
fa4dsl's own kernels are measured in the same way if --ours names the folder that benchmarks/combine_standalone.py prepared.

Each number: one CUDA graph of many back-to-back calls, median over replays, us per call.
Check: relative L2 error against float64.

  python combine_peers.py [--cases main|quick] [--only triton,fa3,...] [--ours FOLDER] [--json FILE] [--budget SECONDS]
"""

# A script for a GPU machine, kept as it was measured with; its one-letter names are the shapes of the problem.
# ruff: noqa
import argparse, ctypes, json, os, time, warnings

os.environ.setdefault("PYTHONUNBUFFERED", "1")
warnings.filterwarnings("ignore")
import torch

T0 = time.time()
D = 128
DT = torch.bfloat16
LOG2E = 1.4426950408889634
ap = argparse.ArgumentParser()
ap.add_argument("--cases", default="main")
ap.add_argument("--only", default="")
ap.add_argument("--json", default="")
ap.add_argument("--ours", default="")
ap.add_argument("--budget", type=float, default=200.0)
args = ap.parse_args()
ONLY = [x for x in args.only.split(",") if x]

# (P, rows): rows = batch * q heads (* q tokens)
CASES = {
    "quick": [(8, 32), (8, 1024), (8, 8192)],
    "main": [
        (2, 32),
        (4, 32),
        (8, 32),
        (16, 32),
        (32, 32),
        (64, 32),
        (4, 256),
        (8, 256),
        (16, 256),
        (2, 1024),
        (4, 1024),
        (8, 1024),
        (2, 8192),
        (4, 8192),
        (8, 8192),
        (16, 8192),
        (8, 65536),
    ],
}
COMPILE_CASES = {(8, 32), (32, 32), (8, 256), (8, 1024), (8, 8192), (8, 65536)}

dev = torch.device("cuda")
prop = torch.cuda.get_device_properties(0)
SMS, L2 = prop.multi_processor_count, prop.L2_cache_size
ROT = max(4 * L2, 256 << 20)
rows_out, skips = [], {}


def left():
    return args.budget - (time.time() - T0)


def skip(name, why):
    why = " ".join(str(why).split())[:170]
    if name not in skips:
        skips[name] = [0, why]
        print(f"SKIP {name}: {why}", flush=True)
    skips[name][0] += 1


def bench(calls, est_us=5.0, reps=7):
    n = int(min(max(len(calls), 1000.0 / max(est_us, 1.0)), 400))
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
    ts = []
    for _ in range(reps):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        g.replay()
        b.record()
        b.synchronize()
        ts.append(a.elapsed_time(b) * 1e3)
    ts.sort()
    del g
    return ts[len(ts) // 2] / n


class Case:
    def __init__(self, P, R):
        self.P, self.R = P, R
        self.bytes = P * R * (D * 4 + 4) + R * D * 2
        self.n = int(min(max(1, -(-ROT // self.bytes)), 256))
        if self.n == 1:
            self.n = 2
        self.o = [torch.randn(P, R, D, device=dev) for _ in range(self.n)]
        self.lse = [torch.randn(P, R, device=dev) * 2.0 for _ in range(self.n)]
        w = torch.softmax(self.lse[0].double(), 0)
        self.ref = (w[:, :, None] * self.o[0].double()).sum(0)

    def err(self, out):
        x = out.reshape(self.R, D).double()
        return float((x - self.ref).norm() / self.ref.norm())


def run(c, peer, make, note="", bytes_=None):
    if (ONLY and not any(peer.startswith(o) for o in ONLY)) or left() < 3:
        return
    try:
        with torch.inference_mode():
            calls = [make(i) for i in range(c.n)]
            o = calls[0]()
            torch.cuda.synchronize()
            e = c.err(o)
            est = max(2.0, (bytes_ or c.bytes) / 3e6)
            hot = bench(calls[:1], est)
            cold = bench(calls, est)
        by = bytes_ or c.bytes
        ok = e == e and e < 8e-3
        rows_out.append(
            dict(
                P=c.P,
                rows=c.R,
                peer=peer,
                hot_us=round(hot, 3),
                cold_us=round(cold, 3),
                bytes=by,
                hot_gbs=round(by / hot / 1e3, 1),
                cold_gbs=round(by / cold / 1e3, 1),
                rel_err=float(f"{e:.2e}"),
                ok=ok,
                note=note,
            )
        )
        if not ok:
            print(f"WRONG {peer} P={c.P} rows={c.R} rel_err={e:.3e}", flush=True)
    except Exception as ex:  # noqa: BLE001
        skip(peer, f"[P={c.P} rows={c.R}] {type(ex).__name__}: {ex}")
        torch.cuda.synchronize()


# ------------------------------------------------------------------ Triton
try:
    import triton
    import triton.language as tl

    HAVE_TRITON = True
except Exception as ex:  # noqa: BLE001
    HAVE_TRITON = False
    skip("triton", ex)

if HAVE_TRITON:

    @triton.jit
    def _empty(X):
        pass

    @triton.jit
    def _read(X, OUT, BLOCK: tl.constexpr, ITERS: tl.constexpr):
        acc = tl.zeros([BLOCK], tl.int32)
        base = tl.program_id(0).to(tl.int64) * (BLOCK * ITERS)
        for i in tl.static_range(ITERS):
            acc ^= tl.load(X + base + i * BLOCK + tl.arange(0, BLOCK))
        r = tl.sum(acc, 0)
        if r == 0x7EADBEEF:
            tl.store(OUT, r)

    @triton.jit
    def _tile(OP, LSE, O, R, P: tl.constexpr, SP: tl.constexpr, DH: tl.constexpr, BD: tl.constexpr):
        """one row, BD columns, all partials as one [SP, BD] tile"""
        r = tl.program_id(0)
        offs_s = tl.arange(0, SP)
        offs_d = tl.program_id(1) * BD + tl.arange(0, BD)
        ls = tl.load(LSE + offs_s * R + r, mask=offs_s < P, other=float("-inf"))
        po = tl.load(OP + (offs_s[:, None].to(tl.int64) * R + r) * DH + offs_d[None, :], mask=offs_s[:, None] < P, other=0.0)
        w = tl.math.exp2((ls - tl.max(ls, 0)) * 1.4426950408889634)
        w = w / tl.sum(w, 0)
        tl.store(O + r.to(tl.int64) * DH + offs_d, tl.sum(po * w[:, None], 0).to(tl.bfloat16))

    @triton.jit
    def _rows(OP, LSE, O, R, P: tl.constexpr, DH: tl.constexpr, BR: tl.constexpr):
        """BR rows, all columns, partials unrolled"""
        r = tl.program_id(0) * BR + tl.arange(0, BR)
        ok = r < R
        d = tl.arange(0, DH)
        m = tl.full([BR], float("-inf"), tl.float32)
        for p in tl.static_range(P):
            m = tl.maximum(m, tl.load(LSE + p * R + r, mask=ok, other=float("-inf")))
        m = tl.where(ok, m, 0.0)
        den = tl.zeros([BR], tl.float32)
        acc = tl.zeros([BR, DH], tl.float32)
        for p in tl.static_range(P):
            w = tl.math.exp2((tl.load(LSE + p * R + r, mask=ok, other=float("-inf")) - m) * 1.4426950408889634)
            den += w
            base = OP + (r.to(tl.int64) + p * R.to(tl.int64)) * DH
            acc += w[:, None] * tl.load(base[:, None] + d[None, :], mask=ok[:, None], other=0.0)
        den = tl.where(ok, den, 1.0)
        tl.store(O + r.to(tl.int64)[:, None] * DH + d[None, :], (acc / den[:, None]).to(tl.bfloat16), mask=ok[:, None])


def next_pow2(x):
    return 1 << max(0, (x - 1).bit_length())


def do_triton(c):
    if not HAVE_TRITON or (ONLY and not any(o.startswith("triton") for o in ONLY)):
        return
    SP = next_pow2(c.P)
    cand = []
    for BD, W in ((128, 4), (64, 2), (32, 1), (32, 2), (128, 2)):
        if SP * BD <= 16384:

            def mk(i, BD=BD, W=W):
                out = torch.empty(c.R, D, device=dev, dtype=DT)
                return lambda: (_tile[(c.R, D // BD)](c.o[i], c.lse[i], out, c.R, P=c.P, SP=SP, DH=D, BD=BD, num_warps=W), out)[1]

            cand.append((f"tile BD{BD} w{W}", mk))
    if c.P <= 16:
        for BR, W in ((1, 1), (2, 1), (4, 4), (8, 4)):
            if BR <= c.R:

                def mk(i, BR=BR, W=W):
                    out = torch.empty(c.R, D, device=dev, dtype=DT)
                    return lambda: (_rows[(-(-c.R // BR),)](c.o[i], c.lse[i], out, c.R, P=c.P, DH=D, BR=BR, num_warps=W), out)[1]

                cand.append((f"rows BR{BR} w{W}", mk))
    best = {}
    with torch.inference_mode():
        for lab, mk in cand:
            if left() < 8:
                break
            try:
                calls = [mk(i) for i in range(c.n)]
                est = max(2.0, c.bytes / 3e6)
                for kind, cs in (("hot", calls[:1]), ("cold", calls)):
                    us = bench(cs, est, reps=2)
                    if kind not in best or us < best[kind][0]:
                        best[kind] = (us, lab, mk)
            except Exception as ex:  # noqa: BLE001
                skip(f"triton {lab}", f"[P={c.P} rows={c.R}] {type(ex).__name__}: {ex}")
                torch.cuda.synchronize()
    if "hot" in best:
        run(c, "triton_besthot", best["hot"][2], best["hot"][1])
    if "cold" in best and best["cold"][1] != best["hot"][1]:
        run(c, "triton_bestcold", best["cold"][2], best["cold"][1])


# ------------------------------------------------------------------ fa4dsl
def do_fa4dsl(c):
    """Every prepared variant for this P, the best hot and the best cold one measured in full, as for Triton."""
    import glob

    if not args.ours or (ONLY and not any(o.startswith("fa4dsl") for o in ONLY)):
        return
    from fa4dsl.runtime import load

    best = {}
    for path in sorted(glob.glob(f"{args.ours}/partials_p{c.P}_*.fa4")):
        label = os.path.basename(path)[:-4].partition(f"partials_p{c.P}_")[2]
        rows_per_block = int(label.partition("_")[0][1:])
        if rows_per_block > 8 * c.R or left() < 8:
            continue
        kernel = load(path)[-(-c.R // rows_per_block)]
        lse_out = torch.empty(1, device=dev)

        def mk(i, kernel=kernel, lse_out=lse_out):
            out = torch.empty(c.R, D, device=dev, dtype=DT)
            return lambda: (kernel(c.o[i], c.lse[i], out, lse_out, c.R), out)[1]

        try:
            with torch.inference_mode():
                calls = [mk(i) for i in range(c.n)]
                est = max(2.0, c.bytes / 3e6)
                for kind, cs in (("hot", calls[:1]), ("cold", calls)):
                    us = bench(cs, est, reps=2)
                    if kind not in best or us < best[kind][0]:
                        best[kind] = (us, label, mk)
        except Exception as ex:  # noqa: BLE001
            skip(f"fa4dsl {label}", f"[P={c.P} rows={c.R}] {type(ex).__name__}: {ex}")
            torch.cuda.synchronize()
    if "hot" in best:
        run(c, "fa4dsl_besthot", best["hot"][2], best["hot"][1])
    if "cold" in best and best["cold"][1] != best["hot"][1]:
        run(c, "fa4dsl_bestcold", best["cold"][2], best["cold"][1])


# ------------------------------------------------------------------ torch
def eager(o, lse):
    m = lse.amax(0)
    w = torch.exp(lse - m)
    w = w / w.sum(0)
    return (w.unsqueeze(-1) * o).sum(0).to(DT)


def do_torch(c):
    run(c, "torch_eager", lambda i: lambda: eager(c.o[i], c.lse[i]))
    if (c.P, c.R) in COMPILE_CASES and left() > 30 and (not ONLY or any(o.startswith("torch") for o in ONLY)):
        torch._dynamo.reset()
        fn = torch.compile(eager, dynamic=False)
        run(c, "torch_compile", lambda i: lambda: fn(c.o[i], c.lse[i]))


# ------------------------------------------------------------------ FlashAttention-3 / 4
FA = []
for modname, label in (
    ("fa3_fwd_interface", "fa3_combine"),
    ("flash_attn_interface", "fa3ts_combine"),
    ("flash_attn.cute.interface", "fa4_combine"),
):
    try:
        import importlib

        FA.append((label, importlib.import_module(modname).flash_attn_combine))
    except Exception as ex:  # noqa: BLE001
        skip(f"{label} ({modname})", f"{type(ex).__name__}: {ex}")


def do_fa(c):
    H = 32
    b = c.R // H
    for label, fn in FA:

        def make(i):
            op = c.o[i].view(c.P, b, 1, H, D)
            # kernel wants lse contiguous along seqlen: [P, b, h, s] storage seen as [P, b, s, h]
            ls = c.lse[i].view(c.P, b, H, 1).transpose(-1, -2)
            out = torch.empty(b, 1, H, D, device=dev, dtype=DT)

            def call():
                r = fn(op, ls, out=out, out_dtype=DT)
                return r[0] if isinstance(r, (tuple, list)) else r

            return call

        run(c, label, make, "f32 partials")


# ------------------------------------------------------------------ FlashInfer
try:
    import flashinfer
except Exception as ex:  # noqa: BLE001
    flashinfer = None
    skip("flashinfer", f"{type(ex).__name__}: {ex}")
FI_SO = None
_so = os.environ.get("FI_MERGE_SO", "")
if _so:
    try:
        FI_SO = ctypes.CDLL(_so)
    except Exception as ex:  # noqa: BLE001
        skip("flashinfer f32 (.so)", ex)
else:
    skip("flashinfer f32 (.so)", "FI_MERGE_SO not set")


def do_flashinfer(c):
    H = 32
    seq = c.R // H
    need = (flashinfer is not None) or FI_SO is not None
    if not need or (ONLY and not any(o.startswith("flashinfer") for o in ONLY)):
        return
    # FlashInfer layout: [seq, P, heads, d], s in log2
    o2 = [x.view(c.P, seq, H, D).permute(1, 0, 2, 3).contiguous() for x in c.o]
    s2 = [(x.view(c.P, seq, H).permute(1, 0, 2) * LOG2E).contiguous() for x in c.lse]
    if flashinfer is not None:
        ob = [x.to(DT) for x in o2]
        by = c.P * c.R * (D * 2 + 4) + c.R * D * 2
        run(c, "flashinfer_merge_bf16in", lambda i: lambda: flashinfer.merge_states(ob[i], s2[i])[0], "16-bit partials", by)
        del ob
    if FI_SO is not None:
        indptr = torch.arange(seq + 1, device=dev, dtype=torch.int32) * c.P
        vp = ctypes.c_void_p

        def mk(kind):
            def make(i):
                out = torch.empty(seq, H, D, device=dev, dtype=DT)

                def call():
                    st = vp(torch.cuda.current_stream().cuda_stream)
                    if kind == "varlen":
                        rc = FI_SO.fi_varlen_merge_f32(
                            vp(o2[i].data_ptr()), vp(s2[i].data_ptr()), vp(indptr.data_ptr()), vp(out.data_ptr()), seq, H, D, 0, st
                        )
                    else:
                        rc = FI_SO.fi_merge_states_f32(vp(o2[i].data_ptr()), vp(s2[i].data_ptr()), vp(out.data_ptr()), c.P, seq, H, D, st)
                    if rc:
                        raise RuntimeError(f"cuda error {rc}")
                    return out

                return call

            return make

        run(c, "flashinfer_varlen_f32", mk("varlen"), "PersistentVariableLengthMergeStates<f32,bf16>")
        run(c, "flashinfer_merge_f32", mk("merge"), "MergeStates<f32,bf16>")


# ------------------------------------------------------------------ anchors and main
print(f"# {prop.name} SMs={SMS} L2={L2 >> 20}MiB torch={torch.__version__} triton={triton.__version__ if HAVE_TRITON else '-'}", flush=True)
n = 1 << 30
x = torch.randint(0, 255, (n,), device=dev, dtype=torch.uint8)
y = torch.empty_like(x)
COPY_BW = 2 * n / bench([lambda: y.copy_(x)], 600) * 1e6
READ_BW, EMPTY = COPY_BW, 0.0
if HAVE_TRITON:
    xi, out1 = x.view(torch.int32), torch.zeros(1, device=dev, dtype=torch.int32)
    for BL, IT, W in ((2048, 8, 4), (4096, 4, 8)):
        try:
            g = xi.numel() // (BL * IT)
            READ_BW = max(
                READ_BW if READ_BW != COPY_BW else 0,
                n / bench([lambda: _read[(g,)](xi, out1, BLOCK=BL, ITERS=IT, num_warps=W)], 250, 3) * 1e6,
            )
        except Exception as ex:  # noqa: BLE001
            skip("read_bw", ex)
    EMPTY = bench([lambda: _empty[(1,)](out1)], 3)
del x, y
torch.cuda.empty_cache()
print(
    f"# copy {COPY_BW / 1e12:.3f} TB/s (read+write)   read-only {READ_BW / 1e12:.3f} TB/s   empty kernel in a graph {EMPTY:.2f} us/node",
    flush=True,
)

for P, R in CASES[args.cases]:
    if left() < 8:
        skip(f"case P={P} rows={R}", "time budget")
        continue
    c = Case(P, R)
    # a plain copy that moves the same number of bytes in total (half read, half written)
    half = c.bytes // 2
    src = [torch.empty(half, dtype=torch.uint8, device=dev).random_() for _ in range(c.n)]
    dst = [torch.empty_like(s) for s in src]
    try:
        cp = [lambda i=i: dst[i].copy_(src[i]) for i in range(c.n)]
        est = max(2.0, c.bytes / 3e6)
        h, k = bench(cp[:1], est), bench(cp, est)
        rows_out.append(
            dict(
                P=P,
                rows=R,
                peer="copy_same_bytes",
                hot_us=round(h, 3),
                cold_us=round(k, 3),
                bytes=c.bytes,
                hot_gbs=round(c.bytes / h / 1e3, 1),
                cold_gbs=round(c.bytes / k / 1e3, 1),
                rel_err=0.0,
                ok=True,
                note="anchor",
            )
        )
    except Exception as ex:  # noqa: BLE001
        skip("copy", ex)
    del src, dst
    for f in (do_fa4dsl, do_triton, do_fa, do_flashinfer, do_torch):
        try:
            f(c)
        except Exception as ex:  # noqa: BLE001
            skip(f.__name__, f"[P={P} rows={R}] {type(ex).__name__}: {ex}")
    del c
    torch.cuda.empty_cache()

if args.json:
    with open(args.json, "w") as f:
        f.write(
            json.dumps(dict(kind="anchor", gpu=prop.name, sms=SMS, copy_bw=COPY_BW, read_bw=READ_BW, empty_us=EMPTY, skips=skips)) + "\n"
        )
        for r in rows_out:
            f.write(json.dumps(r) + "\n")

print("\n## hot/cold us per call (cold GB/s); '*' fastest hot, '!' wrong; floor = bytes / copy bandwidth")
for P, R in dict.fromkeys((r["P"], r["rows"]) for r in rows_out):
    rs = [r for r in rows_out if (r["P"], r["rows"]) == (P, R)]
    real = sorted([r for r in rs if r["peer"] != "copy_same_bytes" and r["ok"]], key=lambda r: r["hot_us"])
    by = P * R * (D * 4 + 4) + R * D * 2
    print(
        f"P{P:<3d} rows {R:<6d} {by / 1e6:8.2f} MB floor {by / COPY_BW * 1e6:7.2f} | "
        + "  ".join(
            f"{'*' if real and r is real[0] else ''}{r['peer']} {r['hot_us']:.2f}/{r['cold_us']:.2f} ({r['cold_gbs']:.0f}){'' if r['ok'] else '!'}"
            for r in sorted(rs, key=lambda r: r["hot_us"])
        )
    )
if args.ours:
    print("\n## fa4dsl: variant; over tuned Triton, over a copy of the same bytes (hot, cold; below 1 is faster)")
    for P, R in dict.fromkeys((r["P"], r["rows"]) for r in rows_out):
        of = {}
        for r in rows_out:
            if (r["P"], r["rows"]) == (P, R) and r["ok"]:
                for kind in ("hot", "cold"):
                    name = r["peer"].split("_best")[0] if "_best" in r["peer"] else r["peer"]
                    if (name, kind) not in of or r[f"{kind}_us"] < of[name, kind][0]:
                        of[name, kind] = (r[f"{kind}_us"], r["note"])
        if ("fa4dsl", "hot") not in of:
            continue
        cells = [
            f"{kind} {of['fa4dsl', kind][0]:.2f} us ({of['fa4dsl', kind][1]}) triton {of['fa4dsl', kind][0] / of['triton', kind][0]:.3f}"
            f" copy {of['fa4dsl', kind][0] / of['copy_same_bytes', kind][0]:.3f}"
            for kind in ("hot", "cold")
            if ("triton", kind) in of and ("copy_same_bytes", kind) in of
        ]
        print(f"P{P:<3d} rows {R:<6d} " + "   ".join(cells))
print(f"## skipped: {', '.join(f'{k} x{v[0]}' for k, v in skips.items()) or 'none'}   total {time.time() - T0:.0f} s")
