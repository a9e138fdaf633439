"""Programs of loads, stores, vectors, atomics, CTA barriers, mbarriers and plain asynchronous copies."""

from __future__ import annotations

from hardware.arithmetic import emit, templates
from hardware.builder import Builder
from hardware.program import Program

LETTER = {8: "h", 16: "h", 32: "r", 64: "d"}
SIGNS = {8: ("b8", "u8", "s8"), 16: ("b16", "u16", "s16"), 32: ("b32", "u32", "s32", "f32"), 64: ("b64", "u64", "s64", "f64")}


def _into(width: int) -> str:
    return {8: "i16", 16: "i16", 32: "i32", 64: "i64"}[width]


def _own_bytes(builder: Builder, space: str, size: int) -> str:
    """The address (64-bit for global, else 32-bit) of `size` bytes that belong to the thread alone."""
    name = f"{space}{builder.name}_{len(builder.declarations)}"
    if space == "global":
        start = -(-builder.output_bytes // 64) * 64
        builder.output_bytes = start + size * builder.threads
        base = builder.fresh(64)
        builder.say(f"mul.wide.u32 {base}, {builder.thread}, {size}; add.u64 {base}, {base}, {builder.o}; add.u64 {base}, {base}, {start};")
        return base
    base = builder.fresh(32)
    if space == "local":
        builder.declarations.append(f"\t.local .align 16 .b8 {name}[{size}];")
        builder.say(f"mov.u32 {base}, {name};")
    else:
        builder.declarations.append(f"\t.shared .align 16 .b8 {name}[{size * builder.block}];")
        builder.say(f"mov.u32 {base}, {name}; mad.lo.u32 {base}, {builder.lane_index}, {size}, {base};")
    return base


def accesses(name: str, seed: int) -> Program:
    """Stores of one width and loads of another over the same bytes, in every space, with vectors and sign extension."""
    builder = Builder(name, "memory", seed, block=32)
    draw = builder.random
    for flavour in ("i16", "i32", "i64"):
        builder.load(flavour)
        builder.load(flavour)
    for _ in range(3):
        space, size = draw.choice(["shared", "local", "global", "shared"]), 64
        base = _own_bytes(builder, space, size)
        if space != "global" and draw.random() < 0.3:
            generic, wide = builder.fresh(64), builder.fresh(64)
            builder.say(f"cvt.u64.u32 {wide}, {base}; cvta.{space}.u64 {generic}, {wide};")
            base, space = generic, ""
        dot = f".{space}" if space else ""
        for at in range(0, size, 8):
            builder.say(f"st{dot}.b64 [{base}+{at}], {builder.pick('i64')};")
        for _ in range(4):
            width, count = draw.choice([8, 16, 32, 64]), draw.choice([1, 1, 2, 4])
            if width * count > 128:
                count = 2
            step = width * count // 8
            at = draw.randrange(size // step) * step
            kind = draw.choice(SIGNS[width])
            vector = {1: "", 2: ".v2", 4: ".v4"}[count]
            values = [builder.pick(_into(width)) for _ in range(count)]
            listed = f"{{{', '.join(values)}}}" if count > 1 else values[0]
            strength = draw.choice(["", "", ".relaxed.cta", ".volatile"]) if space in ("shared", "global") else ""
            builder.say(f"st{dot and strength}{dot}{vector}.{kind} [{base}+{at}], {listed};")
            width, count = draw.choice([8, 16, 32, 64]), draw.choice([1, 1, 2, 4])
            if width * count > 128:
                count = 2
            step = width * count // 8
            at = draw.randrange(size // step) * step
            kind = draw.choice(SIGNS[width])
            # a destination register may be wider than the type of the load
            wider = draw.choice([w for w in (16, 32, 64) if w >= width]) if kind[0] != "f" and draw.random() < 0.5 else max(width, 16)
            vector = {1: "", 2: ".v2", 4: ".v4"}[count]
            results = [builder.fresh(wider) for _ in range(count)]
            listed = f"{{{', '.join(results)}}}" if count > 1 else results[0]
            line = builder.say(f"ld{dot}{vector}.{kind} {listed}, [{base}+{at}];")
            for register in results:
                builder.save(register, line)
                builder.keep(_into(wider), register)
    return builder.finish()


ATOMICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("add", ("u32", "s32", "u64")),
    ("min", ("u32", "s32", "u64", "s64")),
    ("max", ("u32", "s32", "u64", "s64")),
    ("and", ("b32", "b64")),
    ("or", ("b32", "b64")),
    ("xor", ("b32", "b64")),
)
OWN_ATOMICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("add", ("u32", "s32", "u64", "f32", "f64", "noftz.f16", "noftz.f16x2", "noftz.bf16", "noftz.bf16x2")),
    ("min", ("u32", "s32", "u64", "s64")),
    ("max", ("u32", "s32", "u64", "s64")),
    ("inc", ("u32",)),
    ("dec", ("u32",)),
    ("exch", ("b32", "b64")),
    ("cas", ("b16", "b32", "b64")),
)


def _flavour(kind: str) -> str:
    kind = kind.removeprefix("noftz.")
    if kind.startswith(("f", "bf")):
        return kind
    return {"16": "i16", "32": "i32", "64": "i64"}[kind[1:]]


def atomics(name: str, seed: int) -> Program:
    """Atomics on common cells whose sum does not depend on the order, and any atomic on cells of the thread's own with its old value."""
    builder = Builder(name, "atomic", seed, block=64)
    draw = builder.random
    space = draw.choice(["shared", "global"])
    cells = 8
    if space == "shared":
        base = builder.fresh(32)
        builder.declarations.append(f"\t.shared .align 16 .b8 cells{name}[64];")
        builder.say(f"mov.u32 {base}, cells{name};")
    else:
        base = builder.fresh(64)
        start = builder.output(8, cells)
        builder.say(f"add.u64 {base}, {builder.o}, {start};")
    first = builder.fresh(1)
    builder.say(f"setp.ne.u32 {first}, {builder.lane_index}, 0;")
    for index in range(cells):
        builder.say(f"@!{first} st.{space}.b64 [{base}+{8 * index}], {draw.choice([0, 1, -1, 1 << 31, draw.getrandbits(63)])};")
    builder.say("bar.sync 0;")
    for index in range(cells):
        # one operation and one type a cell: the order cannot be seen
        operation, kinds = draw.choice(ATOMICS)
        kind = draw.choice(kinds)
        value = builder.pick(_flavour(kind))
        scope = draw.choice(["", ".relaxed.cta", ".relaxed.gpu", ".acq_rel.gpu", ".release.cta"])
        if scope == ".release.cta":
            builder.say(f"red.release.cta.{space}.{operation}.{kind} [{base}+{8 * index}], {value};")
        elif draw.random() < 0.5 and scope != ".acq_rel.gpu":
            builder.say(f"red{scope}.{space}.{operation}.{kind} [{base}+{8 * index}], {value};")
        else:
            old = builder.fresh(64 if kind.endswith("64") else 32)
            builder.say(f"atom{scope}.{space}.{operation}.{kind} {old}, [{base}+{8 * index}], {value};")
    builder.say("bar.sync 0;")
    for index in range(cells):
        value = builder.fresh(64)
        line = builder.say(f"ld.{space}.b64 {value}, [{base}+{8 * index}];")
        builder.save(value, line)
    own = _own_bytes(builder, draw.choice(["shared", "global"]), 16)
    space = "global" if own[1] == "d" else "shared"
    for _ in range(5):
        operation, kinds = draw.choice(OWN_ATOMICS)
        kind = draw.choice(kinds)
        flavour = _flavour(kind)
        width = 16 if "16" in kind and "x2" not in kind else 64 if kind.endswith("64") else 32
        builder.say(f"st.{space}.b{width} [{own}], {builder.pick(flavour)};")
        old, after = builder.fresh(width), builder.fresh(width)
        compare = f", {builder.pick(flavour)}" if operation == "cas" else ""
        line = builder.say(f"atom.{space}.{operation}.{kind} {old}, [{own}], {builder.pick(flavour)}{compare};")
        builder.say(f"ld.{space}.b{width} {after}, [{own}];")
        builder.save(old, line)
        builder.save(after, line, "after")
    return builder.finish()


def barriers(name: str, seed: int) -> Program:
    """Exchanges through shared memory between barriers: all of the CTA, named ones of some warps, bar.red, arrive and sync."""
    block = 128
    builder = Builder(name, "barrier", seed, block=block)
    draw = builder.random
    builder.declarations.append(f"\t.shared .align 16 .b8 tile{name}[{4 * block}];")
    tile, own, warp = builder.fresh(32), builder.fresh(32), builder.fresh(32)
    builder.say(f"mov.u32 {tile}, tile{name}; mad.lo.u32 {own}, {builder.lane_index}, 4, {tile}; shr.u32 {warp}, {builder.lane_index}, 5;")
    for _ in range(4):
        kind = draw.choice(["sync", "red", "pairs", "producer"])
        value = builder.pick("i32")
        result, other = builder.fresh(32), builder.fresh(32)
        if kind == "sync":
            builder.say(f"st.shared.b32 [{own}], {value};")
            form = draw.choice(
                [
                    "bar.sync {0};",
                    "bar.sync {0}, {1};",
                    "barrier.sync {0};",
                    "barrier.cta.sync.aligned {0}, {1};",
                    "barrier.sync.aligned {0};",
                ]
            )
            builder.say(form.format(draw.randrange(16), block))
            builder.say(
                f"add.u32 {other}, {builder.lane_index}, {draw.randrange(block)}; rem.u32 {other}, {other}, {block}; mad.lo.u32 {other}, {other}, 4, {tile};"
            )
            line = builder.say(f"ld.shared.b32 {result}, [{other}];")
            builder.say("bar.sync 0;")
        elif kind == "red":
            form = draw.choice(["popc.u32", "and.pred", "or.pred"])
            predicate = builder.pick("pred")
            if form == "popc.u32":
                line = builder.say(f"bar.red.{form} {result}, {draw.randrange(16)}, {predicate};")
            else:
                found = builder.fresh(1)
                line = builder.say(
                    f"bar.red.{form} {found}, {draw.randrange(16)}, {draw.choice(['', '!'])}{predicate}; selp.u32 {result}, 1, 0, {found};"
                )
        elif kind == "pairs":
            # two warps each meet at a barrier of their own
            builder.say(f"st.shared.b32 [{own}], {value};")
            pair = builder.fresh(32)
            distance = draw.choice([1, 2])
            form = f"shr.u32 {pair}, {warp}, 1" if distance == 1 else f"and.b32 {pair}, {warp}, 1"
            builder.say(f"{form}; add.u32 {pair}, {pair}, {draw.randint(1, 14)};")
            builder.say(f"barrier.sync {pair}, 64;")
            builder.say(f"xor.b32 {other}, {builder.lane_index}, {32 * distance}; mad.lo.u32 {other}, {other}, 4, {tile};")
            line = builder.say(f"ld.shared.b32 {result}, [{other}];")
            builder.say("bar.sync 0;")
        else:
            # warps 0 and 1 write and arrive, warps 2 and 3 wait and read
            waits, skip, done = builder.fresh(1), builder.label(), builder.label()
            identifier = draw.randint(1, 15)
            builder.say(f"setp.ge.u32 {waits}, {warp}, 2; mov.u32 {result}, 5; @{waits} bra {skip};")
            builder.say(f"st.shared.b32 [{own}], {value}; bar.arrive {identifier}, {block}; bra {done};")
            builder.say(f"{skip}: bar.sync {identifier}, {block};")
            line = builder.say(f"ld.shared.b32 {result}, [{own}+-256];")
            builder.say(f"{done}:")
            builder.say("bar.sync 0;")
        builder.save(result, line)
        builder.keep("i32", result)
        emit(builder, draw.choice(templates("integer")))
    return builder.finish()


def wait(builder: Builder, barrier: str, parity: str, form: str = "try_wait") -> None:
    """Spins until the phase of a parity has completed."""
    top, done = builder.label(), builder.fresh(1)
    builder.say(f"{top}: mbarrier.{form}.parity.shared::cta.b64 {done}, [{barrier}], {parity}; @!{done} bra {top};")


def mbarriers(name: str, seed: int) -> Program:
    """Rounds of arrivals in every local form, each followed by a wait and an exchange."""
    block = 64
    builder = Builder(name, "mbarrier", seed, block=block)
    draw = builder.random
    builder.declarations.append(f"\t.shared .align 16 .b8 tile{name}[{4 * block}]; .shared .align 8 .b64 bar{name};")
    tile, own, bar, first = builder.fresh(32), builder.fresh(32), builder.fresh(32), builder.fresh(1)
    count = draw.choice([1, 2])
    builder.say(f"mov.u32 {tile}, tile{name}; mad.lo.u32 {own}, {builder.lane_index}, 4, {tile}; mov.u32 {bar}, bar{name};")
    builder.say(f"setp.eq.u32 {first}, {builder.lane_index}, 0; @{first} mbarrier.init.shared.b64 [{bar}], {block * count}; bar.sync 0;")
    for round_number in range(draw.randint(2, 4)):
        value, other, result = builder.pick("i32"), builder.fresh(32), builder.fresh(32)
        token, line = builder.fresh(64), 0
        builder.say(f"st.shared.b32 [{own}], {value};")
        form = draw.choice(["plain", "count", "token", "noComplete", "expect"])
        by_token = False
        if count == 2 and form == "noComplete":
            builder.say(
                f"mbarrier.arrive.noComplete.release.cta.shared.b64 {token}, [{bar}], 1; mbarrier.arrive.shared.b64 {token}, [{bar}];"
            )
        elif count == 2 and form != "count":
            builder.say(f"mbarrier.arrive.shared::cta.b64 _, [{bar}]; mbarrier.arrive.release.cta.shared::cta.b64 {token}, [{bar}];")
            by_token = form == "token"
        elif count == 2:
            builder.say(f"mbarrier.arrive.shared::cta.b64 {token}, [{bar}], 2;")
        elif form == "expect":
            builder.say(f"mbarrier.arrive.expect_tx.shared::cta.b64 {token}, [{bar}], 0;")
        else:
            builder.say(f"mbarrier.arrive.shared::cta.b64 {token}, [{bar}];")
            by_token = form == "token"
        if by_token:
            top, done = builder.label(), builder.fresh(1)
            builder.say(
                f"{top}: mbarrier.{draw.choice(['try_wait', 'test_wait'])}.shared::cta.b64 {done}, [{bar}], {token}; @!{done} bra {top};"
            )
        else:
            wait(builder, bar, str(round_number & 1), draw.choice(["try_wait", "test_wait"]))
        builder.say(f"xor.b32 {other}, {builder.lane_index}, {draw.randrange(1, block)}; mad.lo.u32 {other}, {other}, 4, {tile};")
        line = builder.say(f"ld.shared.b32 {result}, [{other}];")
        builder.save(result, line)
        builder.keep("i32", result)
        builder.say("bar.sync 0;")
    pending, state = builder.fresh(32), builder.fresh(64)
    builder.say(f"mov.u32 {pending}, 0; @{first} mbarrier.arrive.shared::cta.b64 {state}, [{bar}];")
    line = builder.say(f"@{first} mbarrier.pending_count.b64 {pending}, {state};")
    builder.save(pending, line)
    return builder.finish()


def copies(name: str, seed: int) -> Program:
    """cp.async of every size with zero filling, bulk loads, bulk stores and bulk reductions."""
    block, size = 64, 4096
    builder = Builder(name, "copy", seed, block=block)
    draw = builder.random
    builder.declarations.append(f"\t.shared .align 128 .b8 tile{name}[{size}]; .shared .align 8 .b64 bar{name};")
    source = builder.reserve("i32", size // 4)
    tile, own, bar, first = builder.fresh(32), builder.fresh(32), builder.fresh(32), builder.fresh(1)
    own_source = builder.fresh(64)
    builder.say(f"mov.u32 {tile}, tile{name}; mad.lo.u32 {own}, {builder.lane_index}, 16, {tile}; mov.u32 {bar}, bar{name};")
    builder.say(f"setp.eq.u32 {first}, {builder.lane_index}, 0; @{first} mbarrier.init.shared.b64 [{bar}], 1; bar.sync 0;")
    builder.say(
        f"mul.wide.u32 {own_source}, {builder.lane_index}, 16; add.u64 {own_source}, {own_source}, {builder.x}; add.u64 {own_source}, {own_source}, {source};"
    )
    for at in range(0, size, 1024):
        how = draw.choice(["cp.async", "store"])
        if how == "store":
            for part in range(0, 16, 4):
                builder.say(f"st.shared.b32 [{own}+{at + part}], {builder.pick('i32')};")
            continue
        width = draw.choice([4, 8, 16, 16])
        for part in range(0, 16, width):
            cache = "cg" if width == 16 and draw.random() < 0.5 else "ca"
            keep = draw.choice(["", "", f", {draw.randint(0, width)}"])
            if not keep and draw.random() < 0.2:
                keep = f", {builder.pick('pred')}"
            builder.say(f"cp.async.{cache}.shared.global [{own}+{at + part}], [{own_source}+{at + part}], {width}{keep};")
        if draw.random() < 0.5:
            builder.say("cp.async.commit_group;")
    builder.say(draw.choice(["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"]))
    builder.say("fence.proxy.async; bar.sync 0;")
    line = builder.dump_shared(tile, size, "cp.async")
    parity = 0
    for _ in range(draw.randint(1, 2)):
        chunk = 16 * draw.randint(1, 64)
        at, start = 16 * draw.randrange((size - chunk) // 16 + 1), 16 * draw.randrange((size - chunk) // 16 + 1)
        address, target = builder.fresh(64), builder.fresh(32)
        builder.say(
            f"bar.sync 0; add.u64 {address}, {builder.x}, {source + start}; add.u32 {target}, {tile}, {at}; fence.proxy.async; bar.sync 0;"
        )
        space = draw.choice(["shared::cluster", "shared::cta"])
        line = builder.say(
            f"@{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], {chunk}; "
            f"@{first} cp.async.bulk.{space}.global.mbarrier::complete_tx::bytes [{target}], [{address}], {chunk}, [{bar}];"
        )
        wait(builder, bar, str(parity))
        parity ^= 1
    builder.dump_shared(tile, size, "bulk load", line)
    builder.say("bar.sync 0;")
    for _ in range(2):
        chunk = 16 * draw.randint(1, 32)
        at = 16 * draw.randrange((size - chunk) // 16 + 1)
        kind = draw.choice(
            [
                "copy",
                "add.u32",
                "add.s32",
                "add.u64",
                "min.u32",
                "max.s32",
                "inc.u32",
                "dec.u32",
                "and.b32",
                "or.b64",
                "xor.b32",
                "min.s64",
                "max.u64",
                "add.noftz.f16",
                "add.noftz.bf16",
                "min.f16",
                "max.bf16",
                "max.f16",
                "min.bf16",
                "add.f32",
                "add.f64",
            ]
        )
        start = builder.output(16, chunk // 16)
        target, origin = builder.fresh(64), builder.fresh(32)
        builder.say(f"add.u64 {target}, {builder.o}, {start}; add.u32 {origin}, {tile}, {at};")
        if kind == "copy":
            line = builder.say(f"@{first} cp.async.bulk.global.shared::cta.bulk_group [{target}], [{origin}], {chunk};")
        else:
            flavour = {"16": "bf16" if "bf16" in kind else "f16", "32": "f32", "64": "finite_f64"}[kind[-2:]] if "f" in kind else "i32"
            builder.fill_global(target, chunk, flavour)
            line = builder.say(f"@{first} cp.reduce.async.bulk.global.shared::cta.bulk_group.{kind} [{target}], [{origin}], {chunk};")
        builder.say(f"@{first} cp.async.bulk.commit_group; @{first} cp.async.bulk.wait_group 0;")
        builder.remember(start, 4, chunk // 4, line, kind)
    return builder.finish()
