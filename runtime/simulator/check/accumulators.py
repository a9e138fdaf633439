"""Registers of a wgmma in flight: its accumulators must not be touched, nor its register operand overwritten, before a covering wait.

Looks along the straight line of instructions behind each wgmma that ran, up to the wait that covers it or the next branch. Plain moves are left
alone: compilers put copies there that the assembler removes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.ptx.instruction import Address, Immediate, Negated, Pair, Register, Vector
from fa4dsl.runtime.simulator.check.findings import Findings, build

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction, Operand
    from fa4dsl.runtime.simulator.check.naming import Naming

JUMPS = frozenset({"bra", "brx", "call", "ret", "exit", "trap"})
WITHOUT_RESULT = frozenset({"st", "red", "bar", "barrier", "fence", "setmaxnreg", "prefetch", "cp", "mbarrier"})


def registers(operand: Operand) -> Iterator[str]:
    """Names of all registers in an operand."""
    if isinstance(operand, Register):
        yield operand.name
    elif isinstance(operand, Vector):
        for element in operand.elements:
            yield from registers(element)
    elif isinstance(operand, Pair):
        yield from registers(operand.first)
        yield from registers(operand.second)
    elif isinstance(operand, Negated):
        yield from registers(operand.operand)
    elif isinstance(operand, Address):
        yield from registers(operand.base)
        for coordinate in operand.coordinates:
            yield from registers(coordinate)


def first_misuse(product: Instruction, following: Sequence[Instruction]) -> tuple[Instruction, int] | None:
    """The first instruction that touches registers of `product` too early, and the wait that would do: the N of wgmma.wait_group."""
    accumulators = set(registers(product.operands[0]))
    sources = set(registers(product.operands[1])) if isinstance(product.operands[1], Vector) else set()
    committed, newer = False, 0
    for instruction in following:
        if instruction.name == "wgmma":
            if instruction.mnemonic.startswith("wgmma.commit_group"):
                newer += committed
                committed = True
            elif instruction.mnemonic.startswith("wgmma.wait_group"):
                count = instruction.operands[0]
                if committed and isinstance(count, Immediate) and newer >= count.bits:
                    return None
            continue
        if instruction.name in JUMPS:
            return None
        if instruction.name == "mov":
            continue
        touched = [name for operand in instruction.operands for name in registers(operand)]
        written = set() if instruction.name in WITHOUT_RESULT or not instruction.operands else set(registers(instruction.operands[0]))
        if accumulators.intersection(touched) or sources & written:
            return instruction, newer
    return None


def check_accumulators(program: Sequence[Instruction], executed: Sequence[Instruction], findings: Findings, naming: Naming) -> None:
    """Files S047 for each wgmma that ran and whose registers are touched too early."""
    place = {instruction: index for index, instruction in enumerate(program)}
    for product in executed:
        if not product.mnemonic.startswith("wgmma.mma_async") or product not in place or len(product.operands) < 2:
            continue
        found = first_misuse(product, program[place[product] + 1 :])
        if found is None:
            continue
        user, count = found
        frames = [*naming.frames(product, "the wgmma, still in flight"), *naming.frames(user, "touches its registers")]
        fields: dict[str, Any] = {"product": naming.line(product), "use": naming.line(user), "instruction": user.mnemonic, "count": count}
        findings.add(("S047", naming.place(user)), build("S047", frames, **fields))
