"""Programs of ldmatrix, stmatrix, movmatrix, mma.sync and wgmma, on data whose sums are exact."""

from __future__ import annotations

from hardware.builder import Builder
from hardware.program import Program

_MMA: tuple[tuple[str, str, str, tuple[str, ...], tuple[tuple[int, int], ...]], ...] = (
    ("f16", "f16", "whole_f16", ("f16", "f32"), ((16, 8), (16, 16))),
    ("bf16", "bf16", "whole_bf16", ("f32",), ((16, 8), (16, 16))),
    ("tf32", "tf32", "whole_f32", ("f32",), ((16, 4), (16, 8))),
    ("f64", "f64", "whole_f64", ("f64",), ((8, 4), (16, 4), (16, 8), (16, 16))),
    ("e4m3", "e4m3", "whole_e4m3", ("f32", "f16"), ((16, 16), (16, 32))),
    ("e5m2", "e5m2", "whole_e5m2", ("f32", "f16"), ((16, 16), (16, 32))),
    ("e4m3", "e5m2", "whole_", ("f32",), ((16, 32),)),
    ("s8", "s8", "i32", ("s32",), ((8, 16), (16, 16), (16, 32))),
    ("u8", "s8", "i32", ("s32",), ((8, 16), (16, 16), (16, 32))),
    ("u8", "u8", "i32", ("s32",), ((16, 32),)),
    ("s4", "u4", "i32", ("s32",), ((8, 32), (16, 32), (16, 64))),
    ("b1", "b1", "i32", ("s32",), ((8, 128), (16, 128), (16, 256))),
)
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}


def _listed(registers: list[str]) -> str:
    return f"{{{', '.join(registers)}}}"


def warp_matrices(name: str, seed: int) -> Program:
    """mma.sync of every type and shape, ldmatrix and stmatrix with and without transposition, movmatrix."""
    builder = Builder(name, "mma", seed, block=32)
    draw = builder.random
    size = 2048
    builder.declarations.append(f"\t.shared .align 16 .b8 tile{name}[{size}];")
    tile, own, row = builder.fresh(32), builder.fresh(32), builder.fresh(32)
    builder.say(f"mov.u32 {tile}, tile{name}; mad.lo.u32 {own}, {builder.lane_index}, 4, {tile};")
    for at in range(0, size, 128):
        builder.say(f"st.shared.b32 [{own}+{at}], {builder.pick('i32')};")
    builder.say("bar.warp.sync 0xffffffff;")
    for _ in range(3):
        count = draw.choice([1, 2, 4])
        trans = draw.choice(["", ".trans"])
        # any 16-byte rows, repeated ones too
        builder.say(
            f"mul.lo.u32 {row}, {builder.lane_index}, {draw.choice([1, 3, 5, 7, 2])}; add.u32 {row}, {row}, {draw.randrange(128)}; and.b32 {row}, {row}, 127; mad.lo.u32 {row}, {row}, 16, {tile};"
        )
        results = [builder.fresh(32) for _ in range(count)]
        line = builder.say(f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {_listed(results)}, [{row}];")
        for register in results:
            builder.save(register, line)
            builder.keep("i32", register)
    moved = builder.fresh(32)
    line = builder.say(f"movmatrix.sync.aligned.m8n8.trans.b16 {moved}, {builder.pick('i32')};")
    builder.save(moved, line)
    count, trans = draw.choice([1, 2, 4]), draw.choice(["", ".trans"])
    builder.say(
        f"bar.warp.sync 0xffffffff; mul.lo.u32 {row}, {builder.lane_index}, {draw.choice([1, 3, 5, 7])}; and.b32 {row}, {row}, 31; mad.lo.u32 {row}, {row}, 16, {tile};"
    )
    line = builder.say(
        f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [{row}], {_listed([builder.pick('i32') for _ in range(count)])};"
    )
    builder.say("bar.warp.sync 0xffffffff;")
    builder.dump_shared(tile, 512, "stmatrix", line)
    for _ in range(3):
        a_type, b_type, flavour, d_types, shapes = draw.choice(_MMA)
        d_type, (m, k) = draw.choice(d_types), draw.choice(shapes)
        _mma(builder, a_type, b_type, flavour, d_type, m, k)
    return builder.finish()


def _mma(builder: Builder, a_type: str, b_type: str, flavour: str, d_type: str, m: int, k: int) -> None:
    draw = builder.random
    wide = 64 if a_type == "f64" else 32
    a_count, b_count = m * k * _BITS[a_type] // (32 * wide), 8 * k * _BITS[b_type] // (32 * wide)
    d_count = m // 8 if d_type == "f16" else m // 4
    d_flavour = {"f16": "whole_f16", "f32": "whole_f32", "f64": "whole_f64", "s32": "i32"}[d_type]
    a = [builder.load(flavour if flavour != "whole_" else "whole_e4m3") for _ in range(a_count)]
    b = [builder.load(flavour if flavour != "whole_" else "whole_e5m2") for _ in range(b_count)]
    c = [builder.load(d_flavour) for _ in range(d_count)]
    d = [builder.fresh(wide) for _ in range(d_count)]
    saturate = ".satfinite" if a_type in ("s8", "u8", "s4", "u4") and draw.random() < 0.3 else ""
    operation = draw.choice([".xor.popc", ".and.popc"]) if a_type == "b1" else ""
    line = builder.say(
        f"mma.sync.aligned.m{m}n8k{k}.row.col{saturate}.{d_type}.{a_type}.{b_type}.{d_type}{operation} {_listed(d)}, {_listed(a)}, {_listed(b)}, {_listed(c)};"
    )
    for register in d:
        builder.save(register, line)


def real_products(name: str, seed: int) -> Program:
    """mma.sync of f16 and bf16 on any finite data: the way the tensor core adds."""
    builder = Builder(name, "mma-real", seed, block=32)
    for _ in range(4):
        kind = builder.random.choice(["f16", "bf16"])
        k = builder.random.choice([8, 16])
        a, b = [builder.load(f"real_{kind}") for _ in range(k // 4)], [builder.load(f"real_{kind}") for _ in range(k // 8)]
        c, d = [builder.load("real_f32") for _ in range(4)], [builder.fresh(32) for _ in range(4)]
        line = builder.say(
            f"mma.sync.aligned.m16n8k{k}.row.col.f32.{kind}.{kind}.f32 {_listed(d)}, {_listed(a)}, {_listed(b)}, {_listed(c)};"
        )
        for register in d:
            builder.save(register, line)
    return builder.finish()


_WGMMA = (
    ("f16", "f16", "whole_f16", "f32", 16),
    ("f16", "f16", "whole_f16", "f16", 16),
    ("bf16", "bf16", "whole_bf16", "f32", 16),
    ("tf32", "tf32", "whole_f32", "f32", 8),
    ("e4m3", "e4m3", "whole_e4m3", "f32", 32),
    ("e5m2", "e5m2", "whole_e5m2", "f32", 32),
    ("e5m2", "e5m2", "whole_e5m2", "f16", 32),
    ("s8", "s8", "i32", "s32", 32),
    ("u8", "s8", "i32", "s32", 32),
    ("u8", "u8", "i32", "s32", 32),
)


def _descriptor(builder: Builder, tile: str, size: int, rows: int, transposed: bool, element: int) -> str:
    """A descriptor whose tile of `rows` by 32 bytes of k lies inside `size` bytes."""
    draw = builder.random
    span = draw.choice([0, 32, 64, 128])
    code = {0: 0, 128: 1, 64: 2, 32: 3}[span]
    if not transposed:
        if span == 0:
            groups = rows // 8
            stride, leading = 128 * draw.randint(1, max(1, (size - 4096) // (128 * groups))), 128 * draw.randint(1, 16)
            start = 16 * draw.randrange(16)
        else:
            groups = rows // 8
            stride, leading = 8 * span * draw.randint(1, max(1, (size - 4096) // (8 * span * groups))), 16
            start = 8 * span * draw.randrange(2) + 32 * draw.randrange(span // 32)
    else:
        k = 32 // element
        if span == 0:
            stride, leading = 128 * draw.randint(1, 12), 128 * draw.randint(1, 24)
            start = 16 * draw.randrange(16)
        else:
            # k runs in groups of 8 rows of the span; row blocks of the span's width lie `leading` apart
            blocks = max(1, -(-rows * element // span))
            stride = 8 * span * draw.randint(1, 2)
            leading = stride * (k // 8) * draw.randint(1, max(1, (size - 4096) // (stride * (k // 8) * blocks)))
            start = 8 * span * draw.randrange(2)
    register, wide = builder.fresh(64), builder.fresh(32)
    fixed = (leading >> 4 & 0x3FFF) << 16 | (stride >> 4 & 0x3FFF) << 32 | code << 62
    builder.say(
        f"add.u32 {wide}, {tile}, {start}; and.b32 {wide}, {wide}, 0x3ffff; shr.u32 {wide}, {wide}, 4; cvt.u64.u32 {register}, {wide}; "
        f"or.b64 {register}, {register}, {fixed:#x};"
    )
    return register


def warpgroup_matrices(name: str, seed: int) -> Program:
    """Two or three wgmma into one accumulator: every type, A from shared memory or registers, descriptors of every swizzle and both majors."""
    block, size = 128, 32768
    builder = Builder(name, "wgmma", seed, block=block)
    draw = builder.random
    a_type, b_type, flavour, d_type, k = draw.choice(_WGMMA)
    n = draw.choice([8, 16, 24, 32, 64] if draw.random() < 0.9 else [96, 128])
    if d_type == "s32" and n == 24 and draw.random() < 0.5:
        n = 48
    builder.declarations.append(f"\t.shared .align 1024 .b8 tile{name}[{size}];")
    tile, own = builder.fresh(32), builder.fresh(32)
    builder.say(f"mov.u32 {tile}, tile{name}; mad.lo.u32 {own}, {builder.lane_index}, 16, {tile};")
    source, address = builder.reserve(flavour, size // 4), builder.fresh(64)
    builder.say(f"mul.wide.u32 {address}, {builder.lane_index}, 16; add.u64 {address}, {address}, {builder.x};")
    words, index, more = [builder.fresh(32) for _ in range(4)], builder.fresh(32), builder.fresh(1)
    top = builder.label()
    builder.say(f"mov.u32 {index}, 0;")
    builder.say(f"{top}: ld.global.v4.b32 {_listed(words)}, [{address}+{source}]; st.shared.v4.b32 [{own}], {_listed(words)};")
    builder.say(f"add.u32 {own}, {own}, {16 * block}; add.u64 {address}, {address}, {16 * block}; add.u32 {index}, {index}, {16 * block};")
    builder.say(f"setp.lt.u32 {more}, {index}, {size}; @{more} bra {top};")
    builder.say("fence.proxy.async; bar.sync 0;")
    count = n // 4 if d_type == "f16" else n // 2
    d = [builder.fresh(32) for _ in range(count)]
    start = {"f16": "whole_f16", "f32": "whole_f32", "s32": "i32"}[d_type]
    first = builder.load(start)
    for register in d:
        builder.say(f"mov.b32 {register}, {first};")
    steps = []
    for step in range(draw.randint(1, 3)):
        from_registers = draw.random() < 0.35
        halves = a_type in ("f16", "bf16")
        trans_a, trans_b = halves and draw.random() < 0.4, halves and draw.random() < 0.4
        element = {"f16": 2, "bf16": 2, "tf32": 4}.get(a_type, 1)
        if from_registers:
            a = _listed([builder.load(flavour) for _ in range(4)])
        else:
            a = _descriptor(builder, tile, size, 64, trans_a, element)
        b = _descriptor(builder, tile, size, n, trans_b, element)
        keep = builder.fresh(1)
        builder.say(f"setp.ne.b32 {keep}, {1 if step or draw.random() < 0.6 else 0}, 0;")
        tail = [keep]
        if d_type != "s32":
            tail += [draw.choice(["1", "1", "-1"]), draw.choice(["1", "1", "-1"])]
        if halves:
            tail += ([] if from_registers else [str(int(trans_a))]) + [str(int(trans_b))]
        saturate = ".satfinite" if d_type == "s32" and draw.random() < 0.3 else ""
        steps.append(
            f"wgmma.mma_async.sync.aligned.m64n{n}k{k}{saturate}.{d_type}.{a_type}.{b_type} {_listed(d)}, {a}, {b}, {', '.join(tail)};"
        )
    builder.say("wgmma.fence.sync.aligned;")
    for text in steps:
        line = builder.say(text)
    builder.say("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
    for register in d:
        builder.save(register, line)
    return builder.finish()
