"""Where the generic and the async proxy meet without a fence: the analysis behind `insert-proxy-fences` and its manual mode.

A generic write (store, atomic, stmatrix, cp.async) whose bytes an async-proxy operation (TMA or bulk copy, wgmma) reads or
overwrites needs `fence.proxy.async` on the path between them, in the writing thread (PTX ISA, "Async proxy"). The analysis walks
the structured IR, carries the writes that no fence has covered yet, and finds for each write that meets an async operation
the barrier before which the fence belongs:

* within one role, the last barrier between the two that every writing thread passes on every path (barriers of the whole block are
  passed by all wherever they stand), so that one fence covers all writes;
* between roles, the arrival that the other role's wait observes;
* with no barrier between them, the async operation itself (the thread that wrote also issues).

Loop bodies are walked twice, so that a write meets the next iteration's operations; branches are walked apart and joined.
Global memory: a bulk load is met by writes through the same kernel argument; a TMA load by any global write of its own role.
What it cannot trace it takes for any object of the space. Reads through the generic proxy before an async overwrite are not fenced:
the barrier that frees the slot orders them in practice on every GPU so far, and common libraries rely on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.dialect.build import python_value
from fa4dsl.passes.kernel import KernelInfo
from fa4dsl.passes.memory_roots import UNKNOWN, Root, Tracer

if TYPE_CHECKING:
    from mlir import ir

Key = tuple[int, Root]

_ARRIVALS = {
    "fa4.mbarrier_arrive",
    "fa4.mbarrier_arrive_remote",
    "fa4.mbarrier_arrive_expect_tx",
    "fa4.mbarrier_arrive_expect_tx_remote",
    "fa4.named_barrier_arrive",
}
_WAITS = {"fa4.mbarrier_wait", "fa4.mbarrier_test", "fa4.cluster_wait"}
_MEETINGS = {"fa4.block_sync", "fa4.named_barrier_sync", "fa4.cluster_arrive"}
_ASYNC = {
    "fa4.tma_load",
    "fa4.tma_load_multicast",
    "fa4.tma_store",
    "fa4.bulk_load",
    "fa4.bulk_load_multicast",
    "fa4.bulk_store",
    "fa4.bulk_push",
    "fa4.wgmma",
    "fa4.wgmma_register_a",
}


@dataclass(frozen=True)
class Need:
    """A fence of `space` is needed before `place`, for `write`, whose bytes meet `use`."""

    place: Any
    space: str
    write: Any
    use: Any
    root: Root


@dataclass(frozen=True)
class _Pending:
    """A write that no fence has covered: the barriers passed since (`meetings`, weakest last resort `warp`), and arrivals."""

    write: Any
    root: Root
    blocks: frozenset[int]
    meetings: tuple[Any, ...] = ()
    warp: tuple[Any, ...] = ()
    arrivals: tuple[tuple[str, Any], ...] = ()


State = dict[Key, _Pending]


@dataclass
class _Role:
    """What one role told the others: signals after writes, and async operations with the barriers waited for before."""

    signals: dict[Key, dict[str, tuple[Any, _Pending]]] = field(default_factory=dict)
    uses: list[tuple[Any, set[Root], frozenset[str]]] = field(default_factory=list)
    waited: set[str] = field(default_factory=set)


def needed_fences(function: ir.Operation) -> list[Need]:
    """The fences that a kernel lacks, one for each place, write and object."""
    walker = _Walker(function)
    walker.block(function.regions[0].blocks[0], {})
    unique = {(hash(need.place), need.space, hash(need.write), need.root): need for need in walker.needs}
    return list(unique.values())


class _Walker:
    def __init__(self, function: ir.Operation) -> None:
        self._tracer = Tracer(function)
        self._threads = KernelInfo.of(function).threads if "fa4.block" in function.attributes else 0
        self.needs: list[Need] = []
        self._resolved: dict[Key, set[int]] = {}
        self._role: _Role | None = None

    # --- structure

    def block(self, block: Any, state: State) -> State:
        operations = [item.operation for item in block]
        position = 0
        while position < len(operations):
            operation = operations[position]
            if "fa4.role" in operation.attributes:
                chain = _role_chain(operations, position)
                state = self._roles(chain, state)
                position += len(chain)
                continue
            state = self._operation(operation, state)
            position += 1
        return state

    def _operation(self, operation: Any, state: State) -> State:
        name = operation.name
        if name in ("scf.for", "scf.while", "scf.parallel"):
            once = self._regions(operation, state)
            return _joined(state, self._regions(operation, _joined(state, once)))
        if name in ("scf.if", "scf.index_switch"):
            states = [self.block(block, dict(state)) for region in operation.regions for block in region]
            if len(states) < 2:
                states.append(state)
            result = states[0]
            for other in states[1:]:
                result = _joined(result, other)
            return result
        if len(operation.regions):
            return self._regions(operation, state)
        return self._leaf(operation, state)

    def _regions(self, operation: Any, state: State) -> State:
        for region in operation.regions:
            for block in region:
                state = self.block(block, dict(state))
        return state

    def _roles(self, chain: list[Any], state: State) -> State:
        """Roles run side by side: each begins with the state before all, then what they tell each other is matched."""
        outer, bodies, results = self._role, [], []
        for operation in chain:
            self._role = _Role()
            bodies.append(self._role)
            block = operation.regions[0].blocks[0]
            results.append(self.block(block, dict(state)))
            if operation.name == "scf.if" and len(list(operation.regions[1].blocks)):
                self._role = outer
                results.append(self.block(operation.regions[1].blocks[0], dict(state)))
        self._role = outer
        for writer in bodies:
            for reader in bodies:
                if writer is not reader:
                    self._match(writer, reader)
        joined = state
        for result in results:
            joined = _joined(joined, result)
        return joined

    def _match(self, writer: _Role, reader: _Role) -> None:
        for use, roots, waited in reader.uses:
            for key, signals in writer.signals.items():
                pending = next(iter(signals.values()))[1]
                if not any(pending.root.meets(root) for root in roots) or self._covered(key, pending):
                    continue
                place = next((operation for barrier, (operation, _) in signals.items() if barrier in waited), None)
                if place is not None:
                    self._need(key, pending, place, use)

    # --- leaves

    def _leaf(self, operation: Any, state: State) -> State:
        name = operation.name
        if name == "fa4.fence_proxy_async":
            return self._fenced(python_value(operation.attributes["space"]), state)
        if name in _ASYNC or _is_async_ptx(operation):
            state = self._async(operation, state)
        if name in _ARRIVALS or name in _MEETINGS:
            state = self._signal(operation, state)
        if name in _WAITS or name in _MEETINGS:
            state = self._wait(operation, state)
        if name == "fa4.warp_sync":
            here = hash(operation.block)
            state = {key: _with(item, warp=(*item.warp, operation)) if here in item.blocks else item for key, item in state.items()}
        roots = self._written(operation)
        if roots:
            state = dict(state)
            blocks = _enclosing(operation)
            for root in roots:
                state[(hash(operation), root)] = _Pending(operation, root, blocks)
        return state

    def _fenced(self, space: str, state: State) -> State:
        def covers(root: Root) -> bool:
            if space == "all":
                return True
            if root.space == "global":
                return space == "global"
            return space == "shared::cluster" or (space == "shared::cta" and not root.remote)

        return {key: item for key, item in state.items() if not covers(item.root)}

    def _signal(self, operation: Any, state: State) -> State:
        here, barrier = hash(operation.block), _barrier(operation)
        changed: State = {}
        whole_block = self._meets_whole_block(operation)
        for key, item in state.items():
            everyone = whole_block or here in item.blocks
            if self._role is not None and not self._covered(key, item):
                place = operation if everyone or not item.meetings else item.meetings[-1]
                self._role.signals.setdefault(key, {}).setdefault(barrier, (place, item))
            if everyone and operation.name in _MEETINGS:
                item = _with(item, meetings=(*item.meetings, operation))
            elif everyone:
                item = _with(item, arrivals=(*item.arrivals, (barrier, operation)))
            changed[key] = item
        return changed

    def _meets_whole_block(self, operation: Any) -> bool:
        """Whether every thread of the CTA passes the barrier wherever it stands: if some did not, it would hang."""
        if operation.name in ("fa4.block_sync", "fa4.cluster_arrive"):
            return True
        return bool(operation.name == "fa4.named_barrier_sync" and python_value(operation.attributes["threads"]) == self._threads)

    def _wait(self, operation: Any, state: State) -> State:
        barrier = _barrier(operation)
        if self._role is not None:
            self._role.waited.add(barrier)
        changed: State = {}
        for key, item in state.items():
            met = [arrival for name, arrival in item.arrivals if name == barrier]
            changed[key] = _with(item, meetings=(*item.meetings, met[-1])) if met else item
        return changed

    def _async(self, operation: Any, state: State) -> State:
        """The state after an async operation: a fence before it, where no barrier gives a better place, covers all earlier writes."""
        roots = self._touched(operation)
        if self._role is not None:
            self._role.uses.append((operation, {root for root in roots if root.space == "shared"}, frozenset(self._role.waited)))
        here: set[str] = set()
        for key, item in state.items():
            if not any(item.root.meets(root) for root in roots) or self._covered(key, item):
                continue
            places = item.meetings or item.warp
            self._need(key, item, places[-1] if places else operation, operation)
            if not places:
                here.add(self._space(item.root))
        for space in here:
            state = self._fenced(space, state)
        return state

    def _covered(self, key: Key, item: _Pending) -> bool:
        """Whether a fence already decided on lies between the write and here."""
        resolved = self._resolved.get(key, set())
        passed = {hash(place) for place in (*item.meetings, *item.warp, *(arrival for _, arrival in item.arrivals))}
        return bool(resolved & passed)

    def _need(self, key: Key, item: _Pending, place: Any, use: Any) -> None:
        self._resolved.setdefault(key, set()).add(hash(place))
        self.needs.append(Need(place, self._space(item.root), item.write, use, item.root))

    @staticmethod
    def _space(root: Root) -> str:
        """The narrowest space of a fence that covers writes to `root`."""
        return "global" if root.space == "global" else "shared::cluster" if root.remote else "shared::cta"

    # --- memory

    def _written(self, operation: Any) -> set[Root]:
        """What an operation writes through the generic proxy."""
        name, operands = operation.name, operation.operands
        if name in ("llvm.store", "fa4.store"):
            return self._tracer.pointer(operands[1])
        if name in ("fa4.atomic", "fa4.compare_and_swap", "fa4.reduce", "fa4.store_matrix"):
            return self._tracer.pointer(operands[0])
        if name == "fa4.copy_async":
            return {self._tracer.array(operands[0])}
        if name == "fa4.store_async":
            return {Root("shared", self._tracer.array(operands[1]).name, True)}
        if name == "fa4.inline_ptx" and _writes_in_ptx(operation):
            return self._pointers_of(operation)
        return set()

    def _touched(self, operation: Any) -> set[Root]:
        """What an operation reads or overwrites through the async proxy."""
        name, operands, trace = operation.name, operation.operands, self._tracer
        if name in ("fa4.tma_load", "fa4.tma_load_multicast"):
            return {trace.array(operands[1]), Root("global", UNKNOWN)}
        if name in ("fa4.bulk_load", "fa4.bulk_load_multicast"):
            sources = {root for root in trace.pointer(operands[2]) if root.name != UNKNOWN}
            return {trace.array(operands[0]), *sources}
        if name in ("fa4.tma_store", "fa4.bulk_store"):
            return {trace.array(operands[1])}
        if name == "fa4.bulk_push":
            return {trace.array(operands[0]), trace.array(operands[2])}
        if name == "fa4.wgmma":
            return trace.descriptor(operands[0]) | trace.descriptor(operands[1])
        if name == "fa4.wgmma_register_a":
            return trace.descriptor(operands[4])
        return self._pointers_of(operation)

    def _pointers_of(self, operation: Any) -> set[Root]:
        found: set[Root] = set()
        for operand in operation.operands:
            if str(operand.type).startswith("!llvm.ptr"):
                found |= self._tracer.pointer(operand)
        return found


def _with(item: _Pending, **changes: Any) -> _Pending:
    values = {name: getattr(item, name) for name in ("write", "root", "blocks", "meetings", "warp", "arrivals")}
    return _Pending(**{**values, **changes})


def _joined(first: State, second: State) -> State:
    """Writes pending on either path, with the barriers that both paths pass: a fence before one of them lies on every path."""
    result = dict(first)
    for key, item in second.items():
        other = result.get(key)
        if other is None:
            result[key] = item
        elif other != item:
            result[key] = _with(
                item,
                meetings=_common(other.meetings, item.meetings),
                warp=_common(other.warp, item.warp),
                arrivals=_common(other.arrivals, item.arrivals),
            )
    return result


def _common(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(item for item in first if item in second)


def _enclosing(operation: Any) -> frozenset[int]:
    """The blocks around an operation: a barrier in one of them is passed by every thread that executes the operation."""
    blocks = []
    inner = operation
    while inner is not None and inner.name not in ("func.func", "llvm.func"):
        blocks.append(hash(inner.block))
        parent = inner.parent
        inner = parent.operation if parent is not None else None
    return frozenset(blocks)


def _barrier(operation: Any) -> str:
    """A barrier's identity: the mbarrier's name, the named barrier's number, or the kind."""
    if operation.name.startswith("fa4.named_barrier"):
        owner = operation.operands[0].owner
        value = owner.attributes["value"].value if getattr(owner, "name", "") == "arith.constant" else "?"
        return f"named barrier {value}"
    if operation.name.startswith("fa4.mbarrier"):
        owner = operation.operands[0].owner
        named = getattr(owner, "name", "") == "fa4.mbarrier_alloc"
        return f"mbarrier {python_value(owner.attributes['name'])}" if named else "mbarrier ?"
    return "cluster barrier" if "cluster" in operation.name else "block barrier"


def _role_chain(operations: list[Any], position: int) -> list[Any]:
    """Neighbouring role regions; constants between them do not part them."""
    chain = [operations[position]]
    for operation in operations[position + 1 :]:
        if "fa4.role" not in operation.attributes:
            break
        chain.append(operation)
    return chain


def _ptx_text(operation: Any) -> str:
    return str(python_value(operation.attributes["text"])) if operation.name == "fa4.inline_ptx" else ""


def _is_async_ptx(operation: Any) -> bool:
    text = _ptx_text(operation)
    return "cp.async.bulk" in text or "cp.reduce.async.bulk" in text or "wgmma.mma_async" in text


def _writes_in_ptx(operation: Any) -> bool:
    text = _ptx_text(operation)
    return any(word in text for word in ("st.", "red.", "atom.", "cp.async.c", "stmatrix"))
