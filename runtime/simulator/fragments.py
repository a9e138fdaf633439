"""Registers of wgmma: what a thread may do with accumulators and register operands, and when (PTX ISA 9.7.15, asynchronous warpgroup).

While a product is in flight its accumulators must not be touched, nor its register operand be overwritten: only a `wgmma.wait_group` that covers
it ends that (S047). And between any access to such a register and the product that uses it lies a `wgmma.fence`; so too before a
warpgroup's first product (S048).

Instructions that name one of these registers tell `Fragments` when they run; all others cost nothing. Plain moves are not held
against a program, since compilers put copies for tied operands behind the fence, which the assembler removes; a register that was
moved out of an accumulator in flight is watched like the accumulator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fa4dsl.runtime.ptx.instruction import Address, Negated, Pair, Register, Selected, Vector
from fa4dsl.runtime.simulator.frames import outermost
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction, Operand
    from fa4dsl.runtime.simulator.machine import Machine

WITHOUT_RESULT = frozenset({"st", "red", "bar", "barrier", "fence", "setmaxnreg", "prefetch", "cp", "mbarrier", "bra", "stmatrix"})

UNOPTIMISED = (
    "the wgmma's own statement moves its accumulators to or from memory: nvcc does so with -G and -O0; compile with optimisation "
    "(ptxas waits after every wgmma of such code, so it is slow rather than wrong)"
)


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
    elif isinstance(operand, Selected):
        yield operand.register.name
    elif isinstance(operand, Address):
        yield from registers(operand.base)
        for coordinate in operand.coordinates:
            yield from registers(coordinate)


def is_product(instruction: Instruction) -> bool:
    return instruction.name == "wgmma" and instruction.modifiers[:1] == ("mma_async",) and len(instruction.operands) > 1


def product_registers(instruction: Instruction) -> tuple[frozenset[str], frozenset[str]]:
    """(accumulators, registers of operand A and of a sparse product's metadata)."""
    operand = instruction.operands[1]
    sources = list(registers(operand)) if isinstance(operand, Vector) else []
    if "sp" in instruction.modifiers:
        sources += registers(instruction.operands[3])
    return frozenset(registers(instruction.operands[0])), frozenset(sources)


@dataclass(eq=False)
class Flight:
    """A product that no wait has covered yet; `group` counts the commits before its own, None while it is not committed."""

    site: Instruction
    accumulators: frozenset[str]
    sources: frozenset[str]
    group: int | None = None
    copies: set[str] = field(default_factory=set)


@dataclass
class Warpgroup:
    fence: Instruction | None = None
    touched: dict[str, Instruction] = field(default_factory=dict)
    """Registers accessed since that fence, with the last instruction that did."""
    flights: list[Flight] = field(default_factory=list)
    commits: int = 0


class Fragments:
    """The state of every warpgroup. `watch` the steps of a function's instructions once `learn` has seen them all."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        grid = machine.grid
        self.per_cta = max(-(-grid.stride // 128), 1)
        self.names: set[str] = set()
        self.groups: dict[int, Warpgroup] = {}
        machine.wave_hooks.append(self.groups.clear)

    # -- at decoding
    def learn(self, instructions: Sequence[Instruction]) -> None:
        """Collects the registers of all products, and those that moves copy them to."""
        self.names.clear()
        for instruction in instructions:
            if is_product(instruction):
                self.names.update(*product_registers(instruction))
        if not self.names:
            return
        moves = [
            (set(registers(i.operands[0])), set(registers(i.operands[1]))) for i in instructions if i.name == "mov" and len(i.operands) == 2
        ]
        while True:
            reached = {name for to, origin in moves if origin & self.names for name in to} - self.names
            if not reached:
                return
            self.names |= reached

    def watch(self, instruction: Instruction, step: Step) -> Step:
        """`step`, telling of the watched registers that `instruction` names."""
        if not self.names or instruction.name == "wgmma":
            return step
        named = frozenset(name for operand in instruction.operands for name in registers(operand)) & self.names
        if not named:
            return step
        written: frozenset[str] = frozenset()
        if instruction.name not in WITHOUT_RESULT and instruction.operands:
            written = frozenset(registers(instruction.operands[0])) & self.names
        if instruction.name == "mov":
            read = frozenset(registers(instruction.operands[1])) & self.names if len(instruction.operands) == 2 else frozenset()

            def tell(threads: Selection) -> None:
                self._moved(threads, read, written)

        else:

            def tell(threads: Selection) -> None:
                self._touched(instruction, threads, named, written)

        if step.straight is not None:
            inner = step.straight

            def straight(threads: Selection) -> None:
                tell(threads)
                inner(threads)

            return Step(straight, None, step.visible)
        control = step.control
        assert control is not None

        def turn(threads: Selection, pc: int) -> int | None:
            tell(threads)
            return control(threads, pc)

        return Step(None, turn, step.visible)

    # -- at run time
    def _of(self, threads: Selection) -> list[Warpgroup]:
        grid = self.machine.grid
        numbers = grid.cta[threads] * self.per_cta + grid.local_thread[threads] // 128
        low, high = int(numbers.min()), int(numbers.max())
        keys = [low] if low == high else sorted(set(numbers.tolist()))
        return [group for key in keys if (group := self.groups.get(key)) is not None]

    def _group(self, number: int) -> Warpgroup:
        found = self.groups.get(number)
        if found is None:
            found = self.groups[number] = Warpgroup()
        return found

    def _moved(self, threads: Selection, read: frozenset[str], written: frozenset[str]) -> None:
        for group in self._of(threads):
            for flight in group.flights:
                if read & (flight.accumulators | flight.copies):
                    flight.copies |= written - flight.accumulators
                else:
                    flight.copies -= written

    def _touched(self, site: Instruction, threads: Selection, named: frozenset[str], written: frozenset[str]) -> None:
        for group in self._of(threads):
            for flight in group.flights:
                if named & flight.accumulators or written & flight.sources or (named - written) & flight.copies:
                    self._early(group, flight, site, threads)
                    break
                flight.copies -= written
            for name in named:
                group.touched[name] = site

    def _early(self, group: Warpgroup, flight: Flight, site: Instruction, threads: Selection) -> None:
        machine = self.machine
        newer = 0 if flight.group is None else group.commits - 1 - flight.group
        commit = "" if flight.group is not None else "wgmma.commit_group and "
        machine.note(
            "S047",
            site,
            int(machine.grid.arange[threads][0]),
            others=((flight.site, "the wgmma, still in flight"),),
            label="touches its registers",
            hint=UNOPTIMISED if outermost(site) == outermost(flight.site) else "",
            product=machine.line(flight.site),
            use=machine.line(site),
            instruction=site.mnemonic,
            commit=commit,
            count=newer,
        )

    def fence(self, site: Instruction, threads: Selection) -> None:
        """wgmma.fence."""
        grid = self.machine.grid
        for number in sorted(set((grid.cta[threads] * self.per_cta + grid.local_thread[threads] // 128).tolist())):
            group = self._group(number)
            group.fence = site
            group.touched.clear()

    def product(self, site: Instruction, number: int, thread: int) -> None:
        """A wgmma.mma_async of warpgroup `number` is issued."""
        group = self._group(number)
        accumulators, sources = product_registers(site)
        machine = self.machine
        if group.fence is None:
            why = "no wgmma.fence comes before it, and a warpgroup's first wgmma needs one"
            machine.note("S048", site, thread, product=machine.line(site), why=why)
        else:
            users = [group.touched[name] for name in sorted((accumulators | sources) & group.touched.keys())]
            users = [user for user in users if not self._moved_by_compiler(user, group.fence)]
            if users:
                why = f"{machine.line(users[0])} ({users[0].mnemonic}) touches its registers after the last wgmma.fence, on {machine.line(group.fence)}"
                machine.note(
                    "S048", site, thread, others=((users[0], "touches registers of this wgmma"),), product=machine.line(site), why=why
                )
        group.touched = {name: user for name, user in group.touched.items() if name not in accumulators and name not in sources}
        group.flights.append(Flight(site, accumulators, sources))

    def _moved_by_compiler(self, user: Instruction, fence: Instruction) -> bool:
        """Whether the source has `user` before the fence: then a compiler has moved it, and the source is right."""
        return (
            user.place is not None
            and fence.place is not None
            and user.place.file == fence.place.file
            and user.place.line < fence.place.line
        )

    def commit(self, number: int) -> None:
        group = self._group(number)
        for flight in group.flights:
            if flight.group is None:
                flight.group = group.commits
        group.commits += 1

    def wait(self, number: int, newest: int) -> None:
        """All but the `newest` committed groups are done."""
        group = self._group(number)
        group.flights = [flight for flight in group.flights if flight.group is None or flight.group >= group.commits - newest]
