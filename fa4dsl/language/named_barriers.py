"""Named barriers: some warps of a CTA meet. Identifiers 1..15 are handed out by the compiler of the language; 0 is `block.sync()`."""

from __future__ import annotations

from typing import Annotated, Any

from fa4dsl.frontend.arguments import between
from fa4dsl.frontend.arithmetic import binary
from fa4dsl.frontend.trace import Trace, current
from fa4dsl.frontend.values import as_value, constant, describe, is_integer, is_number
from fa4dsl.language.indices import special
from fa4dsl.language.roles import WARPGROUP
from fa4dsl.types import i32

IDENTIFIERS = 15


class NamedBarrier:
    """A barrier of `threads` threads, or a group of them (``barrier[i]`` is one). Made by `named_barrier`."""

    run_time = True
    kind_in_words = "a named barrier"

    def __init__(self, identifier: Any, threads: int, name: str, count: int = 1) -> None:
        self.identifier = identifier
        self.threads = threads
        self.name = name
        self.count = count

    @property
    def in_words(self) -> str:
        return f"the named barrier {self.name!r}"

    def adopt_name(self, name: str) -> None:
        if not self.name:
            self.name = name

    def __getitem__(self, index: Any) -> NamedBarrier:
        trace = current()
        if is_number(index):
            if not 0 <= index < self.count:
                trace.fail("L074", trace.place_of(index), name=self.name, index=index, axis=0, extent=self.count)
            return NamedBarrier(self.identifier + index, self.threads, f"{self.name}[{index}]")
        return NamedBarrier(binary("+", as_value(index, i32), self.identifier), self.threads, self.name)

    def sync(self) -> None:
        """Waits until `threads` threads have arrived, and sees their earlier accesses: bar.sync. Executed by whole warps."""
        self._emit("named_barrier_sync")

    def arrive(self) -> None:
        """Arrives without waiting: bar.arrive. Executed by whole warps; others `sync`."""
        self._emit("named_barrier_arrive")

    def _emit(self, operation: str) -> None:
        trace = current()
        if self.count > 1:
            trace.fail("L082", name=self.name, count=self.count)
        number = constant(self.identifier, i32) if is_number(self.identifier) else self.identifier
        trace.fa4(operation, [number.ir], {"threads": self.threads, "name": self.name or None})


def take_identifiers(trace: Trace, count: int) -> int:
    """The first of `count` free identifiers in a row. Raises L087 where there are none left."""
    first = trace.named_barriers + 1
    if first + count - 1 > IDENTIFIERS:
        trace.fail("L087", needed=count, left=IDENTIFIERS - trace.named_barriers)
    trace.named_barriers += count

    def undo() -> None:
        trace.named_barriers -= count

    trace.undo_later(undo)
    return first


def named_barrier(threads: int, name: str = "", *, count: Annotated[int, between(1, IDENTIFIERS)] = 1) -> NamedBarrier:
    """A barrier at which `threads` threads (whole warps, a multiple of 32) meet, such as those of two roles.

    `count`: a group of them; ``barrier[i]`` is one, also for a run-time i, such as ``turn[warpgroup.index()]``. Allocate it before the roles
    that use it. Raises L088 for a number of threads that is no multiple of 32, L087 when all 15 are taken, L082 for a group used as one.
    """
    trace = current()
    if not is_integer(threads) or threads % 32 or not 32 <= threads <= 1024:
        trace.fail("L088", trace.place_of(threads), given=describe(threads))
    return NamedBarrier(take_identifiers(trace, count), threads, name, count)


class Warpgroup:
    """Four consecutive warps, the first a multiple of four."""

    def index(self) -> Any:
        """This thread's warpgroup in the CTA, i32."""
        return binary(">>", special("warp"), 2)

    def thread(self) -> Any:
        """This thread's index in its warpgroup, 0..127."""
        return binary("&", special("thread.x"), 127)

    def sync(self) -> None:
        """The 128 threads of the executing warpgroup meet, and see each other's earlier accesses. Executed by whole warpgroups.

        A named barrier for each warpgroup of the role (or CTA) is taken at the first use.
        """
        trace = current()
        role = trace.role
        first, warps = (role.first_warp, role.warps) if role is not None else (0, trace.threads // 32)
        if warps % WARPGROUP or first % WARPGROUP or not warps:
            trace.fail(
                "L056",
                name=role.name if role else "the CTA",
                problem=f"warpgroup.sync() needs whole warpgroups, not {warps} warps from {first}",
            )
        groups = warps // WARPGROUP
        key = role.name if role is not None else ""
        identifier = trace.warpgroup_barriers.get(key)
        if identifier is None:
            identifier = trace.warpgroup_barriers[key] = take_identifiers(trace, groups)
            trace.undo_later(lambda: trace.warpgroup_barriers.__delitem__(key))
        name = f"warpgroup.sync{' of ' + key if key else ''}"
        number: Any = constant(identifier, i32)
        if groups > 1:
            number = binary("+", binary("-", self.index(), first // WARPGROUP), identifier)
        trace.fa4("named_barrier_sync", [number.ir], {"threads": 32 * WARPGROUP, "name": name})


warpgroup = Warpgroup()
