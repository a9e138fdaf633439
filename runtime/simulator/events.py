"""What the machine tells the checker, and what it gets back.

The machine (`machine.py`) executes; the checker (`check/`) only watches. Threads are numbered over the whole launch,
`thread = cta * threads_per_cta + thread_in_cta`, with CTAs numbered cluster by cluster: `cta = cluster * cluster_size + rank`. Addresses are
physical: `shared` addresses are `cta * shared_stride + offset`, `global` ones are offsets into the launch's flat arena. All arrays of one call run
in parallel and hold one entry for each thread that executes the instruction together.

A `Token` is a snapshot of what its threads have done and know, taken when they release; `join` lets other threads know it.
The machine keeps tokens inside its barriers, so the checker needs no barrier state of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction

    Ints = npt.NDArray[np.int64]

Space = Literal["shared", "global"]
Access = Literal["read", "write", "atomic"]
Scope = Literal["cta", "cluster", "gpu", "sys"]
Order = Literal["weak", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile"]
AsyncKind = Literal[
    "tma_load",
    "tma_store",
    "tma_reduce",
    "bulk_load",
    "bulk_store",
    "bulk_push",
    "bulk_reduce",
    "st_async",
    "red_async",
    "cp_async",
    "wgmma",
    "prefetch",
]


class Token(Protocol):
    """Opaque to the machine."""


@dataclass(frozen=True)
class Geometry:
    """Sizes the checker needs to decode thread and address numbers."""

    ctas: int
    threads_per_cta: int
    cluster_size: int
    shared_stride: int
    shared_bytes: int
    """Shared memory of a CTA in use (static + dynamic)."""
    global_bytes: int
    wave_ctas: int = 0
    """CTAs that run at a time, one wave of them after the other; 0: all of the launch."""


@dataclass(frozen=True)
class Range:
    """Bytes that an asynchronous operation touches: `starts[i] .. starts[i] + length`, all in one space."""

    space: Space
    starts: Ints
    length: int


@dataclass(frozen=True)
class SharedLayout:
    """How an asynchronous operation lays out a shared-memory tile; lets the checker compare a TMA box with the wgmma descriptor that reads it."""

    start: int
    """Physical shared address of the tile (TMA: the destination or source operand; wgmma: the descriptor's start address)."""
    swizzle: Literal["none", "32B", "64B", "128B"]
    base_offset: int = 0
    """wgmma descriptor's base offset field; 0 for TMA."""


class Checker(Protocol):
    """The hooks. `site` is the instruction being executed (PTX line and source location)."""

    # -- memory
    def access(
        self,
        site: Instruction,
        threads: Ints,
        space: Space,
        addresses: Ints,
        size: int,
        access: Access,
        order: Order,
        scope: Scope,
        remote: bool,
        values: Callable[[], npt.NDArray[Any]] | None = None,
    ) -> None:
        """A generic-proxy access of `size` bytes at each address (ldmatrix/stmatrix: 16-byte rows). `remote`: made through a shared::cluster address (the target
        CTA may still be the own one). `values` gives what a store writes, one row for each thread (called only where lanes of one
        instruction meet at one address: different values race; without `values` this one check is left out). An atomic (atom, red) is one call with access "atomic".
        Strong accesses and atomics synchronise by themselves: the checker keeps the release and acquire patterns, the machine does not call `release` or `join` for them."""

    def mbarrier_access(self, site: Instruction, threads: Ints, addresses: Ints, operation: str, remote: bool) -> None:
        """An mbarrier operation ("init", "inval", "arrive", "expect_tx", "complete_tx", "wait", "test") touches the 8 bytes of the object: init-before-use, lifetime.
        Call it BEFORE the `release` (arrive) or the `join` (successful wait) that belongs to the operation: an edge that comes from the barrier itself must not
        count for init-before-use. A wait is reported once when it starts to block or first polls, and may be reported again at success. For the mbarrier operand of
        asynchronous copies: at issue, with operation "complete_tx", the issuing thread, and every barrier that will be signalled (multicast: one per masked CTA)."""

    def unconsumed(self, site: Instruction, threads: Ints, address: int, phase: int) -> None:
        """An arrive on the mbarrier's phase `phase` + 1 while no wait has returned true for `phase` yet."""

    def ignored_wait(self, site: Instruction, threads: Ints) -> None:
        """A wait on an mbarrier whose result decides nothing: `threads` go on whatever it says."""

    # -- synchronisation
    def release(self, site: Instruction, threads: Ints, scope: Scope, order: Order = "release") -> Token:
        """Snapshot of `threads` (each one's own knowledge, joined), taken when they arrive. A "relaxed" order gives only what their earlier release fences published."""

    def split(self, token: Token, threads: Ints) -> Token:
        """The part of a release token that belongs to `threads`: for an instruction whose arrivals fall into two phases."""

    def join(self, site: Instruction, threads: Ints, tokens: Iterable[Token], scope: Scope, order: Order = "acquire") -> None:
        """`threads` have observed `tokens` (barrier completed, phase waited for). Tokens whose scope and `scope` do not mutually include are not joined, but remembered for explanations."""

    def release_each(self, site: Instruction, parts: Sequence[Ints], scope: Scope, order: Order = "release") -> list[Token]:
        """`release` of each of several groups of threads, none of them in two groups: a token for each."""
        return [self.release(site, threads, scope, order) for threads in parts]

    def join_each(self, site: Instruction, parts: Sequence[tuple[Ints, Sequence[Token]]], scope: Scope, order: Order = "acquire") -> None:
        """`join` of each of several groups of threads, none of them in two groups, with the tokens that it has observed."""
        for threads, tokens in parts:
            self.join(site, threads, tokens, scope, order)

    def fence(self, site: Instruction, threads: Ints, order: Order, scope: Scope) -> None:
        """fence / membar."""

    def proxy_fence(self, site: Instruction, threads: Ints, space: Literal["shared::cta", "shared::cluster", "global", "all"]) -> None:
        """fence.proxy.async."""

    def tensormap_fence(self, site: Instruction, threads: Ints, order: Order, scope: Scope, addresses: Ints | None) -> None:
        """fence.proxy.tensormap::generic.release, or .acquire of the maps at `addresses` (global arena)."""

    def tensor_map_changed(self, site: Instruction, threads: Ints, space: Space, addresses: Ints) -> None:
        """The kernel writes 128-byte tensor maps at `addresses`."""

    def tensor_map_used(self, site: Instruction, thread: int, address: int) -> None:
        """A tensor copy by `thread` is about to read the map at a global address."""

    def init_fence(self, site: Instruction, threads: Ints) -> None:
        """fence.mbarrier_init.release.cluster."""

    def named_phase(self, site: Instruction, cta: int, barrier: int, tokens: Sequence[Token]) -> None:
        """A phase of a CTA's named barrier has completed with these arrivals (before their joins)."""

    def meet_blocks(self, site: Instruction, first_cta: int, ctas: int, barrier: int) -> bool:
        """All threads of `ctas` CTAs, from `first_cta` on, meet at the barrier of their CTA: its arrivals, phase and joins in one call. False,
        with nothing done, where they are to come one by one."""
        return False

    def warp_sync(self, site: Instruction, groups: Sequence[Ints] | Ints) -> None:
        """bar.warp.sync (each group: the lanes that met; whole warps may come as one array [warps, 32]): all-to-all order among them."""

    # -- asynchronous operations
    def async_begin(
        self,
        site: Instruction,
        thread: int,
        kind: AsyncKind,
        reads: Sequence[Range],
        writes: Sequence[Range],
        group: Any = None,
        layouts: Sequence[SharedLayout] = (),
    ) -> int:
        """Issued by `thread` (for wgmma: the warpgroup's threads are in `group`, an Ints array). Returns the operation's number.
        `layouts`: the shared tiles of a tensor copy or the descriptors of a wgmma, with their swizzles. cp.async goes to `copy_begin` instead."""

    def copies_begin(
        self, site: Instruction, threads: Ints, kind: AsyncKind, source: Range, target: Range, barriers: Ints
    ) -> Sequence[int] | None:
        """One instruction of several threads, each of another CTA, in rising order: each copies a range of `source` to one of `target`, in its own CTA's shared memory, and
        will signal the mbarrier at its entry of `barriers` there: `mbarrier_access` and `async_begin` of each. None, with nothing done, where they are to come one by one."""
        return None

    def copy_begin(self, site: Instruction, threads: Ints, sources: Ints, destinations: Ints, size: int, source_size: int) -> int:
        """One cp.async instruction (generic proxy) executed by `threads` together: global `sources`, shared `destinations`, `size` bytes written and up to
        `source_size` read by each. Returns one operation number for all; `async_waited` with that number completes it only for the threads that it names. Needs no
        `async_read_done`/`async_write_done` except through cp.async.mbarrier.arrive: there call `async_waited` for the thread, then take its `release` token."""

    def store_begin(self, site: Instruction, threads: Ints, kind: AsyncKind, destinations: Ints, size: int) -> int:
        """One st.async or red.async instruction executed by `threads`, all of which signal one mbarrier: `size` bytes at each shared destination, in the generic proxy.
        Returns one operation number for all; its `async_write_done` publishes all the bytes."""

    def async_read_done(self, operation: int) -> None:
        """The sources have been read (in the machine's schedule)."""

    def async_write_done(self, operation: int) -> Token:
        """The writes have landed; the token, put into the mbarrier phase that it completes, publishes exactly these bytes."""

    def async_waited(self, site: Instruction, threads: Ints, operations: Iterable[int], read_only: bool) -> None:
        """`threads` waited for the groups of these operations (bulk wait_group{.read}, cp.async wait, wgmma wait_group)."""

    # -- what only the machine sees
    def note(self, code: str, site: Instruction, threads: Ints, **fields: Any) -> None:
        """A finding the machine makes itself (over-arrival, arrive before the last phase was waited for, several lanes issuing one TMA, partial warp at an aligned
        instruction, ...), by catalogue code with its template fields. One report for each code and site."""

    def incomplete(self, site: Instruction, reason: str) -> None:
        """Something executed that is not modelled exactly: the verdict cannot be "clean"."""

    # -- life
    def wave_start(self, first_cta: int, ctas: int) -> None:
        """A wave of `ctas` CTAs, from `first_cta` on, starts. All before them have ended: nothing can reach their shared memory any more, none of their
        threads does anything more, and nothing that they began is in flight."""

    def thread_exit(self, site: Instruction, threads: Ints) -> None: ...

    def finish(self) -> None:
        """The grid has ended: last lifetime checks."""
