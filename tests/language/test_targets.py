"""Kernels for another target: what compiles does so honestly down to machine code, what cannot says so."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fa4dsl import Fa4dslError, Kernel, kernel
from fa4dsl.kernels.combine_config import CombineConfig
from fa4dsl.kernels.splitk_combine import splitk_combine
from fa4dsl.runtime.targets import parse_target

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


def for_blackwell(original: Kernel) -> Kernel:
    return kernel(original.function, threads=original.options.threads, cluster=original.options.cluster, target="sm_100a")


def test_clusters_multicast_and_rings_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    module = example("multicast_ring", monkeypatch)
    artifact = for_blackwell(module.products).compile()
    assert artifact.manifest.target == "sm_100a"
    assert ".target sm_100a" in artifact.ptx and artifact.cubin
    assert not parse_target(artifact.manifest.target).cubin_runs_on(9, 0)
    # The simulator runs it: none of its instructions differ.
    matrix, vectors = np.ones((16, 128), np.float32), np.ones((4, 128), np.float32)
    results = np.zeros((4, 16), np.float32)
    artifact[4](matrix, vectors, results, 1)
    assert (results == 128).all()


def test_the_combine_compiles() -> None:
    bound = for_blackwell(splitk_combine).bind(c=CombineConfig(partitions=2, depth=64))
    assert ".target sm_100a" in bound.artifact.ptx and bound.artifact.cubin


def test_wgmma_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Fa4dslError, match=r"C035.*needs wgmma, which sm_100a does not have") as caught:
        for_blackwell(example("wgmma_gemm", monkeypatch).gemm).bind(n=64).compile()
    assert "mma in place of wgmma" in str(caught.value)
    assert caught.value.diagnostics[0].frames


def test_an_unknown_target() -> None:
    with pytest.raises(Fa4dslError, match=r"C014.*sm_70.*sm_90a, sm_100a"):
        kernel(splitk_combine.function, target="sm_70").bind(c=CombineConfig(partitions=2, depth=64)).trace()
