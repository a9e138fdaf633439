"""The arithmetic instructions that random programs draw from, as templates: mnemonic, result flavours, source flavours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

ROUNDINGS = ("rn", "rz", "rm", "rp")
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
FLOAT_COMPARE = (*COMPARE, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
PERMUTES = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")


@dataclass(frozen=True)
class Template:
    """`results` and `sources` are flavours of `values`, "pred", or for a source a constant range "low:high"."""

    mnemonic: str
    results: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def guarded(self) -> bool:
        """Whether a guard may stand before it. ptxas 13.0 ignores the guard of testp, converts the old value of a guarded set that gives a float,
        and takes abs.f32 under a guard as a change of the sign bit, which shows on a NaN."""
        name = self.mnemonic.split(".")[0]
        return name not in ("testp", "abs", "neg") and (name != "set" or self.results[0] == "i32")

    @property
    def distinct(self) -> bool:
        """Whether two equal sources are to be avoided: ptxas replaces min(a, a) by a, which shows on a NaN."""
        return self.mnemonic.startswith(("min", "max"))


def words(*parts: str | Iterable[str]) -> Iterator[str]:
    """All mnemonics from parts that are words or choices of words; an empty word leaves its dot out."""
    for chosen in product(*[(part,) if isinstance(part, str) else tuple(part) for part in parts]):
        yield ".".join(word for word in chosen if word)


def flavour_of(kind: str) -> str:
    """The flavour of values for a PTX type."""
    if kind in ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "pred"):
        return kind
    if kind.endswith("x2"):
        return "i32"
    return {"8": "i16", "16": "i16", "32": "i32", "64": "i64"}[kind.lstrip("bus")]


def typed(mnemonics: Iterable[str], sources: int, last: str | None = None) -> Iterator[Template]:
    """Templates whose operands all have the mnemonic's last type; `last` replaces the last source's flavour."""
    for mnemonic in mnemonics:
        flavour = flavour_of(mnemonic.rsplit(".", 1)[1])
        operands = [flavour] * sources
        if last is not None:
            operands[-1] = last
        yield Template(mnemonic, (flavour,), tuple(operands))


INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
SIGNED = ("s16", "s32", "s64")
BITS = ("b16", "b32", "b64")


def integer() -> Iterator[Template]:
    """Integer arithmetic and bit operations."""
    yield from typed(words(("add", "sub"), INTEGERS), 2)
    yield from typed(("add.sat.s32", "sub.sat.s32", "add.u16x2", "add.s16x2"), 2)
    yield from typed(words("mul", ("lo", "hi"), INTEGERS), 2)
    yield from typed(words("mad", ("lo", "hi"), INTEGERS), 3)
    yield from typed(("mad.hi.sat.s32",), 3)
    for kind in ("u16", "s16", "u32", "s32"):
        narrow, wide = flavour_of(kind), {"16": "i32", "32": "i64"}[kind[1:]]
        yield Template(f"mul.wide.{kind}", (wide,), (narrow, narrow))
        yield Template(f"mad.wide.{kind}", (wide,), (narrow, narrow, wide))
    yield from typed(words("mul24", ("lo", "hi"), ("u32", "s32")), 2)
    yield from typed(words("mad24", ("lo", "hi"), ("u32", "s32")), 3)
    yield from typed(("mad24.hi.sat.s32",), 3)
    yield from typed(words("sad", INTEGERS), 3)
    yield from typed(words(("div", "rem"), INTEGERS), 2)
    yield from typed(words(("abs", "neg"), SIGNED), 1)
    yield from typed(words(("min", "max"), (*INTEGERS, "u16x2", "s16x2", "relu.s16x2", "relu.s32")), 2)
    for first, second in product(("u32", "s32"), repeat=2):
        yield Template(f"dp4a.{first}.{second}", ("i32",), ("i32", "i32", "i32"))
        for half in ("lo", "hi"):
            yield Template(f"dp2a.{half}.{first}.{second}", ("i32",), ("i32", "i32", "i32"))
    yield from typed(words(("and", "or", "xor"), (*BITS, "pred")), 2)
    yield from typed(words("not", (*BITS, "pred")), 1)
    yield from typed(words("cnot", BITS), 1)
    yield from typed(words("shl", BITS), 2, "small")
    yield from typed(words("shr", (*BITS, *INTEGERS)), 2, "small")
    yield from typed(words("shl", BITS), 2, "i32")
    yield from typed(words("shr", (*BITS, *INTEGERS)), 2, "i32")
    for mnemonic in words("shf", ("l", "r"), ("clamp", "wrap"), "b32"):
        yield Template(mnemonic, ("i32",), ("i32", "i32", "small"))
        yield Template(mnemonic, ("i32",), ("i32", "i32", "i32"))
    yield Template("lop3.b32", ("i32",), ("i32", "i32", "i32", "0:255"))
    for combine in ("and", "or"):
        yield Template(f"lop3.{combine}.b32", ("i32", "pred"), ("i32", "i32", "i32", "0:255", "pred"))
    for name, kind in product(("popc", "clz"), ("b32", "b64")):
        yield Template(f"{name}.{kind}", ("i32",), (flavour_of(kind),))
    for amount, kind in product(("", "shiftamt"), ("u32", "s32", "u64", "s64")):
        yield Template(next(words("bfind", amount, kind)), ("i32",), (flavour_of(kind),))
    yield from typed(words("brev", ("b32", "b64")), 1)
    yield Template("fns.b32", ("i32",), ("i32", "0:31", "-4:4"))
    for kind in ("u32", "s32", "u64", "s64"):
        flavour = flavour_of(kind)
        yield Template(f"bfe.{kind}", (flavour,), (flavour, "small", "small"))
        yield Template(f"bfe.{kind}", (flavour,), (flavour, "byte", "byte"))
    for kind in ("b32", "b64"):
        flavour = flavour_of(kind)
        yield Template(f"bfi.{kind}", (flavour,), (flavour, flavour, "small", "small"))
        yield Template(f"bfi.{kind}", (flavour,), (flavour, flavour, "byte", "byte"))
    for mode, kind in product(("clamp", "wrap"), ("u32", "s32")):
        yield Template(f"szext.{mode}.{kind}", ("i32",), ("i32", "small"))
        yield Template(f"szext.{mode}.{kind}", ("i32",), ("i32", "i32"))
    for mode in ("clamp", "wrap"):
        yield Template(f"bmsk.{mode}.b32", ("i32",), ("small", "small"))
        yield Template(f"bmsk.{mode}.b32", ("i32",), ("i32", "i32"))
    yield Template("prmt.b32", ("i32",), ("i32", "i32", "i32"))
    yield Template("prmt.b32", ("i32",), ("i32", "i32", "0:65535"))
    for mode in PERMUTES:
        yield Template(f"prmt.b32.{mode}", ("i32",), ("i32", "i32", "i32"))


def single() -> Iterator[Template]:
    """f32, exact instructions only."""
    # mul has a rounding always: without one ptxas may fuse it with an add
    yield from typed(words(("add", "sub"), ("", *ROUNDINGS), ("", "ftz"), ("", "sat"), "f32"), 2)
    yield from typed(words("mul", ROUNDINGS, ("", "ftz"), ("", "sat"), "f32"), 2)
    yield from typed(words("fma", ROUNDINGS, ("", "ftz"), ("", "sat"), "f32"), 3)
    yield from typed(words("div", ROUNDINGS, ("", "ftz"), "f32"), 2)
    yield from typed(words(("rcp", "sqrt"), ROUNDINGS, ("", "ftz"), "f32"), 1)
    yield from typed(words(("min", "max"), ("", "ftz"), ("", "NaN"), ("", "xorsign.abs"), "f32"), 2)
    yield from typed(words(("abs", "neg"), ("", "ftz"), "f32"), 1)
    yield from typed(("copysign.f32",), 2)
    for what in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        yield Template(f"testp.{what}.f32", ("pred",), ("f32",))


def double() -> Iterator[Template]:
    """f64. Which of two NaNs a sum hands on depends on the order in which ptxas places its operands: one source at most can be a NaN."""
    for template in _double():
        for place in range(len(template.sources)):
            sources = tuple(
                flavour if index == place or flavour != "f64" else "finite_f64" for index, flavour in enumerate(template.sources)
            )
            yield Template(template.mnemonic, template.results, sources)


def _double() -> Iterator[Template]:
    yield from typed(words(("add", "sub"), ("", *ROUNDINGS), "f64"), 2)
    yield from typed(words("mul", ROUNDINGS, "f64"), 2)
    yield from typed(words("fma", ROUNDINGS, "f64"), 3)
    yield from typed(words("div", ROUNDINGS, "f64"), 2)
    yield from typed(words(("rcp", "sqrt"), ROUNDINGS, "f64"), 1)
    yield from typed(words(("min", "max"), "f64"), 2)
    yield from typed(words(("abs", "neg"), "f64"), 1)
    yield from typed(("copysign.f64",), 2)
    for what in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        yield Template(f"testp.{what}.f64", ("pred",), ("f64",))


def half() -> Iterator[Template]:
    """f16 and bf16, scalar and packed."""
    yield from typed(words(("add", "sub"), ("", "rn"), ("", "ftz"), ("", "sat"), ("f16", "f16x2")), 2)
    yield from typed(words("mul", "rn", ("", "ftz"), ("", "sat"), ("f16", "f16x2")), 2)
    yield from typed(words(("add", "sub"), ("", "rn"), ("bf16", "bf16x2")), 2)
    yield from typed(words("mul", "rn", ("bf16", "bf16x2")), 2)
    yield from typed(words("fma", "rn", ("", "ftz"), ("", "sat", "relu"), ("f16", "f16x2")), 3)
    yield from typed(words("fma", "rn", ("", "relu", "oob", "oob.relu"), ("bf16", "bf16x2")), 3)
    yield from typed(words("fma", "rn", ("oob", "oob.relu"), ("f16", "f16x2")), 3)
    yield from typed(words(("min", "max"), ("", "ftz"), ("", "NaN"), ("", "xorsign.abs"), ("f16", "f16x2")), 2)
    yield from typed(words(("min", "max"), ("", "NaN"), ("", "xorsign.abs"), ("bf16", "bf16x2")), 2)
    yield from typed(words(("abs", "neg"), ("", "ftz"), ("f16", "f16x2")), 1)
    yield from typed(words(("abs", "neg"), ("bf16", "bf16x2")), 1)


CVT_INTEGERS = ("u8", "s8", *INTEGERS)


def convert() -> Iterator[Template]:
    """cvt in all forms."""
    for result, source in product(CVT_INTEGERS, repeat=2):
        if result != source:
            # .sat stands only where the source has values that the result lacks
            widens = int(result[1:]) > int(source[1:]) and (result[0] == source[0] or source[0] == "u")
            yield from _cvt(words("cvt", ("",) if widens else ("", "sat"), result, source), result, source)
    for result, source in product(CVT_INTEGERS, ("f16", "f32", "f64", "bf16")):
        if source == "bf16" and result in ("u8", "s8"):
            continue
        sat = ("", "sat") if source != "bf16" else ("",)
        for mnemonic in words("cvt", ("rni", "rzi", "rmi", "rpi"), ("", "ftz") if source == "f32" else ("",), sat, result, source):
            yield from _cvt((mnemonic,), result, source)
    for result, source in product(("f16", "f32", "f64", "bf16"), CVT_INTEGERS):
        if result == "bf16" and source in ("u8", "s8"):
            continue
        yield from _cvt(words("cvt", ROUNDINGS, ("", "sat") if result != "bf16" else ("",), result, source), result, source)
    narrowing_pairs = {("f16", "f32"), ("f16", "f64"), ("f32", "f64"), ("bf16", "f32"), ("bf16", "f64"), ("f16", "bf16"), ("bf16", "f16")}
    for result, source in product(("f16", "f32", "f64", "bf16"), repeat=2):
        if (result, source) == ("bf16", "bf16"):
            continue
        narrowing = (result, source) in narrowing_pairs
        ftz = ("", "ftz") if "f32" in (result, source) else ("",)
        roundings = ROUNDINGS if narrowing else ("rni", "rzi", "rmi", "rpi") if result == source else ("",)
        yield from _cvt(
            words("cvt", roundings, ftz, ("", "sat") if "bf16" not in (result, source) else ("",), result, source), result, source
        )
    for kind in ("f16", "bf16"):
        for flags in (("", "relu"), ("satfinite",), ("relu.satfinite",)):
            yield from _cvt(words("cvt", ("rn", "rz"), flags, kind, "f32"), kind, "f32")
            for mnemonic in words("cvt", ("rn", "rz"), flags, f"{kind}x2", "f32"):
                yield Template(mnemonic, (f"{kind}x2",), ("f32", "f32"))
    for mnemonic in (*words("cvt", ("rn", "rz"), ("", "relu"), "tf32", "f32"), "cvt.rna.tf32.f32", "cvt.rna.satfinite.tf32.f32"):
        yield Template(mnemonic, ("f32",), ("f32",))
    for code in ("e4m3x2", "e5m2x2"):
        for relu in ("", "relu"):
            yield Template(next(words("cvt.rn.satfinite", relu, code, "f32")), (code,), ("f32", "f32"))
            yield Template(next(words("cvt.rn.satfinite", relu, code, "f16x2")), (code,), ("f16x2",))
            yield Template(next(words("cvt.rn", relu, "f16x2", code)), ("f16x2",), (code,))
    for kind in ("u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"):
        if kind.endswith("16"):
            yield Template(f"cvt.pack.sat.{kind}.s32", ("i32",), ("i32", "i32"))
        else:
            yield Template(f"cvt.pack.sat.{kind}.s32.b32", ("i32",), ("i32", "i32", "i32"))


def _cvt(mnemonics: Iterable[str], result: str, source: str) -> Iterator[Template]:
    for mnemonic in mnemonics:
        yield Template(mnemonic, (flavour_of(result),), (flavour_of(source),))
        if result in ("u8", "s8", "u16", "s16") and source.startswith(("u", "s", "f32")):
            # a destination register may be wider than the type: it is filled by its sign
            yield Template(mnemonic, ("i32",), (flavour_of(source),))


def comparison() -> Iterator[Template]:
    """setp, set, selp, slct."""
    for kind in (*INTEGERS, *BITS, "f16", "bf16", "f16x2", "bf16x2", "f32", "f64"):
        floating, bits = "f" in kind, kind[0] == "b" and "f" not in kind
        operators: tuple[str, ...] = FLOAT_COMPARE if floating else ("eq", "ne") if bits else COMPARE
        if kind[0] == "u":
            operators = (*operators, "lo", "ls", "hi", "hs")
        ftz = ("", "ftz") if kind in ("f32", "f16", "f16x2") else ("",)
        flavour = flavour_of(kind)
        for how in operators:
            small = kind in ("f16", "bf16")
            results = ("pred",) if small else ("pred", "pred")
            for mnemonic in words("setp", how, ftz, kind):
                yield Template(mnemonic, results, (flavour, flavour))
            for mnemonic in words("setp", how, ("and", "or", "xor"), ftz, kind):
                yield Template(mnemonic, results, (flavour, flavour, "pred"))
            # ptxas 13.0 leaves both halves of the register set where a scalar float is the result: a later cvt.u32.u16 sees them
            targets: tuple[str, ...] = ("u16", "u32") if small else (kind, "u32") if kind.endswith("x2") else ("u32", "s32", "f32")
            for target in targets:
                if "b" in target and ftz != ("",):
                    continue
                result = flavour_of(target)
                for mnemonic in words("set", how, ftz, target, kind):
                    yield Template(mnemonic, (result,), (flavour, flavour))
                for mnemonic in words("set", how, "xor", ftz, target, kind):
                    yield Template(mnemonic, (result,), (flavour, flavour, "pred"))
    for kind in (*INTEGERS, *BITS, "f32", "f64"):
        flavour = flavour_of(kind)
        yield Template(f"selp.{kind}", (flavour,), (flavour, flavour, "pred"))
        yield Template(f"slct.{kind}.s32", (flavour,), (flavour, flavour, "i32"))
        yield Template(f"slct.{kind}.f32", (flavour,), (flavour, flavour, "f32"))
        yield Template(f"slct.ftz.{kind}.f32", (flavour,), (flavour, flavour, "f32"))


FAMILIES = {"integer": integer, "f32": single, "f64": double, "half": half, "cvt": convert, "compare": comparison}
