"""Roles: warps of a CTA that do one job, with registers of their own; and the single-thread blocks `elect` and friends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, cast

from fa4dsl.frontend import regions
from fa4dsl.frontend.arguments import between
from fa4dsl.frontend.arithmetic import compare
from fa4dsl.frontend.trace import Trace, current
from fa4dsl.frontend.values import Value, constant, describe, is_integer
from fa4dsl.language.blocks import Block, ConditionalBlock
from fa4dsl.language.indices import special
from fa4dsl.runtime.diagnostics import Frame, Location
from fa4dsl.types import bool_, i32

WARPGROUP = 4
"""Warps of a warpgroup."""


@dataclass
class RoleInfo:
    """A role as it was declared; what ``with role(...) as mine:`` gives: ``mine.thread()``, ``mine.warp()``, ``mine.threads``."""

    name: str
    first_warp: int
    warps: int
    registers: int
    place: Location
    barriers: int = 0

    @property
    def threads(self) -> int:
        """Threads of the role, known at compile time."""
        return 32 * self.warps

    def thread(self) -> i32:
        """This thread's index among those of the role, from 0: %tid less the role's first thread."""
        return _behind(special("thread.x"), 32 * self.first_warp)

    def warp(self) -> i32:
        """This thread's warp among those of the role, from 0."""
        return _behind(special("warp"), self.first_warp)


def _behind(index: Any, first: int) -> i32:
    """The index less a first one that it is known not to be below."""
    value = index - first if first else index
    return cast("i32", Value(value.ir, i32, nonnegative=True))


class Role(Block[RoleInfo]):
    """The block of a role; see `role`."""

    def __init__(self, name: str, warps: int, registers: int, first_warp: int | None) -> None:
        self.name = name
        self.warps = warps
        self.registers = registers
        self.first_warp = first_warp
        self.in_words = f"the role {name!r}"

    def trace_block(self, trace: Trace, place: Location, body: Callable[[Any], None]) -> None:
        if trace.role is not None:
            trace.fail("L052", Frame(place), Frame(trace.role.place, "inside this role"), name=self.name, outer=trace.role.name)
        trace.require_all_threads(f"role({self.name!r})")
        info = self._register(trace, place)
        ir = trace.ir
        number = ir.IntegerType.get_signless(32)
        sizes = {"first_warp": info.first_warp, "warps": info.warps, "registers": info.registers}
        fields = {"name": ir.StringAttr.get(info.name)} | {key: ir.IntegerAttr.get(number, value) for key, value in sizes.items()}
        trace.role = info
        try:
            regions.block_of_role(trace, {"fa4.role": ir.DictAttr.get(fields)}, place, f"the role {self.name!r}", lambda: body(info))
        finally:
            trace.role = None

    def _register(self, trace: Trace, place: Location) -> RoleInfo:
        """The same name again is the same warps; a new name takes the next free ones."""
        for known in trace.roles:
            if known.name == self.name:
                moved = self.first_warp is not None and self.first_warp != known.first_warp
                if moved or known.warps != self.warps or (self.registers and known.registers and known.registers != self.registers):
                    trace.fail("L053", Frame(place), Frame(known.place, "declared here"), name=self.name)
                return RoleInfo(known.name, known.first_warp, known.warps, self.registers, place)
        first = self.first_warp if self.first_warp is not None else max((item.first_warp + item.warps for item in trace.roles), default=0)
        info = RoleInfo(self.name, first, self.warps, self.registers, place)
        for other in trace.roles:
            if first < other.first_warp + other.warps and other.first_warp < first + self.warps:
                trace.fail("L054", Frame(place), Frame(other.place, "these warps"), name=self.name, other=other.name)
        if trace.threads and 32 * (first + self.warps) > trace.threads:
            trace.fail("L055", place, name=self.name, last=first + self.warps - 1, warps=trace.threads // 32, threads=trace.threads)
        trace.roles.append(info)
        trace.undo_later(lambda: trace.roles.remove(info))
        return info


FirstWarp = Annotated[int, between(0, 31)]


def role(name: str, warps: int, registers: int = 0, first_warp: FirstWarp | None = None) -> Role:
    """``with role("producer", warps=4, registers=40):`` the block is executed by `warps` warps of each CTA.

    Roles take warps in the order in which they are declared, from `first_warp` if given. `registers` (24..256, a multiple of 8, whole
    warpgroups) becomes setmaxnreg at the block's start. The same name again is another block of the same warps. Without
    ``@kernel(threads=...)`` the CTA has the warps of all roles; a role that calls `wgmma` starts at a multiple of 4 warps.
    ``as mine`` gives the role: ``mine.thread()`` and ``mine.warp()`` count from its first warp, ``mine.threads`` is how many there are. Inside, `block.sync()` and the cluster barrier are refused (L051): the other
    roles are elsewhere; use `named_barrier` or mbarriers. Raises L052 to L056.
    """
    trace = current()
    if warps < 1 or warps > 32:
        trace.fail("L056", trace.place_of(warps), name=name, problem=f"{warps} warps, 1 to 32 are possible")
    if registers and (registers % 8 or not 24 <= registers <= 256):
        trace.fail(
            "L056", trace.place_of(registers), name=name, problem=f"{registers} registers, setmaxnreg takes multiples of 8 from 24 to 256"
        )
    return Role(name, warps, registers, first_warp)


def elect(warp: int | None = None, *, each_warp: bool = False) -> ConditionalBlock:
    """``with elect():`` exactly one thread executes the block: of the role, or outside of roles of the CTA (elect.sync).

    The thread is in the role's (or CTA's) first warp, or in its warp number `warp`; inside ``with warp(n):`` it is in that warp. With
    `each_warp` one lane of every warp executes it. Whole warps must reach the block, and the thread's among them (C129, C134).
    """
    trace = current()
    role_info = trace.role
    inside_warp = any(words.startswith("`with warp(") for words in trace.divergence)
    warps = role_info.warps if role_info is not None else (trace.threads + 31) // 32
    if warp is not None and not (is_integer(warp) and 0 <= warp < max(warps, 1)):
        trace.fail("L057", trace.place_of(warp), given=describe(warp), warps=warps)

    def condition() -> Value:
        if each_warp or inside_warp or warps == 1:
            return Value(trace.fa4("elect").result, bool_)
        wanted = (role_info.first_warp if role_info is not None else 0) + (warp or 0)
        elected = Value(trace.fa4("elect", [], {"warp": wanted}).result, bool_)
        index = Value(trace.fa4("index", [], {"what": "warp"}).result, i32)
        mine = compare("==", index, constant(wanted, i32))
        return Value(trace.create("arith.andi", [mine.ir, elected.ir], ["i1"]).result, bool_)

    return ConditionalBlock(condition, "`with elect()`")


def single_thread(trace: Trace) -> bool:
    """Whether the current statement is known to be executed by one lane at most of each warp."""
    return any(words.startswith(("`with elect()`", "`with thread(")) for words in trace.divergence)
