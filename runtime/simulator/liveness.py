"""Which registers decide anything (those that reach memory, a branch or another instruction with an effect), and which hold a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.ptx.instruction import Special
from fa4dsl.runtime.simulator.fragments import registers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction

PURE = frozenset(
    {
        "abs", "add", "and", "bfe", "bfi", "cvt", "lop3", "mad", "max", "min", "mov", "mul", "neg", "not", "or", "popc", "prmt", "selp", "set",
        "setp", "shf", "shl", "shr", "slct", "sub", "xor",
    }
)  # fmt: skip
"""Instructions that only compute their first operand."""


CLOCKS = frozenset({"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"})


def timed(instructions: Sequence[Instruction]) -> set[str]:
    """Names of the registers that are computed from a clock."""
    found: set[str] = set()
    results: dict[str, set[str]] = {}
    for instruction in instructions:
        operands = instruction.operands
        if instruction.name not in PURE or not operands:
            continue
        written = set(registers(operands[0]))
        if any(isinstance(operand, Special) and operand.name in CLOCKS for operand in operands[1:]):
            found |= written
        for operand in operands[1:]:
            for name in registers(operand):
                results.setdefault(name, set()).update(written)
    return _closure(found, results)


def _closure(found: set[str], leads_to: dict[str, set[str]]) -> set[str]:
    """`found`, and all that its members lead to."""
    reached = list(found)
    while reached:
        more = leads_to.get(reached.pop(), set()) - found
        found |= more
        reached += more
    return found


def deciding(instructions: Sequence[Instruction]) -> set[str]:
    """Names of the registers that some instruction with an effect, or a guard, uses or is computed from."""
    found: set[str] = set()
    sources: dict[str, set[str]] = {}
    for instruction in instructions:
        if instruction.guard is not None:
            found.add(instruction.guard)
        operands = instruction.operands
        pure = instruction.name in PURE
        if pure or (instruction.name == "mbarrier" and instruction.modifiers[:1] in (("test_wait",), ("try_wait",))):
            used = {name for operand in operands[1:] for name in registers(operand)}
            if pure:
                for result in registers(operands[0]) if operands else ():
                    sources.setdefault(result, set()).update(used)
                continue
        else:
            used = {name for operand in operands for name in registers(operand)}
        found |= used
    return _closure(found, sources)
