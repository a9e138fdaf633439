"""Video instructions against the ISA's pseudocode in plain Python integers, one thread at a time."""

from __future__ import annotations

import random

import numpy as np
import pytest
from simulator.machine.kernels import run

WORDS = [0x00000000, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x12F03480, 0xFF017F80, 0x00FF00FF, 0x8000FFFF]


def word(bits: int, kind: str, selector: str = "") -> int:
    """A register's word, half or byte as a Python number."""
    width = 32 if not selector else 8 if selector[0] == "b" else 16
    part = bits >> (int(selector[1]) * width if selector else 0) & (1 << width) - 1
    return part - (1 << width) if kind == "s32" and part >> (width - 1) else part


def clamp(value: int, width: int, kind: str) -> int:
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind == "s32" else (0, (1 << width) - 1)
    return min(max(value, low), high)


def values() -> tuple[list[int], list[int], list[int]]:
    """Three operands for each of 32 threads: edge cases, then random words."""
    source = random.Random(7)
    pairs = [(x, y) for x in WORDS[:4] for y in WORDS[:4]] + [(source.choice(WORDS), source.getrandbits(32)) for _ in range(16)]
    return [x for x, _ in pairs], [y for _, y in pairs], [source.getrandbits(32) for _ in pairs]


def results(line: str) -> tuple[list[int], list[tuple[int, int, int]]]:
    """What `line` gives in %r12 from %r9, %r10, %r11."""
    a, b, c = values()
    table = "".join(f".global .u32 {name}[32] = {{{', '.join(map(str, words))}}};\n" for name, words in (("a", a), ("b", b), ("c", c)))
    loads = "".join(
        f"mov.u64 %rd4, {name}; cvta.global.u64 %rd4, %rd4; mul.wide.u32 %rd5, %r1, 4; add.u64 %rd4, %rd4, %rd5; ld.global.u32 %r{9 + index}, [%rd4];\n"
        for index, name in enumerate("abc")
    )
    words, report = run(f"{loads}{line};\nst.global.u32 [%rd3], %r12;", before=table)
    assert report.verdict == "clean", report.text()
    return words.tolist(), list(zip(a, b, c, strict=True))


SCALAR = {"vadd": lambda x, y: x + y, "vsub": lambda x, y: x - y, "vabsdiff": lambda x, y: abs(x - y), "vmin": min, "vmax": max}


@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize(
    ("types", "flags", "selectors"),
    [
        (("u32", "u32", "s32"), "", ("", "", "")),
        (("s32", "s32", "s32"), ".sat", ("", "", "")),
        (("u32", "s32", "u32"), ".sat", ("", "b2", "h1")),
        (("s32", "u32", "s32"), ".sat", ("b1", "h0", "b3")),
        (("u32", "s32", "s32"), ".sat.add", ("", "", "")),
        (("s32", "u32", "s32"), ".sat.min", ("", "h1", "")),
        (("u32", "u32", "u32"), ".sat.max", ("", "", "b0")),
        (("s32", "s32", "u32"), "", ("h1", "", "")),
    ],
)
def test_scalar(name: str, types: tuple[str, str, str], flags: str, selectors: tuple[str, str, str]) -> None:
    place, first, second = selectors
    dotted = [f".{item}" if item else "" for item in selectors]
    combined = flags.split(".")[-1] in ("add", "min", "max")
    third = ", %r11" if combined or place else ""
    got, operands = results(f"{name}.{'.'.join(types)}{flags} %r12{dotted[0]}, %r9{dotted[1]}, %r10{dotted[2]}{third}")
    for index, (a, b, c) in enumerate(operands):
        value = SCALAR[name](word(a, types[1], first), word(b, types[2], second))
        width = 32 if not place else 8 if place[0] == "b" else 16
        if ".sat" in flags:
            value = clamp(value, width, types[0])
        if combined:
            other = word(c, types[0])
            value = {"add": value + other, "min": min(value, other), "max": max(value, other)}[flags.split(".")[-1]]
        if place:
            shift = width * int(place[1])
            mask = ((1 << width) - 1) << shift
            value = (value << shift & mask) | (c & ~mask)
        assert got[index] == value & 0xFFFFFFFF, (index, hex(a), hex(b), hex(c))


@pytest.mark.parametrize("name", ["vshl", "vshr"])
@pytest.mark.parametrize("mode", ["clamp", "wrap"])
@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_shift(name: str, mode: str, kind: str) -> None:
    got, operands = results(f"{name}.{kind}.{kind}.u32.sat.{mode} %r12, %r9, %r10.b0")
    for index, (a, b, _) in enumerate(operands):
        amount = b & 255
        amount = min(amount, 32) if mode == "clamp" else amount & 31
        value = word(a, kind) << amount if name == "vshl" else word(a, kind) >> amount
        value &= (1 << 34) - 1  # the intermediate result has 34 bits
        value -= (1 << 34) if value >> 33 else 0
        assert got[index] == clamp(value, 32, kind) & 0xFFFFFFFF, (index, hex(a), amount)


@pytest.mark.parametrize(
    ("form", "operands"),
    [
        ("u32.u32.u32", "%r9, %r10, %r11"),
        ("u32.u32.u32.po.shr7", "%r9, %r10, %r11"),
        ("u32.u32.u32.sat.shr15", "%r9, %r10, %r11"),
        ("s32.s32.u32.sat", "%r9, -%r10, %r11"),
        ("s32.u32.u32.sat", "%r9, %r10, -%r11"),
        ("s32.s32.s32.shr15", "-%r9.h1, %r10.h0, %r11"),
        ("s32.s32.u32.sat.shr7", "%r9, %r10.b2, %r11"),
    ],
)
def test_multiply_add(form: str, operands: str) -> None:
    got, sources = results(f"vmad.{form} %r12, {operands}")
    _, a_type, b_type, *flags = form.split(".")
    parts = [item.strip() for item in operands.split(",")]
    selectors = [item.split(".")[1] if "." in item else "" for item in parts]
    minus = [item.startswith("-") for item in parts]
    signed = "s32" in (a_type, b_type) or minus[0] != minus[1] or minus[2]
    for index, (a, b, c) in enumerate(sources):
        product = word(a, a_type, selectors[0]) * word(b, b_type, selectors[1]) * (-1 if minus[0] != minus[1] else 1)
        value = product + word(c, "s32" if signed else "u32") * (-1 if minus[2] else 1) + ("po" in flags)
        value >>= 7 if "shr7" in flags else 15 if "shr15" in flags else 0
        if "sat" in flags:
            value = clamp(value, 32, "s32" if signed else "u32")
        assert got[index] == value & 0xFFFFFFFF, (index, hex(a), hex(b), hex(c))


@pytest.mark.parametrize(("compare", "truth"), [("lt", lambda x, y: x < y), ("ge", lambda x, y: x >= y), ("ne", lambda x, y: x != y)])
def test_comparison(compare: str, truth: object) -> None:
    got, operands = results(f"vset.s32.u32.{compare}.add %r12, %r9.h1, %r10.h0, %r11")
    for index, (a, b, c) in enumerate(operands):
        value = int(truth(word(a, "s32", "h1"), word(b, "u32", "h0")))  # type: ignore[operator]
        assert got[index] == (value + c) & 0xFFFFFFFF


def average(x: int, y: int) -> int:
    return (x + y + 1) >> 1 if x + y >= 0 else (x + y) >> 1


LANES = SCALAR | {"vavrg": average}


@pytest.mark.parametrize("name", LANES)
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize(("types", "flag"), [(("u32", "u32", "s32"), ".sat"), (("s32", "s32", "s32"), ""), (("s32", "u32", "s32"), ".add")])
def test_lanes(name: str, count: int, types: tuple[str, str, str], flag: str) -> None:
    letter = "h" if count == 2 else "b"
    orders = ("13", "20") if count == 2 else ("0472", "7153")
    mask = "h1" if count == 2 else "b31"
    got, operands = results(f"{name}{count}.{'.'.join(types)}{flag} %r12.{mask}, %r9.{letter}{orders[0]}, %r10.{letter}{orders[1]}, %r11")
    width = 32 // count
    for index, (a, b, c) in enumerate(operands):
        both = b << 32 | a

        def pick(order: str, position: int, kind: str, both: int = both) -> int:
            part = both >> width * int(order[count - 1 - position]) & (1 << width) - 1
            return part - (1 << width) if kind == "s32" and part >> (width - 1) else part

        total = c
        merged = c
        for position in (int(digit) for digit in mask[1:]):
            value = LANES[name](pick(orders[0], position, types[1]), pick(orders[1], position, types[2]))
            if flag == ".sat":
                value = clamp(value, width, types[0])
            total += value
            lane = (1 << width) - 1 << width * position
            merged = merged & ~lane | value << width * position & lane
        assert got[index] == (total if flag == ".add" else merged) & 0xFFFFFFFF, (index, hex(a), hex(b), hex(c))


def test_defaults_of_lanes() -> None:
    """Without selectors the lanes of a meet those of b, all of them: what __vabsdiffu4 and __vsadu2 are made of."""
    got, operands = results("vabsdiff4.u32.u32.u32 %r12, %r9, %r10, %r11")
    for value, (a, b, _) in zip(got, operands, strict=True):
        x, y = (np.array([item], np.uint32).view(np.uint8).astype(int) for item in (a, b))
        assert value == int(np.abs(x - y).astype(np.uint8).view(np.uint32)[0])
    got, operands = results("vabsdiff2.u32.u32.u32.add %r12, %r9, %r10, %r11")
    for value, (a, b, c) in zip(got, operands, strict=True):
        x, y = (np.array([item], np.uint32).view(np.uint16).astype(int) for item in (a, b))
        assert value == (int(np.abs(x - y).sum()) + c) & 0xFFFFFFFF


@pytest.mark.parametrize(
    "line",
    ["vadd.s32.s32.s32 %r12, %r9.h3, %r10", "vadd2.s32.s32.s32 %r12, %r9.h41, %r10, %r11", "vmad.s32.s32.s32 %r12, -%r9, %r10, -%r11"],
)
def test_what_ptxas_refuses_is_refused(line: str) -> None:
    from fa4dsl.runtime.diagnostics import Fa4dslError

    with pytest.raises(Fa4dslError) as caught:
        run(line + ";")
    assert caught.value.code in ("S001", "S004", "S005")
