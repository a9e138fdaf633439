"""lower-tma: tensor-map copies, bulk copies, their groups, and non-bulk asynchronous copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.rewriting import Rewriter, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlir import ir

_COMPLETE = "mbarrier::complete_tx::bytes"


def lower_tma(module: ir.Module) -> None:
    rewrite(module, _RULES)


class _Text:
    """Collects the operands of one instruction; `add` gives the name each has in the text."""

    def __init__(self) -> None:
        self.values: list[ir.Value] = []

    def add(self, *values: ir.Value) -> str:
        names = [f"${len(self.values) + i}" for i in range(len(values))]
        self.values += values
        return ", ".join(names)


def _hint(rewriter: Rewriter, text: _Text) -> tuple[str, str]:
    """The `.L2::cache_hint` qualifier and its operand, or two empty strings."""
    policy = rewriter.attribute("cache")
    if policy is None:
        return "", ""
    (made,) = rewriter.ptx(f"createpolicy.fractional.L2::{policy}.b64 $0, 0f3F800000;", [], ["i64"], pure=True)
    return ".L2::cache_hint", f", {text.add(made)}"


def _tma_load(rewriter: Rewriter) -> None:
    tensor_map, array, offset, barrier, index, *rest = rewriter.operation.operands
    multicast = rewriter.operation.name == "fa4.tma_load_multicast"
    coordinates = rest[1:] if multicast else rest
    text = _Text()
    target = text.add(rewriter.shared_address(array, offset))
    source = text.add(rewriter.map_pointer(tensor_map))
    place = text.add(*coordinates)
    signal = text.add(rewriter.mbarrier_address(barrier, index))
    mask = f", {text.add(rest[0])}" if multicast else ""
    form, policy = _hint(rewriter, text)
    cast = ".multicast::cluster" if multicast else ""
    name = f"cp.async.bulk.tensor.{len(coordinates)}d.shared::cluster.global.tile.{_COMPLETE}{cast}{form}"
    rewriter.ptx(f"{name} [{target}], [{source}, {{{place}}}], [{signal}]{mask}{policy};", text.values)
    rewriter.replace()


def _tma_store(rewriter: Rewriter) -> None:
    tensor_map, array, offset, *coordinates = rewriter.operation.operands
    reduction = rewriter.attribute("reduce")
    text = _Text()
    target, place = text.add(rewriter.map_pointer(tensor_map)), text.add(*coordinates)
    source = text.add(rewriter.shared_address(array, offset))
    form, policy = _hint(rewriter, text)
    shape = f"{len(coordinates)}d.global.shared::cta"
    if reduction == "none":
        name = f"cp.async.bulk.tensor.{shape}.tile.bulk_group{form}"
    else:
        name = f"cp.reduce.async.bulk.tensor.{shape}.{reduction}.tile.bulk_group{form}"
    rewriter.ptx(f"{name} [{target}, {{{place}}}], [{source}]{policy};", text.values)
    rewriter.replace()


def _bulk_load(rewriter: Rewriter) -> None:
    array, offset, source, size, barrier, index, *mask = rewriter.operation.operands
    text = _Text()
    operands = [
        f"[{text.add(rewriter.shared_address(array, offset))}]",
        f"[{text.add(source)}]",
        text.add(size),
        f"[{text.add(rewriter.mbarrier_address(barrier, index))}]",
        *([text.add(mask[0])] if mask else []),
    ]
    form, policy = _hint(rewriter, text)
    cast = ".multicast::cluster" if mask else ""
    rewriter.ptx(f"cp.async.bulk.shared::cluster.global.{_COMPLETE}{cast}{form} {', '.join(operands)}{policy};", text.values)
    rewriter.replace()


def _bulk_store(rewriter: Rewriter) -> None:
    destination, array, offset, size = rewriter.operation.operands
    text = _Text()
    operands = f"[{text.add(destination)}], [{text.add(rewriter.shared_address(array, offset))}], {text.add(size)}"
    form, policy = _hint(rewriter, text)
    rewriter.ptx(f"cp.async.bulk.global.shared::cta.bulk_group{form} {operands}{policy};", text.values)
    rewriter.replace()


def _bulk_push(rewriter: Rewriter) -> None:
    target, target_offset, source, source_offset, size, barrier, index, rank = rewriter.operation.operands
    rewriter.ptx(
        f"cp.async.bulk.shared::cluster.shared::cta.{_COMPLETE} [$0], [$1], $2, [$3];",
        [
            rewriter.peer(rewriter.shared_address(target, target_offset), rank),
            rewriter.shared_address(source, source_offset),
            size,
            rewriter.peer(rewriter.mbarrier_address(barrier, index), rank),
        ],
    )
    rewriter.replace()


def _copy_async(rewriter: Rewriter) -> None:
    array, offset, source = rewriter.operation.operands
    size, cache = rewriter.attribute("bytes"), rewriter.attribute("cache")
    rewriter.ptx(f"cp.async.{cache}.shared.global [$0], [$1], {size};", [rewriter.shared_address(array, offset), source])
    rewriter.replace()


def _prefetch(rewriter: Rewriter) -> None:
    rewriter.ptx("prefetch.tensormap [$0];", [rewriter.map_pointer(rewriter.operation.operands[0])])
    rewriter.replace()


def _group(text: str) -> Callable[[Rewriter], None]:
    def rule(rewriter: Rewriter) -> None:
        read = ".read" if rewriter.attribute("read", False) else ""
        rewriter.ptx(text.format(pending=rewriter.attribute("pending", 0), read=read))
        rewriter.replace()

    return rule


_RULES = {
    "tensor_map_prefetch": _prefetch,
    "tma_load": _tma_load,
    "tma_load_multicast": _tma_load,
    "tma_store": _tma_store,
    "bulk_load": _bulk_load,
    "bulk_load_multicast": _bulk_load,
    "bulk_store": _bulk_store,
    "bulk_push": _bulk_push,
    "bulk_commit": _group("cp.async.bulk.commit_group;"),
    "bulk_wait": _group("cp.async.bulk.wait_group{read} {pending};"),
    "copy_async": _copy_async,
    "copy_async_commit": _group("cp.async.commit_group;"),
    "copy_async_wait": _group("cp.async.wait_group {pending};"),
}
