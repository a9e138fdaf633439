"""From an operation with known operands to an event; what is not known puts the object in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.passes.checks.events import Event
from fa4dsl.passes.checks.lanes import Mask
from fa4dsl.passes.checks.program import REMOTE_ACCESSES, Node
from fa4dsl.passes.checks.values import Address, Descriptor, Object, is_number
from fa4dsl.passes.dialect.rules import bits_of

if TYPE_CHECKING:
    from fa4dsl.passes.checks.execute import Execution

_SIMPLE = {
    "fa4.block_sync": ("block", "block"),
    "fa4.cluster_arrive": ("cluster_arrive", "cluster"),
    "fa4.cluster_wait": ("cluster_wait", "cluster"),
}
_ARRIVES = {
    "fa4.mbarrier_arrive": (False, False),
    "fa4.mbarrier_arrive_remote": (True, False),
    "fa4.mbarrier_arrive_expect_tx": (False, True),
    "fa4.mbarrier_arrive_expect_tx_remote": (True, True),
}
"""Operation: (remote, expects bytes)."""


def record(execution: Execution, node: Node, values: list[Any], mask: Mask, kind: str = "") -> Event | None:
    """The event of one execution, or None where there is none or it is in doubt."""
    values = [execution.world.resolve(value) for value in values]
    name = node.name
    if name in _SIMPLE:
        event_kind, subject = _SIMPLE[name]
        return _sure(execution, subject, Event(event_kind, node, mask))
    if name in ("fa4.named_barrier_sync", "fa4.named_barrier_arrive"):
        return _named(execution, node, values, mask)
    if name == "fa4.warp_sync":
        return None if execution.unsure else Event("warp", node, mask, number=values[0])
    if name in REMOTE_ACCESSES:
        return _touch(node, values, mask)
    if name.startswith("fa4.wgmma") or name == "fa4.set_max_registers":
        return _matrix(execution, node, values, mask)
    if name == "fa4.elect":
        return None if execution.unsure else Event("elect", node, mask)
    if name in ("fa4.tma_store", "fa4.bulk_store"):
        return None if execution.unsure else _store(node, values, mask)
    if name in _ARRIVES:
        return _arrive(execution, node, values, mask)
    if name in ("fa4.mbarrier_init", "fa4.mbarrier_invalidate"):
        return _barrier(execution, node, values[0], [], Event(name.removeprefix("fa4.mbarrier_"), node, mask))
    if name == "fa4.mbarrier_expect_tx":
        return _barrier(execution, node, values[0], values[1:3], Event("arrive", node, mask, index=values[1], bytes=values[2]))
    if name == "fa4.mbarrier_wait" or kind == "wait":
        return _barrier(execution, node, values[0], values[1:3], Event("wait", node, mask, index=values[1], parity=values[2]))
    if name == "fa4.mbarrier_address":
        if isinstance(values[0], Object):
            execution.doubt(values[0].name, node, "its address is handed to inline PTX")
        return None
    if name == "fa4.mbarrier_test":
        if execution.unsure and isinstance(values[0], Object):
            cause, reason = execution.unsure[-1]
            execution.doubt(values[0].name, node, reason, cause)
        return None
    return _copy(execution, node, values, mask)


def _sure(execution: Execution, subject: str, event: Event) -> Event | None:
    if execution.unsure:
        cause, reason = execution.unsure[-1]
        execution.doubt(subject, event.node, reason, cause)
        return None
    return event


def _named(execution: Execution, node: Node, values: list[Any], mask: Mask) -> Event | None:
    kind = "named" if node.name == "fa4.named_barrier_sync" else "named_arrive"
    if not is_number(values[0]):
        execution.doubt("named", node, "the barrier's id is known only at run time")
        return None
    return _sure(execution, "named", Event(kind, node, mask, number=values[0], threads=int(node.attribute("threads"))))


def _touch(node: Node, values: list[Any], mask: Mask) -> Event | None:
    address = values[REMOTE_ACCESSES[node.name]]
    if not isinstance(address, Address):
        return None
    rank = address.rank
    return Event("touch", node, mask, rank=rank if is_number(rank) else None, array=address.array, number=int(is_number(rank)))


def _matrix(execution: Execution, node: Node, values: list[Any], mask: Mask) -> Event | None:
    name = node.name.removeprefix("fa4.")
    if name == "set_max_registers" or execution.unsure:
        return None if execution.unsure else Event("registers", node, mask)
    if name == "wgmma_wait":
        return Event("wgmma_wait", node, mask, number=int(node.attribute("pending")))
    if name == "wgmma_commit":
        return Event("wgmma_commit", node, mask)
    reads = [value for value in (values[:2] if name == "wgmma" else values[4:5]) if isinstance(value, Descriptor)]
    return Event("wgmma", node, mask, multicast=tuple((read.array, read.offset) for read in reads))


def _store(node: Node, values: list[Any], mask: Mask) -> Event:
    moved = int(node.attribute("bytes")) if node.name == "fa4.tma_store" else values[3]
    offset = values[2] if is_number(values[2]) else None
    array = values[1].name if isinstance(values[1], Object) else ""
    return Event("store", node, mask, array=array, offset=offset, bytes=moved)


def _arrive(execution: Execution, node: Node, values: list[Any], mask: Mask) -> Event | None:
    remote, expects = _ARRIVES[node.name]
    barrier, index, *rest = values
    rank = rest.pop(0) if remote else None
    expected = rest.pop(0) if expects else 0
    event = Event("arrive", node, mask, index=index, rank=rank, arrivals=int(node.attribute("count", 1)), bytes=expected)
    return _barrier(execution, node, barrier, [index, expected, *([rank] if remote else [])], event)


def _barrier(execution: Execution, node: Node, barrier: Any, numbers: list[Any], event: Event) -> Event | None:
    """An event on a barrier, if the barrier and all `numbers` are known and it is known who executes it."""
    if not isinstance(barrier, Object):
        for name, allocation in execution.program.allocations.items():
            if allocation.name == "fa4.mbarrier_alloc":
                execution.doubt(name, node, "which barrier this is, is known only at run time")
        return None
    event.barrier = barrier.name
    if not all(map(is_number, numbers)):
        execution.doubt(barrier.name, node, "its index, parity, rank or bytes are known only at run time")
        return None
    return _sure(execution, barrier.name, event)


def _copy(execution: Execution, node: Node, values: list[Any], mask: Mask) -> Event | None:
    name = node.name.removeprefix("fa4.")
    event = Event("copy", node, mask)
    if name in ("tma_load", "tma_load_multicast"):
        array, offset, barrier, index = values[1:5]
        moved: Any = int(node.attribute("bytes"))
        masks = values[5:6] if name == "tma_load_multicast" else []
    elif name in ("bulk_load", "bulk_load_multicast"):
        array, offset, _, moved, barrier, index = values[:6]
        masks = values[6:7]
    elif name == "bulk_push":
        array, offset, _, _, moved, barrier, index, event.rank = values
        masks = []
    else:  # store_async
        _, array, offset, barrier, index, event.rank = values
        moved = bits_of(str(node.operation.operands[0].type)) // 8
        masks = []
    event.array = array.name if isinstance(array, Object) else ""
    event.offset = offset if is_number(offset) else None
    event.index, event.bytes = index, moved
    event.multicast = masks[0] if masks else None
    numbers = [index, moved, *masks, *([event.rank] if event.rank is not None else [])]
    return _barrier(execution, node, barrier, numbers, event)
