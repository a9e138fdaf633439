"""Rings of shared-memory slots between a producer that loads by TMA and consumers that read.

    ring = pipeline(stages=4, slot={"k": (bf16, (128, 64), swizzle128), "v": (bf16, (128, 64), swizzle128)})

    with role("producer", warps=4, registers=40), elect():
        for tile in range(tiles):
            with ring.fill() as slot:                 # waits until the slot is free, expects the bytes loaded below
                k_map.load(slot.k, (tile * 128, 0))
                v_map.load(slot.v, (tile * 128, 0))

    with role("consumer", warps=8, registers=232):
        for tile in range(tiles):
            with ring.use() as slot:                  # waits until the slot is full; each warp frees it at the end of the block
                ...

Arrival counts, bytes, positions and phases are computed: the full barrier takes one arrival (the producer's, with the bytes of the loads
it sees), the empty barrier one of each warp that uses the ring.

In a cluster, CTAs that need the same tile load a part each and send it to all (TMA multicast):

    ring = pipeline(stages=4, slot={"b": (bf16, (2, 64, 64), swizzle128)}, multicast=True)
    cluster.sync()                                    # the barriers of all CTAs are initialised
    ...
            with ring.fill() as slot:                 # waits until the slot is free in every CTA
                b_map.load(slot.b.part(rank), (row + 64 * rank, k), multicast="cluster")
    ...
    cluster.sync()                                    # nobody ends while peers send to it

The empty barrier then takes the arrivals of the using warps of all CTAs of the cluster, each warp frees the slot in all of them, and the full
barrier expects what all of them load. Every CTA goes round the ring equally often.

Two warpgroups that take turns (ping-pong) read every other tile's slots each:

    ring = pipeline(stages=4, slot=..., readers=4)    # four warps, one warpgroup, free a slot
    with role("consumer", warps=8):
        if warpgroup.index() == 1:
            ring.skip(steps)                          # the first tile is the other's
        for tile in ...:
            for _ in range(steps):
                with ring.use() as slot:
                    ...
            ring.skip(steps)
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Annotated, Any, Literal

from fa4dsl.frontend import regions
from fa4dsl.frontend.arguments import between, whole
from fa4dsl.frontend.arithmetic import binary, compare, select
from fa4dsl.frontend.convert import convert
from fa4dsl.frontend.trace import Trace, current
from fa4dsl.frontend.values import Value, as_value, constant, describe, is_integer, is_number
from fa4dsl.language.barriers import Barrier, mbarrier
from fa4dsl.language.blocks import Block
from fa4dsl.language.indices import special
from fa4dsl.language.roles import single_thread
from fa4dsl.language.shared import ALIGNMENT, SharedArray, shared
from fa4dsl.runtime.diagnostics import Frame, Location
from fa4dsl.types import DType, Swizzle, bool_, i32

Side = Literal["fill", "use"]


ONE_USER = "use() is executed by one thread only, but each warp of the role frees the slot: write `with ring.use() as slot, elect():`"


class Position:
    """Where one side of a ring is: slot index and how often it has gone round (its parity counts). Control flow carries it."""

    def __init__(self, name: str, side: Side, stages: int) -> None:
        self.state_name = f"the {side} position of the ring {name!r}"
        self.stages = stages
        self.index: Any = 0
        self.turn: Any = 0
        self.held: Any = 0
        """Slots that are used and not yet freed, of a side that frees them later."""
        self.lost: dict[str, Location] = {}

    def state(self) -> list[Any]:
        return [self.index, self.turn, self.held]

    def set_state(self, values: list[Any]) -> None:
        self.index, self.turn, self.held = values

    def left_role(self, words: str, where: Location) -> None:
        """Each role counts from its own start; a second block of the same role would not know where the first stopped."""
        self.lost[words] = where

    def advance(self) -> None:
        """To the next slot."""
        if is_number(self.index) and is_number(self.turn):
            self.index += 1
            if self.index == self.stages:
                self.index, self.turn = 0, self.turn ^ 1
            return
        following = binary("+", self.index, 1)
        wraps = binary("==", following, self.stages)
        self.index = select(wraps, constant(0, i32), following)
        self.turn = binary("^", convert(wraps, i32), self.turn)


class Slot:
    """One slot of a ring inside `fill` or `use`: its arrays are attributes."""

    run_time = True

    def __init__(self, ring: Ring, barrier: SlotBarrier | None, index: Any) -> None:
        self._arrays = {
            name: SharedArray(array.allocation, array.dtype, array.shape[1:], array.part(index).byte_offset, None, barrier)
            for name, array in ring.arrays.items()
        }
        self.in_words = f"a slot of the ring {ring.name!r}"

    def __getattr__(self, name: str) -> SharedArray:
        arrays = self.__dict__.get("_arrays", {})
        if name not in arrays:
            raise AttributeError(name)
        found: SharedArray = arrays[name]
        return found

    def __dir__(self) -> list[str]:
        return list(self._arrays)


class SlotBarrier(Barrier):
    """The full barrier of the slot being filled; it adds up the bytes of the loads it sees."""

    def __init__(self, barrier: Barrier, depth: int, shared_by_cluster: bool) -> None:
        super().__init__(barrier.handle, barrier.name, barrier.count, barrier.arrivals, barrier.scope, barrier.phases, barrier.index)
        self.depth = depth
        self.shared_by_cluster = shared_by_cluster
        self.bytes = 0

    @property
    def slot(self) -> SlotBarrier:
        return self

    def add_bytes(self, size: int, multicast: Any = None) -> None:
        """One load of `size` bytes by this CTA, and as many by each CTA that sends to it. Raises L080 where it happens only sometimes."""
        trace = current()
        copies = 1
        if multicast is not None:
            from fa4dsl.language.tma import multicast_count

            copies = multicast_count(multicast) if isinstance(multicast, str) else 0
            if not self.shared_by_cluster:
                trace.fail("L080", name=self.name, problem="a multicast load fills its slot, which needs pipeline(..., multicast=True)")
            if not copies:
                problem = 'a load into its slot is sent to a mask of ranks; in a ring the group is "cluster", "x", "y" or "z"'
                trace.fail("L080", trace.place_of(multicast), name=self.name, problem=problem)
        if len(trace.divergence) > self.depth:
            trace.fail("L080", name=self.name, problem=f"a load into its slot stands under {trace.divergence[-1]}")
        self.bytes += size * copies


class Ring:
    """Slots of shared arrays with a full and an empty barrier each. Made by `pipeline`."""

    run_time = True
    kind_in_words = "a ring"

    def __init__(self, stages: int, slot: dict[str, Any], name: str, multicast: bool = False, readers: int | None = None) -> None:
        trace = current()
        self.readers = readers
        """Warps that use and free one slot, where they are not all warps of the consuming roles."""
        self.multicast = multicast
        """Whether peers fill the slots too: then a slot is freed in, and by, every CTA of the cluster."""
        self.name = name
        self.stages = stages
        self.place = trace.location
        self.arrays: dict[str, SharedArray] = {}
        for part, description in slot.items():
            self.arrays[part] = self._array(part, description)
        self.full = mbarrier(1, count=stages, name=f"{name}.full")
        self.empty = mbarrier(1, count=stages, scope="cluster" if multicast else "cta", name=f"{name}.empty")
        self.positions: dict[Side, Position] = {}
        for side in ("fill", "use"):
            position = Position(name, side, stages)
            self.positions[side] = position
            trace.stateful.append(position)
        self.consumers: dict[str, int] = {}
        self.behind: int | None = None
        self.skips = False
        trace.finishers.append(self._finish)

    def _array(self, part: str, description: Any) -> SharedArray:
        trace = current()
        items = description if isinstance(description, tuple | list) else (description,)
        if not 2 <= len(items) <= 3 or not isinstance(items[0], DType) or not isinstance(items[1], int | tuple):
            trace.fail("L080", name=self.name, problem=f"the slot's {part!r} is not (dtype, shape) or (dtype, shape, swizzle)")
        shape = items[1] if isinstance(items[1], tuple) else (items[1],)
        swizzle: Swizzle = items[2] if len(items) == 3 else "none"
        array = shared(items[0], (self.stages, *shape), name=f"{self.name}.{part}", swizzle=swizzle)
        size = array.bytes // self.stages
        if size % ALIGNMENT[swizzle]:
            problem = f"a slot's {part!r} has {size} bytes, which must be a multiple of {ALIGNMENT[swizzle]} so that every slot is aligned"
            trace.fail("L080", name=self.name, problem=problem)
        return array

    @property
    def in_words(self) -> str:
        return f"the ring {self.name!r}"

    def fill(self) -> RingBlock:
        """``with ring.fill() as slot:`` waits until the slot is free and loads it. Executed by one thread (under `elect()`)."""
        return RingBlock(self, "fill")

    def use(self, *, behind: int = 0) -> RingBlock:
        """``with ring.use() as slot:`` waits until the slot is full; at the end of the block each warp frees it.

        Executed by all threads of the consuming roles (or of the CTA). What reads the slot asynchronously (wgmma) must have retired by
        then: `wgmma_wait` inside the block. With `behind` = n the block frees the slot of n uses before instead, so that n products may
        stay in flight: ``wgmma_wait(pending=n)`` at its end. The last n slots stay taken; one n for all uses of a ring, below `stages`.
        """
        trace = current()
        if not is_integer(behind) or not 0 <= behind < self.stages:
            problem = (
                f"use(behind={describe(behind)}): the ring has {self.stages} stages, so 0 to {self.stages - 1} of them can stay in use"
            )
            trace.fail("L080", trace.place_of(behind), name=self.name, problem=problem)
        if self.behind not in (None, behind):
            problem = f"use(behind={behind}) after use(behind={self.behind}): a slot would never be freed, or freed twice"
            trace.fail("L080", trace.place_of(behind), name=self.name, problem=problem)
        if behind and self.skips:
            trace.fail(
                "L080", trace.place_of(behind), name=self.name, problem="skip() would leave the slots that use(behind=...) holds taken"
            )
        self.behind = behind
        return RingBlock(self, "use")

    def skip(self, slots: Annotated[Any, whole(0)]) -> None:
        """Leaves the next `slots` slots (a number or an i32) to other readers: the next `use` is of the slot behind them.

        For rings of ``pipeline(..., readers=)``, whose slots are dealt out to several warpgroups, such as the tiles of two that take turns
        (ping-pong). Executed by all threads of a consuming role that read together; every slot is to be used by `readers` warps in all,
        else the loader waits for ever. Emits arithmetic only. Raises L080 for a ring without `readers`, or whose uses have ``behind=``.
        """
        trace = current()
        if self.readers is None:
            trace.fail("L080", name=self.name, problem="skip() is for a ring whose slots are not read by all: pipeline(..., readers=warps)")
        if self.behind:
            trace.fail("L080", name=self.name, problem="skip() would leave the slots that use(behind=...) still holds taken for ever")
        self.skips = True
        position = self.positions["use"]
        if is_number(slots) and is_number(position.index) and is_number(position.turn):
            turns, position.index = divmod(position.index + int(slots), self.stages)
            position.turn ^= turns & 1
            return
        ahead = binary("+", as_value(slots, i32), position.index)
        position.index = binary("%", ahead, self.stages)
        position.turn = binary("^", binary("&", binary("//", ahead, self.stages), 1), position.turn)

    def _finish(self) -> None:
        trace = current()
        if not self.consumers:
            trace.fail("L080", self.place, name=self.name, problem="nothing uses it: `ring.use()` is missing")
        warps = sum(self.consumers.values())
        if self.readers is not None and (self.readers > warps or warps % self.readers):
            problem = f"each of its slots is read by readers={self.readers} warps, which the {warps} warps that use it are no multiple of"
            trace.fail("L080", self.place, name=self.name, problem=problem)
        users = (self.readers or warps) * (prod(trace.cluster) if self.multicast else 1)
        arrivals = trace.ir.IntegerAttr.get(trace.type("i64"), users)
        self.empty.handle.owner.attributes["arrivals"] = arrivals


class RingBlock(Block[Slot]):
    """The block of `fill` or `use`."""

    def __init__(self, ring: Ring, side: Side) -> None:
        self.ring = ring
        self.side: Side = side
        self.in_words = f"the block of {ring.name}.{side}()"

    def trace_block(self, trace: Trace, place: Location, body: Callable[[Any], None]) -> None:
        position = self.ring.positions[self.side]
        here = f"the role {trace.role.name!r}" if trace.role is not None else ""
        for words, where in position.lost.items():
            if not here or words == here:
                trace.fail("L085", Frame(place), Frame(where, "used here"), name=self.ring.name, role=words)
        (self._fill if self.side == "fill" else self._use)(trace, place, position, body)

    def _fill(self, trace: Trace, place: Location, position: Position, body: Callable[[Any], None]) -> None:
        ring = self.ring
        if not single_thread(trace) and trace.threads != 1:
            trace.fail("L080", place, name=ring.name, problem="fill() is executed by more than one thread")
        index, turn = position.index, position.turn
        ring.empty[index].wait(phase=turn ^ 1 if is_number(turn) else binary("^", turn, 1))
        barrier = SlotBarrier(ring.full[index], len(trace.divergence), ring.multicast)
        # The number of bytes is known when the block has been traced; a constant of its own is then given its value.
        zero = trace.ir.IntegerAttr.get(trace.type("i32"), 0)
        amount = Value(trace.create("arith.constant", results=["i32"], attributes={"value": zero}).result, i32)
        ring.full[index].arrive(bytes=amount)
        body(Slot(ring, barrier, index))
        if not barrier.bytes:
            trace.fail("L080", place, name=ring.name, problem="the block of fill() loads nothing into the slot")
        amount.ir.owner.attributes["value"] = trace.ir.IntegerAttr.get(trace.type("i32"), barrier.bytes)
        trace.location = place
        position.advance()

    def _use(self, trace: Trace, place: Location, position: Position, body: Callable[[Any], None]) -> None:
        ring = self.ring
        if single_thread(trace):
            trace.fail("L080", place, name=ring.name, problem=ONE_USER)
        role = trace.role
        warps = role.warps if role is not None else trace.threads // 32
        ring.consumers[role.name if role is not None else ""] = warps
        index = position.index
        ring.full[index].wait(phase=position.turn)
        body(Slot(ring, None, index))
        trace.location = place
        trace.fa4("warp_sync", [constant(-1, i32).ir])
        behind = ring.behind or 0
        if is_number(position.held):
            if position.held < behind:
                position.held += 1
            else:
                self._free(trace, place, self._before(index, behind))
        else:
            due = compare("==", position.held, constant(behind, i32))
            regions.branch(
                trace, due, place, "the release of an earlier slot", lambda: self._free(trace, place, self._before(index, behind))
            )
            position.held = select(due, position.held, binary("+", position.held, 1))
        trace.location = place
        position.advance()

    def _before(self, index: Any, behind: int) -> Any:
        """The slot of `behind` uses before that of `index`."""
        if not behind:
            return index
        if is_number(index):
            return (index - behind) % self.ring.stages
        wraps = compare("<", index, constant(behind, i32))
        return binary("+", index, select(wraps, constant(self.ring.stages - behind, i32), constant(-behind, i32)))

    def _free(self, trace: Trace, place: Location, index: Any) -> None:
        """One arrival of each warp, in a multicast ring at every CTA's barrier."""
        ring = self.ring
        if ring.multicast:
            # Lane r frees the slot in the CTA of rank r.
            lane: Any = special("lane")
            released = compare("<", lane, constant(prod(trace.cluster), i32))
            words = "the release of a slot in every CTA"
            regions.branch(trace, released, place, words, lambda: ring.empty.on(lane)[index].arrive())
        else:
            released = Value(trace.fa4("elect").result, bool_)
            regions.branch(trace, released, place, "the release of a slot", lambda: ring.empty[index].arrive())


def pipeline(
    *,
    stages: Annotated[int, between(1, 64)],
    slot: dict[str, Any],
    name: str = "ring",
    multicast: bool = False,
    readers: Annotated[int, between(1, 32)] | None = None,
) -> Ring:
    """A ring of `stages` slots; see the module. `slot`: name to (dtype, shape) or (dtype, shape, swizzle) of one slot's arrays.

    `readers`: the warps that read one slot; by default all warps of the roles that use the ring. With fewer, warps that read together pass
    over the slots of the others by `ring.skip(slots)`.

    All threads of the CTA reach it, before the roles; `block.sync()` must follow before the first fill or use. With `multicast` CTAs of the
    cluster fill each other's slots: `cluster.sync()` instead, and once more at the kernel's end. Raises L080.
    """
    trace = current()
    if not isinstance(slot, dict) or not slot or not all(isinstance(part, str) and part.isidentifier() for part in slot):
        trace.fail("L080", trace.place_of(slot), name=name, problem=f"the slot is a dictionary from names to arrays, not {describe(slot)}")
    if multicast and prod(trace.cluster) == 1:
        trace.fail("L080", trace.location, name=name, problem="multicast needs a cluster: @kernel(cluster=...)")
    return Ring(stages, slot, name, bool(multicast), readers)
