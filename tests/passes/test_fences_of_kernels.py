"""The fences that whole kernels get: as few as a careful author would write, in the same places."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from fa4dsl.kernels.combine_config import CombineConfig
from fa4dsl.kernels.splitk_combine import splitk_combine
from fa4dsl.passes.dialect.build import op
from fa4dsl.passes.insert_proxy_fences import missing_proxy_fences
from fa4dsl.passes.kernel import fa4_operations, kernels
from fa4dsl.passes.pipeline import run_pipeline
from fa4dsl.passes.registry import run_passes

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
TO_PTX = "lower-fa4,fa4-to-llvm,emit-ptx"


def fences(module: Any) -> list[Any]:
    return fa4_operations(module.operation, "fence_proxy_async")


@pytest.mark.parametrize(
    ("example", "name", "count"),
    [
        ("wgmma_gemm", "gemm", 0),
        ("flash_attention", "attention", 0),
        ("tma_ring", "column_sums", 1),
        ("multicast_ring", "products", 1),
        ("cluster_sum", "cluster_sum", 1),
    ],
)
def test_no_more_than_needed(example: str, name: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """wgmma reads what TMA wrote, both through the async proxy: none. Ordinary loads from a slot: one for each release."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, example, raising=False)
    traced = getattr(importlib.import_module(example), name).bind().trace()
    with traced.context:
        run_passes(traced.module, ["place-shared-memory", "insert-proxy-fences"])
        assert len(fences(traced.module)) == count


@pytest.mark.parametrize("partitions", [2, 8])
def test_the_combine_by_the_compiler_and_by_hand(partitions: int) -> None:
    """The fence that the compiler inserts is the one that a careful author writes: in every thread, between its packed stores and the
    barrier before the TMA stores. Written there by hand, the PTX is the same."""
    bound = splitk_combine.bind(c=CombineConfig(partitions=partitions, depth=128))
    automatic, manual = bound.trace(), bound.trace()
    with automatic.context:
        run_passes(automatic.module, ["place-shared-memory", "insert-proxy-fences"])
        assert len(fences(automatic.module)) == 1
    with manual.context:
        from mlir import ir

        function = kernels(manual.module)[0]
        function.attributes["fa4.fences"] = ir.StringAttr.get("manual")
        stores = fa4_operations(function, "tma_store")
        assert missing_proxy_fences(manual.module)
        barriers = [item for item in fa4_operations(function, "named_barrier_sync", "block_sync") if _before(function, item, stores[0])]
        op("fence_proxy_async", [], {"space": "shared::cta"}, loc=barriers[-1].location, ip=ir.InsertionPoint(barriers[-1]))
        run_passes(manual.module, ["place-shared-memory", "insert-proxy-fences"])
        assert missing_proxy_fences(manual.module) == []
    assert _ptx(automatic) == _ptx(manual)


def _before(function: Any, first: Any, second: Any) -> bool:
    order = [hash(item) for item in fa4_operations(function)]
    return order.index(hash(first)) < order.index(hash(second))


def _ptx(traced: Any) -> str:
    with traced.context:
        return re.sub(r"//.*", "", run_pipeline(traced.module, TO_PTX))
