"""Small programs for points that the ISA's text leaves open. Each stands in a module of its own, as some may fault.

What an H200 answered is recorded in docs/hardware.md; where the answer is a value, tests/simulator/fuzz holds the simulator to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hardware.builder import Builder
from hardware.faults import faults
from hardware.memory import wait
from hardware.program import Program

NAN64 = ("0x7ff0000000000001", "0x7ff8000000000000", "0xfff4a5a5a5a5a5a5", "0x7fffffffffffffff", "0xfff8000000000000")
NAN32 = ("0x7f800001", "0x7fc00000", "0xffa5a5a5", "0x7fffffff", "0xffc00000")
NAN16 = ("0x7f81", "0x7fc0", "0xffa5", "0x7fff", "0xffc0")
NANH = ("0x7c01", "0x7e00", "0xfda5", "0x7fff", "0xfe00")


def _each(name: str, mnemonics: Sequence[str], width: int, columns: Sequence[tuple[str, ...]], result: int | None = None) -> Program:
    """Every mnemonic on every column of operands; the operands come from registers that the assembler cannot see through."""
    builder = Builder(name, "question", 0, block=32, check=False)
    zero = {16: builder.fresh(16), 32: builder.fresh(32), 64: builder.fresh(64)}
    hidden = builder.load("i32")
    never = builder.fresh(1)
    builder.say(f"mov.b32 {zero[32]}, 0; setp.eq.u32 {never}, {builder.thread}, 99; @{never} mov.b32 {zero[32]}, {hidden};")
    builder.say(f"cvt.u16.u32 {zero[16]}, {zero[32]}; cvt.u64.u32 {zero[64]}, {zero[32]};")
    for mnemonic in mnemonics:
        for column in columns:
            operands = []
            for value in column:
                register = builder.fresh(width)
                builder.say(f"xor.b{width} {register}, {zero[width]}, {value};")
                operands.append(register)
            found = builder.fresh(result or width)
            line = builder.say(f"{mnemonic} {found}, {', '.join(operands)};")
            builder.save(found, line, f"{mnemonic} {', '.join(column)}")
    return builder.finish()


def values() -> Iterator[Program]:
    """Tininess, NaN payloads, division by zero."""
    pairs = [
        ("0x00800000", "0x3f7fffff"),
        ("0x00800001", "0x3f7fffff"),
        ("0x00800000", "0x3f7ffffe"),
        ("0x01000000", "0x3effffff"),
        ("0x80800000", "0x3f7fffff"),
    ]
    yield _each("q_tiny_mul", ["mul.rn.ftz.f32", "mul.rz.ftz.f32", "mul.rp.ftz.f32", "mul.rm.ftz.f32", "mul.rn.f32"], 32, pairs)
    triples = [(*pair, "0x0") for pair in pairs]
    yield _each("q_tiny_fma", ["fma.rn.ftz.f32", "fma.rz.ftz.f32", "fma.rp.ftz.f32", "fma.rm.ftz.f32", "fma.rn.f32"], 32, triples)
    yield _each(
        "q_tiny_div",
        ["div.rn.ftz.f32", "div.rp.ftz.f32"],
        32,
        [("0x00800000", "0x3f800001"), ("0x00ffffff", "0x40000000"), ("0x00fffffe", "0x40000000")],
    )
    yield _each(
        "q_tiny_cvt",
        ["cvt.rn.ftz.f32.f64", "cvt.rz.ftz.f32.f64", "cvt.rp.ftz.f32.f64"],
        64,
        [("0x380fffffffffffff",), ("0x380ffffff0000000",), ("0x380fffffe0000000",)],
        32,
    )
    # below the least normal number, but 24 digits of any exponent round up to it
    late = [("0x00fffffe", "0x3f000001"), ("0x00fffffd", "0x3f000001"), ("0x00ffffff", "0x3f000001"), ("0x80fffffe", "0x3f000001")]
    yield _each("q_late_mul", ["mul.rn.ftz.f32", "mul.rz.ftz.f32", "mul.rp.ftz.f32", "mul.rm.ftz.f32", "mul.rn.f32"], 32, late)
    yield _each("q_late_fma", ["fma.rn.ftz.f32", "fma.rp.ftz.f32", "fma.rm.ftz.f32"], 32, [(*pair, "0x0") for pair in late])
    yield _each(
        "q_late_div",
        ["div.rn.ftz.f32", "div.rp.ftz.f32"],
        32,
        [("0x00fffffd", "0x3ffffffd"), ("0x00fffffe", "0x3fffffff"), ("0x00fffffc", "0x3ffffffd")],
    )
    yield _each("q_late_rcp", ["rcp.rn.ftz.f32", "rcp.rp.ftz.f32"], 32, [("0x7e800001",), ("0x7e800000",), ("0x7e800002",)])
    yield _each("q_late_half", ["mul.rn.ftz.f16"], 16, [("0x07fe", "0x3801"), ("0x07ff", "0x3801"), ("0x87fe", "0x3801")])
    yield _each(
        "q_late_half_fma", ["fma.rn.ftz.f16"], 16, [("0x07fe", "0x3801", "0x0"), ("0x0400", "0x3bff", "0x0"), ("0x87fe", "0x3801", "0x0")]
    )
    yield _each("q_tiny_half", ["mul.rn.ftz.f16"], 16, [("0x0400", "0x3bff"), ("0x0401", "0x3bff"), ("0x0400", "0x3bfe")])
    one = "0x3ff0000000000000"
    two_f64 = [(nan, one) for nan in NAN64] + [(one, nan) for nan in NAN64] + [(NAN64[0], NAN64[2]), (NAN64[2], NAN64[0])]
    yield _each("q_nan_f64", ["add.rn.f64", "mul.rn.f64", "sub.rn.f64", "min.f64", "max.f64", "div.rn.f64"], 64, two_f64)
    three = [(nan, one, one) for nan in NAN64] + [(one, one, nan) for nan in NAN64] + [(NAN64[0], NAN64[1], NAN64[2])]
    yield _each("q_nan_f64_fma", ["fma.rn.f64", "fma.rz.f64"], 64, three)
    yield _each("q_nan_f64_one", ["abs.f64", "neg.f64", "sqrt.rn.f64", "rcp.rn.f64"], 64, [(nan,) for nan in NAN64])
    yield _each("q_nan_f64_made", ["sqrt.rn.f64"], 64, [("0xbff0000000000000",)])
    yield _each("q_nan_f64_down", ["cvt.rn.f32.f64"], 64, [(nan,) for nan in NAN64], 32)
    yield _each("q_nan_f64_same", ["cvt.rni.f64.f64", "cvt.rzi.f64.f64"], 64, [(nan,) for nan in NAN64])
    yield _each(
        "q_nan_f32",
        ["abs.f32", "neg.f32", "abs.ftz.f32", "neg.ftz.f32", "sqrt.rn.f32", "rcp.rn.f32", "cvt.rni.f32.f32", "cvt.sat.f32.f32"],
        32,
        [(nan,) for nan in NAN32],
    )
    yield _each("q_nan_bf16", ["abs.bf16", "neg.bf16"], 16, [(nan,) for nan in NAN16])
    yield _each("q_nan_f16", ["abs.f16", "neg.f16", "cvt.rni.f16.f16"], 16, [(nan,) for nan in NANH])
    for bits in (16, 32, 64):
        top = hex(1 << (bits - 1))
        zeros = [("0x0", "0x0"), ("0x1", "0x0"), ("0x5", "0x0"), (hex((1 << bits) - 7), "0x0"), (top, "0x0"), (top, hex((1 << bits) - 1))]
        yield _each(f"q_div_{bits}", [f"{name}.{sign}{bits}" for name in ("div", "rem") for sign in ("u", "s")], bits, zeros)


def lanes() -> Iterator[Program]:
    """Shuffles from, and reductions with, lanes that do not take part."""
    builder = Builder("q_inactive", "question", 0, block=32, check=False)
    value = builder.fresh(32)
    builder.say(f"add.u32 {value}, {builder.lane_index}, 1000;")
    for index, text in enumerate(
        [
            "shfl.sync.idx.b32 {r}, {v}, 20, 31, 0xffff;",
            "shfl.sync.down.b32 {r}, {v}, 8, 31, 0xffff;",
            "shfl.sync.idx.b32 {r}, {v}, 20, 31, -1;",
        ]
    ):
        result, low = builder.fresh(32), builder.fresh(1)
        skip = builder.label()
        builder.say(f"mov.u32 {result}, 7; setp.ge.u32 {low}, {builder.lane_index}, 16;")
        if index < 2:
            builder.say(f"@{low} bra {skip};")
        line = builder.say(text.format(r=result, v=value))
        builder.say(f"{skip}: bar.warp.sync -1;")
        builder.save(result, line, text)
    yield builder.finish()
    builder = Builder("q_exited", "question", 0, block=32, check=False)
    value, gone = builder.fresh(32), builder.fresh(1)
    builder.say(f"add.u32 {value}, {builder.lane_index}, 1000; setp.ge.u32 {gone}, {builder.lane_index}, 16;")
    builder.say(f"@{gone} ret;")
    for text in (
        "redux.sync.add.u32 {r}, {v}, -1;",
        "shfl.sync.idx.b32 {r}, {v}, 20, 31, -1;",
        "shfl.sync.bfly.b32 {r}, {v}, 16, 31, -1;",
        "vote.sync.ballot.b32 {r}, 1, -1;",
        "match.any.sync.b32 {r}, 5, -1;",
    ):
        result = builder.fresh(32)
        if "ballot" in text:
            yes = builder.fresh(1)
            builder.say(f"setp.lt.u32 {yes}, {builder.lane_index}, 40;")
            text = text.replace(" 1,", f" {yes},")
        if "match" in text:
            five = builder.fresh(32)
            builder.say(f"mov.u32 {five}, 5;")
            text = text.replace(" 5,", f" {five},")
        line = builder.say(text.format(r=result, v=value))
        builder.save(result, line, text)
    yield builder.finish()


def shared_places() -> Iterator[Program]:
    """Where dynamic shared memory begins behind static arrays of different sizes."""
    for size in (0, 4, 20, 100, 1000, 1025):
        for alignment in (4, 16, 64, 128, 1024):
            builder = Builder(f"q_dynamic_{size}_{alignment}", "question", 0, block=32, check=False)
            builder.before.append(f".extern .shared .align {alignment} .b8 dyn_{size}_{alignment}[];\n")
            first, second, word = builder.fresh(32), builder.fresh(32), builder.fresh(32)
            if size:
                builder.declarations.append(f"\t.shared .align 4 .b8 fixed[{size}];")
                builder.say(f"mov.u32 {first}, fixed; st.shared.b32 [{first}], {builder.lane_index}; ld.shared.b32 {word}, [{first}];")
            else:
                builder.say(f"mov.u32 {first}, 0; mov.u32 {word}, 0;")
            line = builder.say(f"mov.u32 {second}, dyn_{size}_{alignment};")
            builder.save(first, line, f"static address, size {size}, extern align {alignment}")
            builder.save(second, line, f"dynamic address, size {size}, extern align {alignment}")
            program = builder.finish()
            program.dynamic = 256
            yield program


def copies() -> Iterator[Program]:
    """Tensor copies to destinations aligned to less than 128 bytes; NaN fill; st.async to the own CTA; subnormals in reductions."""
    for direction in ("load", "store"):
        for at in (16, 32, 48, 64, 96, 128):
            builder = Builder(f"q_align_{direction}_{at}", "question", at, block=32, check=False)
            tile, bar, first = _tile(builder, 2048)
            start = builder.reserve("i32", 256) if direction == "load" else builder.output(16, 64)
            buffer = "x" if direction == "load" else "o"
            builder.maps.append(_plain_map("int32", buffer, start, [16, 16], [64], [16, 4], "none", "zero"))
            pointer = builder.fresh(64)
            builder.say(
                f"mov.u64 {pointer}, map0; cvta.param.u64 {pointer}, {pointer}; add.u32 {tile}, {tile}, {at}; fence.proxy.async; bar.sync 0;"
            )
            if direction == "load":
                line = builder.say(
                    f"@{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], 256; @{first} cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{tile}], [{pointer}, {{0, 4}}], [{bar}];"
                )
                wait(builder, bar, "0")
                builder.say(f"sub.u32 {tile}, {tile}, {at};")
                builder.dump_shared(tile, 1024, f"load to +{at}", line)
            else:
                line = builder.say(
                    f"@{first} cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [{pointer}, {{0, 4}}], [{tile}]; @{first} cp.async.bulk.commit_group; @{first} cp.async.bulk.wait_group 0;"
                )
                builder.remember(start, 4, 256, line, f"store from +{at}")
            yield builder.finish()
    for dtype, size in (("float16", 2), ("bfloat16", 2), ("float32", 4), ("float64", 8)):
        builder = Builder(f"q_fill_{dtype}", "question", 0, block=32, check=False)
        tile, bar, first = _tile(builder, 2048)
        start = builder.reserve("i32", 256)
        columns = 64 // size
        builder.maps.append(_plain_map(dtype, "x", start, [columns, 4], [64], [columns, 4], "none", "nan"))
        pointer = builder.fresh(64)
        builder.say(f"mov.u64 {pointer}, map0; cvta.param.u64 {pointer}, {pointer}; fence.proxy.async; bar.sync 0;")
        line = builder.say(
            f"@{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], 256; @{first} cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [{tile}], [{pointer}, {{0, 3}}], [{bar}];"
        )
        wait(builder, bar, "0")
        builder.dump_shared(tile, 256, f"NaN fill of {dtype}", line)
        yield builder.finish()
    builder = Builder("q_own_st_async", "question", 0, block=32, check=False)
    builder.cluster, builder.threads = 2, 64
    tile, bar, first = _tile(builder, 2048)
    rank, own, own_bar = builder.fresh(32), builder.fresh(32), builder.fresh(32)
    builder.say(
        f"mov.u32 {rank}, %cluster_ctarank; mapa.shared::cluster.u32 {own}, {tile}, {rank}; mapa.shared::cluster.u32 {own_bar}, {bar}, {rank};"
    )
    builder.say(
        f"mad.lo.u32 {own}, {builder.lane_index}, 4, {own}; bar.sync 0; @{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], 128; bar.sync 0;"
    )
    line = builder.say(f"st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [{own}], {builder.thread}, [{own_bar}];")
    wait(builder, bar, "0")
    builder.dump_shared(tile, 256, "st.async to the own CTA", line)
    builder.say("barrier.cluster.arrive; barrier.cluster.wait;")
    yield builder.finish()
    yield _own_bulk()


def _own_bulk() -> Program:
    """cp.async.bulk from shared memory to the own CTA's."""
    builder = Builder("q_own_bulk", "question", 0, block=32, check=False)
    builder.cluster, builder.threads = 2, 64
    tile, bar, first = _tile(builder, 2048)
    rank, own, own_bar = builder.fresh(32), builder.fresh(32), builder.fresh(32)
    builder.say(
        f"mov.u32 {rank}, %cluster_ctarank; mapa.shared::cluster.u32 {own}, {tile}, {rank}; mapa.shared::cluster.u32 {own_bar}, {bar}, {rank};"
    )
    builder.say(
        f"add.u32 {own}, {own}, 1024; fence.proxy.async; bar.sync 0; @{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], 256;"
    )
    line = builder.say(
        f"@{first} cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [{own}], [{tile}], 256, [{own_bar}];"
    )
    wait(builder, bar, "0")
    builder.dump_shared(tile, 2048, "bulk copy to the own CTA", line)
    builder.say("barrier.cluster.arrive; barrier.cluster.wait;")
    return builder.finish()


def _plain_map(
    dtype: str, buffer: str, offset: int, sizes: list[int], strides: list[int], box: list[int], swizzle: str, fill: str
) -> dict[str, object]:
    return {
        "buffer": buffer,
        "dtype": dtype,
        "sizes": sizes,
        "strides_bytes": strides,
        "box": box,
        "element_strides": [1] * len(sizes),
        "swizzle": swizzle,
        "oob_fill": fill,
        "offset": offset,
    }


def _tile(builder: Builder, size: int) -> tuple[str, str, str]:
    """A tile filled with word numbers, a barrier of count 1, and the predicate of thread 0."""
    builder.declarations.append(f"\t.shared .align 1024 .b8 tile{builder.name}[{size}]; .shared .align 8 .b64 bar{builder.name};")
    tile, bar, first, index, place, more = (
        *(builder.fresh(32) for _ in range(2)),
        builder.fresh(1),
        builder.fresh(32),
        builder.fresh(32),
        builder.fresh(1),
    )
    top = builder.label()
    builder.say(f"mov.u32 {tile}, tile{builder.name}; mov.u32 {bar}, bar{builder.name}; setp.eq.u32 {first}, {builder.lane_index}, 0;")
    builder.say(f"@{first} mbarrier.init.shared.b64 [{bar}], 1; mov.u32 {index}, {builder.lane_index};")
    builder.say(
        f"{top}: mad.lo.u32 {place}, {index}, 4, {tile}; st.shared.b32 [{place}], {index}; add.u32 {index}, {index}, 32; setp.lt.u32 {more}, {index}, {size // 4}; @{more} bra {top};"
    )
    return tile, bar, first


def times() -> Iterator[Program]:
    """How long try_wait sleeps on a phase that never ends (clock cycles and nanoseconds), without and with a hint."""
    for hint in (None, 0, 1000, 100_000, 1_000_000, 50_000_000):
        builder = Builder(f"q_try_wait_{hint}", "question", 0, block=32, check=False)
        _, bar, _ = _tile(builder, 1024)
        begin, end, begin_ns, end_ns, done = (*(builder.fresh(64) for _ in range(4)), builder.fresh(1))
        builder.say(f"bar.sync 0; mov.u64 {begin}, %clock64; mov.u64 {begin_ns}, %globaltimer;")
        tail = "" if hint is None else f", {hint}"
        line = builder.say(f"mbarrier.try_wait.parity.shared::cta.b64 {done}, [{bar}], 0{tail};")
        builder.say(
            f"mov.u64 {end}, %clock64; mov.u64 {end_ns}, %globaltimer; sub.u64 {end}, {end}, {begin}; sub.u64 {end_ns}, {end_ns}, {begin_ns};"
        )
        builder.save(done, line, "answer")
        builder.save(end, line, "cycles")
        builder.save(end_ns, line, "nanoseconds")
        yield builder.finish()


def base_offsets() -> Iterator[Program]:
    """wgmma on tiles that start off the swizzle's pattern, with the descriptor's base offset 0 and as the ISA's formula has it."""
    for span, code in ((128, 1), (64, 2), (32, 3)):
        for step in range(0, 8, 1 if span == 128 else 2):
            for offset in sorted({0, step, 1}):
                builder = Builder(f"q_base_{span}_{step}_{offset}", "question", span, block=128, check=False)
                builder.declarations.append(f"\t.shared .align 1024 .b8 tile{builder.name}[4096];")
                tile, own, descriptor = builder.fresh(32), builder.fresh(32), builder.fresh(64)
                builder.say(f"mov.u32 {tile}, tile{builder.name}; mad.lo.u32 {own}, {builder.lane_index}, 4, {tile};")
                for at in range(0, 4096, 512):
                    builder.say(f"st.shared.b32 [{own}+{at}], {builder.load('whole_bf16')};")
                a, d = [builder.load("whole_bf16") for _ in range(4)], [builder.fresh(32) for _ in range(4)]
                fixed = 1 << 16 | (8 * span >> 4) << 32 | offset << 49 | code << 62
                word, scale = builder.fresh(32), builder.fresh(1)
                builder.say(f"setp.ne.u32 {scale}, 1, 0;")
                builder.say(f"add.u32 {word}, {tile}, {128 * step}; shr.u32 {word}, {word}, 4; and.b32 {word}, {word}, 0x3fff;")
                builder.say(f"cvt.u64.u32 {descriptor}, {word}; or.b64 {descriptor}, {descriptor}, {fixed:#x};")
                builder.say(
                    f"fence.proxy.async; bar.sync 0; mov.b32 {d[0]}, 0; mov.b32 {d[1]}, 0; mov.b32 {d[2]}, 0; mov.b32 {d[3]}, 0; wgmma.fence.sync.aligned;"
                )
                line = builder.say(
                    f"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {{{', '.join(d)}}}, {{{', '.join(a)}}}, {descriptor}, {scale}, 1, 1, 0;"
                )
                builder.say("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
                for register in d:
                    builder.save(register, line)
                yield builder.finish()


def questions() -> list[Program]:
    """All of them."""
    return [*values(), *lanes(), *shared_places(), *copies(), *base_offsets(), *times(), *faults()]
