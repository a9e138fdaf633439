"""Programs of straight-line arithmetic: each statement's result is stored, and may feed later ones."""

from __future__ import annotations

from functools import cache

from hardware.builder import Builder
from hardware.instructions import FAMILIES, Template
from hardware.program import Program

STATEMENTS = 20


@cache
def templates(family: str) -> tuple[Template, ...]:
    """A family's templates, without repetition, in a fixed order."""
    return tuple(dict.fromkeys(FAMILIES[family]()))


def operand(builder: Builder, flavour: str, loose: float = 0.15) -> str:
    """A source: a register, or a constant of a range "low:high"."""
    if ":" in flavour:
        low, high = flavour.split(":")
        return str(builder.random.randint(int(low), int(high)))
    return builder.pick(flavour, loose)


def emit(builder: Builder, template: Template) -> None:
    """One instruction with its results stored; some under a guard, with the result preset."""
    loose = 0.0 if template.mnemonic.startswith(("abs", "neg")) else 0.15
    sources = [operand(builder, flavour, loose) for flavour in template.sources]
    if template.distinct and len(set(sources)) < len(sources):
        sources[0] = builder.load(template.sources[0])
    results = [builder.result(flavour) for flavour in template.results]
    guard = ""
    if template.guarded and builder.random.random() < 0.15:
        predicate = builder.pick("pred")
        guard = f"@{builder.random.choice(['', '!'])}{predicate} "
        for flavour, register in zip(template.results, results, strict=True):
            if flavour == "pred":
                builder.say(f"setp.ne.u32 {register}, {builder.lane_index}, 3;")
            else:
                width = {"h": 16, "r": 32, "d": 64}[register[1]]
                builder.say(f"mov.b{width} {register}, 77;")
    line = builder.say(f"{guard}{template.mnemonic} {'|'.join(results)}, {', '.join(sources)};")
    for flavour, register in zip(template.results, results, strict=True):
        builder.save(register, line)
        builder.keep(flavour, register)


def carry_chain(builder: Builder) -> None:
    """add.cc, addc.cc, addc and their kin: a wide sum in pieces."""
    kind = builder.random.choice(["u32", "s32", "u64"])
    flavour = "i64" if kind.endswith("64") else "i32"
    name = builder.random.choice(["add", "sub", "mad"])
    results = [builder.result(flavour) for _ in range(3)]
    pick = [builder.pick(flavour) for _ in range(9)]
    if name == "mad":
        part = builder.random.choice(["lo", "hi"])
        text = f"mad.{part}.cc.{kind} {results[0]}, {pick[0]}, {pick[1]}, {pick[2]}; madc.{part}.cc.{kind} {results[1]}, {pick[3]}, {pick[4]}, {pick[5]}; "
        text += f"madc.{part}.{kind} {results[2]}, {pick[6]}, {pick[7]}, {pick[8]};"
    else:
        text = f"{name}.cc.{kind} {results[0]}, {pick[0]}, {pick[1]}; {name}c.cc.{kind} {results[1]}, {pick[2]}, {pick[3]}; "
        text += f"{name}c.{kind} {results[2]}, {pick[4]}, {pick[5]};"
    line = builder.say(text)
    for register in results:
        builder.save(register, line)
        builder.keep(flavour, register)


def repack(builder: Builder) -> None:
    """mov that splits or joins registers."""
    wide, narrow = builder.random.choice([("i64", "i32"), ("i32", "i16"), ("f16x2", "f16"), ("bf16x2", "bf16")])
    bits = {"i64": 64, "i32": 32}.get(wide, 32)
    if builder.random.random() < 0.5:
        result = builder.result(wide)
        line = builder.say(f"mov.b{bits} {result}, {{{builder.pick(narrow)}, {builder.pick(narrow)}}};")
        builder.save(result, line)
        builder.keep(wide, result)
        return
    first, second = builder.result(narrow), builder.result(narrow)
    line = builder.say(f"mov.b{bits} {{{first}, {second}}}, {builder.pick(wide)};")
    for register in (first, second):
        builder.save(register, line)
        builder.keep(narrow, register)


def arithmetic(name: str, family: str, seed: int) -> Program:
    """A program of one family's instructions, with some of the others mixed in."""
    builder = Builder(name, family, seed, check=False)
    for _ in range(STATEMENTS):
        chance = builder.random.random()
        if family == "integer" and chance < 0.06:
            carry_chain(builder)
        elif chance < 0.1:
            repack(builder)
        else:
            chosen = family if chance < 0.92 else builder.random.choice(list(FAMILIES))
            emit(builder, builder.random.choice(templates(chosen)))
    return builder.finish()
