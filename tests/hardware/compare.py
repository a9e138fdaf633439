"""The simulator's outputs beside the GPU's, and the shortest program that shows a difference."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hardware.program import Program, Saved
from hardware.simulate import run_program

_REGISTER = re.compile(r"%[hrdp]\d+")


@dataclass
class Difference:
    """Where the outputs of a program differ first, in the order of its statements."""

    program: Program
    line: int
    what: str
    element: int
    hardware: int
    simulator: int
    elements: int
    """How many elements of that result differ."""
    complaint: str = ""

    def text(self) -> str:
        """The statement, the values, and for straight-line arithmetic the values of its operands."""
        if self.complaint:
            return f"{self.program.name} ({self.program.kind}): {self.complaint}"
        statement = self.program.body[self.line].strip() if self.line >= 0 else ""
        return (
            f"{self.program.name} ({self.program.kind}) {self.what}, element {self.element} ({self.elements} differ): "
            f"hardware {self.hardware:#x}, simulator {self.simulator:#x} {assembler(self)}\n    {statement}"
        )


def compare(program: Program, hardware: bytes, check: bool | None = None) -> Difference | None:
    """None when all bytes are equal and the simulator has no complaint."""
    outcome = run_program(program, check)
    if outcome.complaint.startswith("error: S010"):
        return Difference(program, -1, "", -1, 0, 0, 0, outcome.complaint)
    ours, theirs = outcome.output, np.frombuffer(hardware, np.uint8)
    if np.array_equal(ours, theirs) and not outcome.complaint:
        return None
    for saved in sorted(program.saved, key=lambda item: item.line):
        a, b = (array[saved.offset : saved.offset + saved.size * saved.count].view(f"u{saved.size}") for array in (theirs, ours))
        wrong = np.flatnonzero(a != b)
        if len(wrong):
            first = int(wrong[0])
            return Difference(program, saved.line, saved.what, first, int(a[first]), int(b[first]), len(wrong))
    if outcome.complaint:
        return Difference(program, -1, "", -1, 0, 0, 0, outcome.complaint)
    first = int(np.flatnonzero(ours != theirs)[0])
    return Difference(program, -1, "byte of o", first, int(theirs[first]), int(ours[first]), int((ours != theirs).sum()))


_JOINED = ("f16", "bf16", "f16x2", "bf16x2", "s16", "f32", "f64")


def assembler(difference: Difference) -> str:
    """Which change that ptxas 13.0 makes explains a difference, "" for none: docs/hardware.md lists them.

    They show on values for which the ISA leaves the result open (NaNs, the least integer, a zero divisor) or are mistakes; in both cases the GPU ran
    other code than the PTX says.
    """
    program = difference.program
    if difference.line < 0:
        return ""
    statement = _statement(program.body[difference.line])
    writers = {register: _statement(line) for line in program.body[: difference.line] for register in _written(line)}
    for source in _REGISTER.findall(program.body[difference.line]):
        writer = writers.get(source, "")
        if writer == "mov.b32":
            inner = [line for line in program.body[: difference.line] if f"mov.b32 {source}, {{" in line]
            writer = next(
                (w for w in (writers.get(r, "") for line in inner for r in _REGISTER.findall(line)[1:]) if w.startswith(("abs", "neg"))),
                writer,
            )
        if writer.startswith(("abs.", "neg.")) and writer.rsplit(".", 1)[1] in _JOINED:
            return "abs or neg joined with the instruction that uses it"
        if statement.startswith("cvt") and re.search(r"\.[us]\d+$", statement) and re.search(r"cvt\.r[nzmp]i.*\.b?f\d+$", writer):
            return "two conversions, by way of an integer, made one"
        if re.search(r"i(\.ftz)?(\.sat)?\.[us]\d+\.b?f16$", statement) and re.search(r"\.(f16\.bf16|bf16\.f16)$", writer):
            return "two conversions, between f16 and bf16 and to an integer, made one"
        if writer.endswith(".f32") and (re.fullmatch(r"sh[lr]\.[bus]64", statement) or (".sat" in writer and statement.startswith("abs"))):
            return "the bits of an f32 result, as a shift amount or packed pair, not taken as they are"
        if statement.startswith(("div", "rem")) and writer.startswith("lop3"):
            return "division by a zero known beforehand"
    if statement == "cvt.s8.u64":
        return "the sign of cvt.s8.u64 reaches the upper half of a 32-bit register"
    return ""


def _statement(line: str) -> str:
    """The mnemonic of a statement."""
    found = re.match(r"\s*(?:@!?%p\d+ )?([a-z][\w.:]*) ", line)
    return found[1] if found else ""


def _compare_one(item: tuple[Program, bytes]) -> Difference | None:
    return compare(*item)


def compare_all(items: Iterable[tuple[Program, bytes]], workers: int | None = None) -> Iterator[tuple[Program, Difference | None]]:
    """All programs, on several processes."""
    listed = list(items)
    with ProcessPoolExecutor(workers or os.cpu_count()) as pool:
        for (program, _), found in zip(listed, pool.map(_compare_one, listed, chunksize=8), strict=True):
            yield program, found


def shrink(difference: Difference, hardware: bytes) -> Program:
    """The shortest program that still computes the differing result.

    No GPU is needed: a statement's operands that were stored are known to be equal on both, so each is replaced by a load of the GPU's own value from x.
    What then is left is the backward slice of the differing statement.
    """
    program = difference.program
    if difference.line < 0:
        return program
    stored: dict[str, Saved] = {saved.what: saved for saved in program.saved if _REGISTER.fullmatch(saved.what)}
    straight = not any("bra " in line or "bar." in line or "shared" in line for line in program.body)
    if not straight:
        return _slice(program, difference.line)
    operands = _REGISTER.findall(program.body[difference.line])
    lines, inputs = [], b""
    known: set[str] = set()
    for register in dict.fromkeys(operands):
        saved = stored.get(register)
        if saved is None or saved.line >= difference.line or register[1] == "p":
            continue
        known.add(register)
        raw = np.frombuffer(hardware[saved.offset : saved.offset + saved.size * saved.count], f"u{saved.size}")
        value = int(raw[difference.element % len(raw)])
        lines.append((register, value, {"h": 16, "r": 32, "d": 64}[register[1]]))
    del inputs
    wanted = _slice(program, difference.line, known)
    moves = [f"\tmov.b{width} {register}, {value:#x};" for register, value, width in lines]
    place = next(index for index, line in enumerate(wanted.body) if line == program.body[difference.line])
    wanted.body[place:place] = moves
    return wanted


def _slice(program: Program, target: int, known: set[str] = frozenset()) -> Program:  # type: ignore[assignment]
    """The statements that the one at `target` needs, and those that store what it gives. Statements without registers of their own stay."""
    control = any("bra " in line or "brx" in line for line in program.body)
    if control:
        # branches tie everything together: cut what comes after instead
        last = max([saved.line for saved in program.saved if saved.line <= target], default=target)
        later = {register for saved in program.saved if saved.line > last for register in [saved.what]}
        body = [line for line in program.body if not any(f", {register};" in line and "st.global" in line for register in later)]
        return replace(program, body=body, saved=[saved for saved in program.saved if saved.line <= last])
    needed = set(_REGISTER.findall(program.body[target])) - known
    keep = {target}
    for index in range(target - 1, -1, -1):
        line = program.body[index]
        names = _REGISTER.findall(line)
        if not names or ".reg" in line or "[x]" in line:
            keep.add(index)
        elif not line.strip().startswith("st.") and (set(_written(line)) & needed):
            keep.add(index)
            needed |= set(names) - known
        elif (
            "st.shared" in line
            or "st.local" in line
            or "bar." in line
            or "mbarrier" in line
            or "cp." in line
            or "atom" in line
            or "red" in line
        ):
            keep.add(index)
            needed |= set(names)
    given = set(_written(program.body[target]))
    for index in range(target + 1, len(program.body)):
        line = program.body[index]
        if set(_REGISTER.findall(line)) & given and ("st." in line or "cvt.u32.u16" in line or "selp.u32" in line):
            keep.add(index)
            given |= set(_written(line)) if not line.strip().startswith("st.") else set()
    body = [line for index, line in enumerate(program.body) if index in keep]
    kept = [saved for saved in program.saved if saved.line == target]
    return replace(program, body=body, saved=[replace(saved, line=body.index(program.body[target])) for saved in kept])


def _written(line: str) -> list[str]:
    """Registers that a statement (or the parts of one) writes: those before the first comma of each part, or in its braces."""
    found: list[str] = []
    for part in line.split(";"):
        head = re.sub(r"^\s*(@!?%p\d+)?\s*[\w.:]+\s*", "", part)
        if head.startswith("{"):
            found += _REGISTER.findall(head[: head.index("}") + 1])
        else:
            found += _REGISTER.findall(head.split(",")[0])
    return found


def table(results: Iterable[tuple[Program, Difference | None]]) -> tuple[str, list[Difference]]:
    """The table by class, and all differences."""
    counts: dict[str, list[int]] = {}
    differences = []
    for program, found in results:
        entry = counts.setdefault(program.kind, [0, 0, 0, 0])
        entry[0] += 1
        entry[1 if found is None else 2 if assembler(found) else 3] += 1
        if found is not None:
            differences.append(found)
    lines = [f"{'class':12}{'programs':>10}{'equal':>8}{'by ptxas':>10}{'different':>11}"]
    for kind, (programs, equal, changed, different) in sorted(counts.items()):
        lines.append(f"{kind:12}{programs:>10}{equal:>8}{changed:>10}{different:>11}")
    total = [sum(entry[index] for entry in counts.values()) for index in range(4)]
    lines.append(f"{'all':12}{total[0]:>10}{total[1]:>8}{total[2]:>10}{total[3]:>11}")
    return "\n".join(lines), differences


def operand_values(difference: Difference, hardware: bytes) -> dict[str, Any]:
    """Values of the differing statement's operands in the differing thread, where they were stored."""
    program = difference.program
    values: dict[str, Any] = {}
    if difference.line < 0:
        return values
    for register in dict.fromkeys(_REGISTER.findall(program.body[difference.line])):
        for saved in program.saved:
            if saved.what == register and saved.line < difference.line:
                raw = np.frombuffer(hardware[saved.offset : saved.offset + saved.size * saved.count], f"u{saved.size}")
                values[register] = hex(int(raw[difference.element % len(raw)]))
    return values
