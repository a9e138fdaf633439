"""Programs of warp-wide instructions and of divergent control flow."""

from __future__ import annotations

from hardware.arithmetic import emit, templates
from hardware.builder import Builder
from hardware.program import Program


def _mask(builder: Builder) -> int:
    """A non-empty membermask."""
    choice = builder.random.random()
    if choice < 0.3:
        return 0xFFFFFFFF
    if choice < 0.6:
        return builder.random.getrandbits(32) | 1 << builder.random.randrange(32)
    if choice < 0.8:
        start = builder.random.randrange(32)
        return ((1 << builder.random.randint(1, 32 - start)) - 1) << start
    return 1 << builder.random.randrange(32)


def _collective(builder: Builder, mask: int, full: bool) -> tuple[str, list[tuple[str, str]]]:
    """One collective's text and its results (flavour, register). A shuffle under part of the lanes reads only lanes that take part."""
    draw = builder.random
    member = f"{mask:#x}" if draw.random() < 0.6 else builder.fresh(32)
    prefix = "" if member.startswith("0x") else f"mov.b32 {member}, {mask:#x}; "
    kind = draw.choice(["vote", "ballot", "match.any", "match.all", "redux", "shfl", "shfl", "elect"])
    if kind == "vote":
        result = builder.fresh(1)
        sign = draw.choice(["", "!"])
        return prefix + f"vote.sync.{draw.choice(['all', 'any', 'uni'])}.pred {result}, {sign}{builder.pick('pred')}, {member};", [
            ("pred", result)
        ]
    if kind == "ballot":
        result = builder.fresh(32)
        return prefix + f"vote.sync.ballot.b32 {result}, {builder.pick('pred')}, {member};", [("i32", result)]
    if kind in ("match.any", "match.all"):
        flavour, width = draw.choice([("i32", 32), ("i64", 64)])
        source, low = builder.fresh(width), builder.pick(flavour)
        # few distinct values, so that some match
        text = prefix + f"and.b{width} {source}, {low}, {draw.choice([0, 1, 2, 3, 5, -1])}; "
        result = builder.fresh(32)
        if kind == "match.any":
            return text + f"match.any.sync.b{width} {result}, {source}, {member};", [("i32", result)]
        agree = builder.fresh(1)
        return text + f"match.all.sync.b{width} {result}|{agree}, {source}, {member};", [("i32", result), ("pred", agree)]
    if kind == "redux":
        result = builder.fresh(32)
        what = draw.choice(["add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"])
        return prefix + f"redux.sync.{what} {result}, {builder.pick('i32')}, {member};", [("i32", result)]
    if kind == "elect":
        result, leads = builder.fresh(32), builder.fresh(1)
        return prefix + f"elect.sync {result}|{leads}, {member};", [("i32", result), ("pred", leads)]
    mode = draw.choice(["up", "down", "bfly", "idx"])
    result, inside = builder.fresh(32), builder.fresh(1)
    if full and mask == 0xFFFFFFFF:
        distance = draw.choice([builder.pick("i32"), builder.pick("small"), str(draw.randrange(33))])
        width = draw.choice([32, 16, 8, 4, 2, 1])
        clamp = draw.choice([f"{(32 - width) << 8 | (0 if mode == 'up' else 31)}", builder.pick("small"), str(draw.getrandbits(13))])
        return prefix + f"shfl.sync.{mode}.b32 {result}|{inside}, {builder.pick('i32')}, {distance}, {clamp}, {member};", [
            ("i32", result),
            ("pred", inside),
        ]
    # every lane reads the lowest one of the mask
    lowest = (mask & -mask).bit_length() - 1
    return prefix + f"shfl.sync.idx.b32 {result}|{inside}, {builder.pick('i32')}, {lowest}, 31, {member};", [
        ("i32", result),
        ("pred", inside),
    ]


def collectives(name: str, seed: int) -> Program:
    """Votes, matches, shuffles, reductions, elections, each by the lanes of a random mask."""
    builder = Builder(name, "warp", seed, block=64)
    builder.load("i32")
    builder.load("small")
    builder.predicate()
    bit = builder.fresh(32)
    builder.say(f"and.b32 {bit}, {builder.lane_index}, 31; shl.b32 {bit}, 1, {bit};")
    for _ in range(12):
        mask = _mask(builder)
        partial = mask != 0xFFFFFFFF
        text, results = _collective(builder, mask, not partial)
        if not partial:
            line = builder.say(text)
        else:
            skip, member, found = builder.label(), builder.fresh(32), builder.fresh(1)
            for flavour, register in results:
                builder.say(f"setp.eq.u32 {register}, {builder.lane_index}, 9;" if flavour == "pred" else f"mov.b32 {register}, 99;")
            builder.say(f"and.b32 {member}, {bit}, {mask:#x}; setp.eq.u32 {found}, {member}, 0; @{found} bra {skip};")
            line = builder.say(text)
            builder.say(f"{skip}:")
            builder.say("bar.warp.sync 0xffffffff;")
        for flavour, register in results:
            builder.save(register, line)
            builder.keep(flavour, register)
    return builder.finish()


def _work(builder: Builder, value: str) -> str:
    """A short update of a 32-bit register in place."""
    draw = builder.random
    other = builder.pick("i32", 0)
    return draw.choice([
        f"mad.lo.u32 {value}, {value}, {draw.choice([3, 5, 17, 1664525])}, {other};",
        f"xor.b32 {value}, {value}, {other};",
        f"add.u32 {value}, {value}, {draw.randrange(1000)};",
        f"shf.l.wrap.b32 {value}, {value}, {value}, {draw.randrange(32)};",
        f"sub.u32 {value}, {other}, {value};",
        f"min.s32 {value}, {value}, {other};",
    ])  # fmt: skip


def _block(builder: Builder, value: str, depth: int) -> None:
    """A random statement of control flow that updates `value` in place."""
    draw = builder.random
    if depth == 0:
        builder.say(_work(builder, value))
        return
    kind = draw.choice(["if", "ifelse", "loop", "switch", "call", "early", "plain", "guard"])
    condition, piece = builder.fresh(1), builder.fresh(32)
    builder.say(f"shr.u32 {piece}, {value}, {draw.randrange(29)}; and.b32 {piece}, {piece}, 7;")
    if kind in ("if", "ifelse"):
        other, end = builder.label(), builder.label()
        builder.say(f"setp.{draw.choice(['lt', 'ge', 'eq', 'ne'])}.u32 {condition}, {piece}, {draw.randrange(8)};")
        builder.say(f"@{draw.choice(['', '!'])}{condition} bra {other};")
        _block(builder, value, depth - 1)
        if kind == "ifelse":
            builder.say(f"bra {end};")
        builder.say(f"{other}:")
        if kind == "ifelse":
            _block(builder, value, depth - 1)
            builder.say(f"{end}:")
    elif kind == "loop":
        # each thread goes round its own number of times
        top, end = builder.label(), builder.label()
        builder.say(f"{top}:")
        builder.say(f"setp.eq.u32 {condition}, {piece}, 0; @{condition} bra {end};")
        _block(builder, value, depth - 1)
        builder.say(f"sub.u32 {piece}, {piece}, 1; bra {top};")
        builder.say(f"{end}:")
    elif kind == "switch":
        targets = [builder.label() for _ in range(draw.randint(2, 5))]
        table, end = builder.label(), builder.label()
        builder.say(f"rem.u32 {piece}, {piece}, {len(targets)};")
        builder.say(f"{table}: .branchtargets {', '.join(targets)};")
        builder.say(f"brx.idx {piece}, {table};")
        for target in targets:
            builder.say(f"{target}:")
            _block(builder, value, 0)
            if draw.random() < 0.8 or target == targets[-1]:
                builder.say(f"bra {end};")
        builder.say(f"{end}:")
    elif kind == "call":
        function = f"f{builder.name}_{len(builder.before)}"
        factor = draw.choice([3, 7, 2654435761])
        recursive = draw.random() < 0.3
        inside = f"mad.lo.u32 %a, %a, {factor}, {draw.randrange(999)};"
        if recursive:
            inside += " setp.eq.u32 %q, %b, 0; @%q bra done; sub.u32 %b, %b, 1; { .param .b32 pa; .param .b32 pb; .param .b32 pr; "
            inside += f"st.param.b32 [pa], %a; st.param.b32 [pb], %b; call.uni (pr), {function}, (pa, pb); ld.param.b32 %a, [pr]; }} done: xor.b32 %a, %a, %b;"
        builder.before.append(
            f".func (.param .b32 r) {function}(.param .b32 a, .param .b32 b)\n{{ .reg .b32 %a, %b; .reg .pred %q; ld.param.b32 %a, [a]; ld.param.b32 %b, [b];\n"
            f"{inside.replace('call.uni', 'call')}\nst.param.b32 [r], %a; ret; }}\n"
        )
        builder.say(
            f"{{ .param .b32 ca; .param .b32 cb; .param .b32 cr; st.param.b32 [ca], {value}; st.param.b32 [cb], {piece}; "
            f"call (cr), {function}, (ca, cb); ld.param.b32 {value}, [cr]; }}"
        )
    elif kind == "early":
        # leaves two nested tests at once
        end = builder.label()
        builder.say(f"setp.lt.u32 {condition}, {piece}, 3; @{condition} bra {end};")
        _block(builder, value, depth - 1)
        again = builder.fresh(1)
        builder.say(f"setp.gt.u32 {again}, {piece}, 5; @{again} bra {end};")
        _block(builder, value, depth - 1)
        builder.say(f"{end}:")
    elif kind == "guard":
        builder.say(f"setp.lt.u32 {condition}, {piece}, {draw.randrange(8)};")
        builder.say(f"@{condition} {_work(builder, value)}")
        builder.say(f"@!{condition} {_work(builder, value)}")
    else:
        _block(builder, value, depth - 1)
        _block(builder, value, depth - 1)


def control(name: str, seed: int) -> Program:
    """Divergent branches, loops of different lengths, jump tables, calls and recursion."""
    builder = Builder(name, "control", seed, block=64)
    for _ in range(3):
        builder.load("i32")
    for _ in range(4):
        value = builder.fresh(32)
        start = len(builder.body)
        builder.say(f"add.u32 {value}, {builder.pick('i32')}, {builder.lane_index};")
        _block(builder, value, builder.random.randint(1, 3))
        builder.save(value, start, "block")
        builder.keep("i32", value)
    emit(builder, builder.random.choice(templates("integer")))
    return builder.finish()
