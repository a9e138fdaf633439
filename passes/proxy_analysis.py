"""Where the generic and the async proxy meet without a fence: the analysis behind `insert-proxy-fences` and its manual mode.

A generic write (store, atomic, stmatrix, cp.async) whose bytes an async-proxy operation (TMA or bulk copy, wgmma) reads or
overwrites, and a generic read whose bytes such an operation overwrites (the refill of a ring's slot), need `fence.proxy.async` on the
path between them (PTX ISA, "Async proxy"). The analysis walks the structured IR, carries the accesses that no fence has covered
yet, and finds for each that meets an async operation the barrier before which the fence belongs, in the accessing threads:

* where the async operation follows in the threads' own order: the last barrier between the two that every accessing thread passes on
  every path (barriers of the whole block are passed by all wherever they stand), so that one fence covers all accesses;
* where it does not (another role, another side of a branch, a peer CTA that runs the same code): the arrival that the
  other's wait observes, or, where one elected lane arrives, the meeting before it;
* with no barrier between them, the async operation itself (the thread that accessed also issues).

A fence in the issuing thread after its wait lies on the path too and is respected. Barriers are told apart by name, and by index
where both sides' is a constant. Loop bodies are walked twice, so that an access meets the next iteration's operations; branches are walked
apart and joined. A fence in a loop that only serves accesses before the loop is moved before it.

Global memory: a bulk copy is met by accesses through the same kernel argument; a TMA load by any global write; a TMA store is
taken to write what no pointer argument points to. What cannot be traced counts as any object of its space.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import KernelInfo
from fa4dsl.passes.memory_roots import Root
from fa4dsl.passes.proxy_accesses import Accesses
from fa4dsl.passes.proxy_structure import LOOPS, elected_in_each_warp, enclosing_blocks, outermost_loop_without, reaches, role_chain

if TYPE_CHECKING:
    from mlir import ir

Key = tuple[Any, Root]
Barrier = tuple[str, int | None]
"""A barrier's name, and its index where that is a constant."""

_REMOTE_ARRIVALS = {"fa4.mbarrier_arrive_remote", "fa4.mbarrier_arrive_expect_tx_remote"}
_ARRIVALS = {"fa4.mbarrier_arrive", "fa4.mbarrier_arrive_expect_tx", "fa4.named_barrier_arrive"} | _REMOTE_ARRIVALS
_WAITS = {"fa4.mbarrier_wait", "fa4.mbarrier_test", "fa4.cluster_wait"}
_MEETINGS = {"fa4.block_sync", "fa4.named_barrier_sync", "fa4.cluster_arrive"}


@dataclass(frozen=True)
class Need:
    """A fence of `space` is needed before `place`, for the generic `access` (a write, or a `read`), whose bytes meet `use`."""

    place: Any
    space: str
    access: Any
    use: Any
    root: Root
    read: bool


@dataclass(frozen=True)
class _Pending:
    """An access that no fence has covered: the barriers passed since (`meetings`, weakest last resort `warp`), and arrivals with their places."""

    access: Any
    root: Root
    read: bool
    blocks: frozenset[Any]
    meetings: tuple[Any, ...] = ()
    warp: tuple[Any, ...] = ()
    arrivals: tuple[tuple[Barrier, Any], ...] = ()

    @property
    def fresh(self) -> bool:
        return not (self.meetings or self.warp or self.arrivals)

    def met_by(self, reads: set[Root], writes: set[Root]) -> bool:
        """Whether an async operation that reads and writes these meets the access: two reads never conflict."""
        return any(self.root.meets(root) for root in (writes if self.read else reads | writes))


@dataclass(frozen=True)
class _State:
    """At one point of the walk: accesses without a fence, and barriers waited for with the spaces fenced since."""

    pending: dict[Key, _Pending] = field(default_factory=dict)
    waited: dict[Barrier, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Signal:
    """An access that was told to others through `barrier` at `operation`; its fence belongs before `place`."""

    key: Key
    item: _Pending
    barrier: Barrier
    operation: Any
    place: Any


@dataclass(frozen=True)
class _Use:
    """An async operation, and what its thread had waited for."""

    operation: Any
    reads: set[Root]
    writes: set[Root]
    waited: dict[Barrier, frozenset[str]]


def needed_fences(function: ir.Operation) -> list[Need]:
    """The fences that a kernel lacks, one for each place, access and object."""
    walker = _Walker(function)
    if not walker.asynchronous:
        return []
    walker.block(function.regions[0].blocks[0], _State())
    walker.match()
    unique = {(need.place, need.space, need.access, need.root): need for need in walker.needs}
    return _before_loops(list(unique.values()))


def _before_loops(needs: list[Need]) -> list[Need]:
    """Fences inside a loop that serve only accesses before it, moved before it. Not those at the async operation itself: they serve all."""
    groups: dict[Any, list[Need]] = {}
    for need in needs:
        groups.setdefault(need.place, []).append(need)
    moved: list[Need] = []
    for group in groups.values():
        place = group[0].place
        loop = None if any(need.use == place for need in group) else outermost_loop_without(place, [need.access for need in group])
        moved += [replace(need, place=loop) for need in group] if loop is not None else group
    return moved


class _Walker:
    def __init__(self, function: ir.Operation) -> None:
        self._accesses = Accesses(function)
        self.asynchronous = self._accesses.asynchronous or bool(self._accesses.overwritten)
        self._threads = KernelInfo.of(function).threads if "fa4.block" in function.attributes else 0
        self.needs: list[Need] = []
        self._resolved: dict[Key, set[Any]] = {}
        self._signals: dict[tuple[Key, Barrier, int], _Signal] = {}
        self._uses: dict[Any, _Use] = {}

    # --- structure

    def block(self, block: Any, state: _State) -> _State:
        operations = [item.operation for item in block]
        position = 0
        while position < len(operations):
            operation = operations[position]
            if "fa4.role" in operation.attributes:
                chain = role_chain(operations, position)
                state = self._roles(chain, state)
                position += len(chain)
                continue
            state = self._operation(operation, state)
            position += 1
        return state

    def _operation(self, operation: Any, state: _State) -> _State:
        name = operation.name
        if name in LOOPS:
            once = self._regions(operation, state)
            return _joined(state, self._regions(operation, _joined(state, once)))
        if name in ("scf.if", "scf.index_switch"):
            states = [self.block(block, state) for region in operation.regions for block in region]
            if len(states) < 2:
                states.append(state)
            result = states[0]
            for other in states[1:]:
                result = _joined(result, other)
            return result
        if len(operation.regions):
            return self._regions(operation, state)
        return self._leaf(operation, state)

    def _regions(self, operation: Any, state: _State) -> _State:
        for region in operation.regions:
            for block in region:
                state = self.block(block, state)
        return state

    def _roles(self, chain: list[Any], state: _State) -> _State:
        """Roles run side by side: each begins with the state before all; what they tell each other is matched at the end."""
        joined = state
        for operation in chain:
            for region in operation.regions[: 2 if operation.name == "scf.if" else 1]:
                if len(list(region.blocks)):
                    joined = _joined(joined, self.block(region.blocks[0], state))
        return joined

    def match(self) -> None:
        """Accesses and async operations that do not follow each other in one thread's order, but through a barrier."""
        for use in self._uses.values():
            own = [need.space for need in self.needs if need.place == use.operation]
            for signal in self._signals.values():
                if (
                    not signal.item.met_by(use.reads, use.writes)
                    or not self._observed(signal, use)
                    or self._covered(signal.key, signal.item)
                    or any(_covers(space, signal.item.root) for space in own)  # the issuer fences anyway
                ):
                    continue
                if self._meets_whole_block(signal.operation) and reaches(signal.operation, use.operation) == "never":
                    continue  # all threads pass such a barrier in one order
                relation = reaches(signal.item.access, use.operation)
                # Before it in the same threads' order: only a peer CTA, which runs the same code, can have sent the signal.
                if relation == "apart" or (relation == "never" and signal.operation.name in _REMOTE_ARRIVALS):
                    self._need(signal.key, signal.item, signal.place, use.operation)

    @staticmethod
    def _observed(signal: _Signal, use: _Use) -> bool:
        return any(
            _same(barrier, signal.barrier) and not any(_covers(space, signal.item.root) for space in fenced)
            for barrier, fenced in use.waited.items()
        )

    # --- leaves

    def _leaf(self, operation: Any, state: _State) -> _State:
        name = operation.name
        if not name.startswith(("fa4.", "llvm.")):
            return state
        if name == "fa4.fence_proxy_async":
            return _fenced(python_value(operation.attributes["space"]), state)
        reads, writes = self._accesses.async_reads(operation), self._accesses.async_writes(operation)
        if reads or writes:
            state = self._async(operation, reads, writes, state)
        if name in _ARRIVALS or name in _MEETINGS:
            state = self._signal(operation, state)
        if name in _WAITS or name in _MEETINGS:
            state = self._wait(operation, state)
        if name == "fa4.warp_sync":
            here = operation.block
            passed = {
                key: replace(item, warp=(*item.warp, operation)) if here in item.blocks else item for key, item in state.pending.items()
            }
            state = replace(state, pending=passed)
        for read in (True, False):
            roots = self._accesses.generic_reads(operation) if read else self._accesses.generic_writes(operation)
            if roots:
                state = self._access(operation, roots, read, state)
        return state

    def _access(self, operation: Any, roots: set[Root], read: bool, state: _State) -> _State:
        """Adds an access, unless an earlier one in the same block has the same history and stands for it."""
        pending = dict(state.pending)
        blocks = enclosing_blocks(operation)
        for root in roots:
            twin = any(item.fresh and item.root == root and item.read == read and item.blocks == blocks for item in pending.values())
            if not twin or (operation, root) in pending:
                pending[(operation, root)] = _Pending(operation, root, read, blocks)
        return replace(state, pending=pending)

    def _signal(self, operation: Any, state: _State) -> _State:
        here, barrier = operation.block, barrier_of(operation)
        whole_block = self._meets_whole_block(operation)
        elected = elected_in_each_warp(operation)
        changed: dict[Key, _Pending] = {}
        for key, item in state.pending.items():
            everyone = whole_block or here in item.blocks
            place = operation
            if not everyone:
                if elected is not None and elected in item.blocks and item.warp and item.warp[-1].block == elected:
                    everyone, place = True, item.warp[-1]
                else:
                    place = item.meetings[-1] if item.meetings else item.warp[-1] if item.warp else operation
            if not self._covered(key, item):
                self._signals.setdefault((key, barrier, place), _Signal(key, item, barrier, operation, place))
            if everyone and operation.name in _MEETINGS:
                item = replace(item, meetings=(*item.meetings, operation))
            elif everyone:
                item = replace(item, arrivals=(*item.arrivals, (barrier, place)))
            changed[key] = item
        return replace(state, pending=changed)

    def _meets_whole_block(self, operation: Any) -> bool:
        """Whether every thread of the CTA passes the barrier wherever it stands: if some did not, it would hang."""
        if operation.name in ("fa4.block_sync", "fa4.cluster_arrive"):
            return True
        return bool(operation.name == "fa4.named_barrier_sync" and python_value(operation.attributes["threads"]) == self._threads)

    def _wait(self, operation: Any, state: _State) -> _State:
        barrier = barrier_of(operation)
        changed: dict[Key, _Pending] = {}
        for key, item in state.pending.items():
            met = [place for name, place in item.arrivals if _same(name, barrier)]
            changed[key] = replace(item, meetings=(*item.meetings, met[-1])) if met else item
        return _State(changed, {**state.waited, barrier: frozenset()})

    def _async(self, operation: Any, reads: set[Root], writes: set[Root], state: _State) -> _State:
        """The state after an async operation: a fence before it, where no barrier gives a better place, covers all earlier accesses."""
        known = self._uses.get(operation)
        waited = state.waited if known is None else _joined_waits(known.waited, state.waited)
        self._uses[operation] = _Use(operation, reads, writes, waited)
        met = {key: item for key, item in state.pending.items() if item.met_by(reads, writes) and not self._covered(key, item)}
        # One access without a barrier needs the issuer's fence, which then lies on the others' paths too.
        at_use = any(not (item.meetings or item.warp) for item in met.values())
        for key, item in met.items():
            self._need(key, item, operation if at_use else (item.meetings or item.warp)[-1], operation)
        for space in {_space(item.root) for item in met.values()} if at_use else ():
            state = _fenced(space, state)
        return state

    def _covered(self, key: Key, item: _Pending) -> bool:
        """Whether a fence already decided on lies between the access and here."""
        resolved = self._resolved.get(key, set())
        passed = {*item.meetings, *item.warp, *(place for _, place in item.arrivals)}
        return bool(resolved & passed)

    def _need(self, key: Key, item: _Pending, place: Any, use: Any) -> None:
        self._resolved.setdefault(key, set()).add(place)
        self.needs.append(Need(place, _space(item.root), item.access, use, item.root, item.read))


def _space(root: Root) -> str:
    """The narrowest space of a fence that covers accesses to `root`."""
    return "global" if root.space == "global" else "shared::cluster" if root.remote else "shared::cta"


def _covers(space: str, root: Root) -> bool:
    if space == "all":
        return True
    if root.space == "global":
        return space == "global"
    return space == "shared::cluster" or (space == "shared::cta" and not root.remote)


def _fenced(space: str, state: _State) -> _State:
    pending = {key: item for key, item in state.pending.items() if not _covers(space, item.root)}
    return _State(pending, {barrier: spaces | {space} for barrier, spaces in state.waited.items()})


def _joined(first: _State, second: _State) -> _State:
    """Accesses pending on either path, with the barriers that both paths pass: a fence before one of them lies on every path."""
    result = dict(first.pending)
    for key, item in second.pending.items():
        other = result.get(key)
        if other is None:
            result[key] = item
        elif other != item:
            result[key] = replace(
                item,
                meetings=_common(other.meetings, item.meetings),
                warp=_common(other.warp, item.warp),
                arrivals=_common(other.arrivals, item.arrivals),
            )
    return _State(result, _joined_waits(first.waited, second.waited))


def _joined_waits(first: dict[Barrier, frozenset[str]], second: dict[Barrier, frozenset[str]]) -> dict[Barrier, frozenset[str]]:
    """Barriers waited for on either path, with the fences since that both have."""
    both = {barrier: spaces & second[barrier] for barrier, spaces in first.items() if barrier in second}
    return {**first, **second, **both}


def _common(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(item for item in first if item in second)


def _same(first: Barrier, second: Barrier) -> bool:
    """Whether two barriers may be one: unknown indices may be any."""
    return first[0] == second[0] and (first[1] == second[1] or first[1] is None or second[1] is None)


def barrier_of(operation: Any) -> Barrier:
    """A barrier's identity: the mbarrier's name and index, the named barrier's number, or the kind."""
    if operation.name.startswith("fa4.named_barrier"):
        return "named barrier", _constant(operation.operands[0])
    if operation.name.startswith("fa4.mbarrier"):
        owner = operation.operands[0].owner
        named = getattr(owner, "name", "") == "fa4.mbarrier_alloc"
        name = f"mbarrier {python_value(owner.attributes['name'])}" if named else "mbarrier ?"
        return name, _constant(operation.operands[1])
    return ("cluster barrier" if "cluster" in operation.name else "block barrier"), None


def _constant(value: Any) -> int | None:
    owner = value.owner
    return int(owner.attributes["value"].value) if getattr(owner, "name", "") == "arith.constant" else None
