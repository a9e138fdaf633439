"""Kernel objects: specialisation, compilation on demand and from threads, launching, what is loaded when."""

from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from language_running import launch, load_text

from fa4dsl import (
    Constexpr,
    Fa4dslError,
    Kernel,
    Pointer,
    TensorMap,
    block,
    elect,
    f32,
    grid,
    i32,
    kernel,
    shared,
    static_assert,
    thread,
    u64,
)
from fa4dsl.runtime.diagnostics import Fa4dslWarning
from fa4dsl.runtime.manifest import TensorMapTemplate


@dataclass(frozen=True)
class Config:
    threads: int = 32
    factor: float = 2.0

    @property
    def half(self) -> int:
        return self.threads // 2


@kernel(threads=lambda c: (c.half, 2), cluster=lambda c: 2 if c.threads > 32 else 1)
def scaled(x: Pointer[f32], n: i32, big: u64, *, c: Config, offset: Constexpr[int] = 1):
    """Multiplies."""
    static_assert(block.dim() == c.half and block.dim("y") == 2)
    i = block.index() * c.threads + thread.index("y") * c.half + thread.index()
    if i < n:
        x[i] = x[i] * c.factor + offset + big.to(f32) + grid.dim().to(f32)


def test_launch_by_grid_and_by_options() -> None:
    x = np.arange(40, dtype=np.float32)
    bound = scaled.bind(c=Config())
    bound[2](x, 40, 10)
    assert (x == np.arange(40) * 2 + 1 + 10 + 2).all()
    result = bound.launch((2,), {"x": x, "n": 40, "big": 0}, device="simulator", schedule="late")
    assert result.report.verdict == "clean"
    reports = bound.check(2, {"x": x, "n": 40, "big": 0}, schedules=("eager", "late", "random"))
    assert [report.verdict for report in reports] == ["clean"] * 3


def test_binding_keeps_one_specialisation_for_equal_arguments() -> None:
    assert scaled.bind(c=Config()) is scaled.bind(c=Config(32), offset=1)
    assert scaled.bind(c=Config()) is scaled(c=Config())
    assert scaled.bind(c=Config()) is not scaled.bind(c=Config(), offset=2)
    assert scaled.bind(c=Config(), offset=1) is not scaled.bind(c=Config(), offset=True), "1 and True are other constants"


def test_manifest_says_what_the_source_says() -> None:
    manifest = scaled.bind(c=Config(64)).artifact.manifest
    assert manifest.name == "scaled"
    assert manifest.block == (32, 2, 1)
    assert manifest.cluster == (2, 1, 1)
    assert [(item.name, item.kind, item.dtype) for item in manifest.parameters] == [
        ("x", "pointer", "f32"),
        ("n", "scalar", "i32"),
        ("big", "scalar", "u64"),
    ]
    assert manifest.file == __file__
    assert any("Multiplies" in text for text in manifest.sources.values())
    assert manifest.options["offset"] == 1


@kernel(threads=32)
def boxes(source: TensorMap, target: TensorMap):
    tile = shared(f32, (1, 8, 32))
    with elect():
        target.store(tile.part(0), (0, 0, 0))
        source.store(tile, (0, 0, 0, 0, 0))


def test_boxes_come_from_the_arrays() -> None:
    found = {item.name: item.tensor_map for item in boxes.bind().artifact.manifest.parameters}
    assert found == {
        "source": TensorMapTemplate("f32", 5, (32, 8, 1, 1, 1)),
        "target": TensorMapTemplate("f32", 3, (32, 8, 1)),
    }


def test_one_compilation_from_many_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = load_text(tmp_path, "from fa4dsl import *\n\n@kernel(threads=32)\ndef example(x: Pointer[i32]):\n    x[thread.index()] = 7\n")
    traced = []
    original = type(module.example.bind()).trace
    monkeypatch.setattr(type(module.example.bind()), "trace", lambda self: traced.append(1) or original(self))
    with ThreadPoolExecutor(8) as pool:
        artifacts = list(pool.map(lambda _: module.example.compile(), range(16)))
    assert len({id(artifact) for artifact in artifacts}) == 1
    assert len(traced) == 1


def test_two_kernels_compile_at_the_same_time(tmp_path: Path) -> None:
    text = "from fa4dsl import *\n\n@kernel(threads=32)\ndef example(x: Pointer[i32], *, k):\n    x[thread.index()] = helper(k)\n\n"
    text += "@device_function\ndef helper(k):\n    total = i32(0)\n    for i in range(k):\n        total += i\n    return total\n"
    example = load_text(tmp_path, text).example
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: example.bind(k=k).compile(), range(6)))
    for k in range(6):
        x = np.zeros(32, np.int32)
        launch(example.bind(k=k), x)
        assert set(x.tolist()) == {sum(range(k))}


def test_a_failed_compilation_can_be_tried_again(tmp_path: Path) -> None:
    bound = load_text(
        tmp_path, "from fa4dsl import *\n\n@kernel(threads=32)\ndef example(x: Pointer[i32]):\n    x[0] = missing\n"
    ).example.bind()
    for _ in range(2):
        with pytest.raises(Fa4dslError) as caught:
            bound.compile()
        assert caught.value.code == "L003"
    bound.kernel.function.__globals__["missing"] = 3
    assert bound.compile().ptx


def test_stages_show_the_kernel_on_its_way() -> None:
    stages = scaled.bind(c=Config()).stages
    assert "fa4.index" in stages["fa4"]
    assert "nvvm" in stages["nvvm"]
    assert "define ptx_kernel void @scaled" in stages["llvm"]
    assert ".visible .entry scaled" in stages["ptx"]


def test_closures_are_compile_time_values() -> None:
    def make(factor: float) -> Kernel:
        @kernel(threads=32)
        def example(x: Pointer[f32]):
            x[thread.index()] *= factor

        return example

    x = np.ones(32, np.float32)
    launch(make(3.0), x)
    launch(make(5.0), x)
    assert (x == 15).all()


def test_methods_and_names_for_people() -> None:
    assert scaled.__doc__ == "Multiplies."
    assert repr(scaled) == "<kernel scaled>"
    assert "factor=2.0" in repr(scaled.bind(c=Config()))


def test_importing_loads_neither_mlir_nor_cuda_nor_numpy() -> None:
    script = (
        "import sys, time; t = time.perf_counter(); import fa4dsl; spent = time.perf_counter() - t; "
        "heavy = sorted({name.split('.')[0] for name in sys.modules} & {'mlir', 'cuda', 'numpy', 'torch'}); print(heavy, spent < 0.15)"
    )
    shown = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "[] True"


def test_defining_a_kernel_loads_no_mlir(tmp_path: Path) -> None:
    file = tmp_path / "defines.py"
    file.write_text(
        "import sys\nfrom fa4dsl import *\n\n@kernel(threads=32)\ndef example(x: Pointer[f32]):\n    x[0] = 1.0\n\nprint('mlir' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, str(file)], check=True, capture_output=True, text=True).stdout.strip() == "False"


def test_every_exported_name_exists_and_is_documented() -> None:
    import fa4dsl

    for name in fa4dsl.__all__:
        value = getattr(fa4dsl, name)
        if callable(value) and not isinstance(value, fa4dsl.DType):
            assert value.__doc__, name
    with pytest.raises(AttributeError):
        _ = fa4dsl.nothing
    assert set(fa4dsl.__all__) <= set(dir(fa4dsl))


def test_warnings_are_told_again_where_the_kernel_comes_from_the_cache(tmp_path: Path) -> None:
    file = tmp_path / "warned.py"
    file.write_text(
        "from fa4dsl import *\n\n\n@kernel(threads=256)\ndef warned(x: Pointer[f32]):\n    if warp.index() % 4 == 0:\n"
        "        with elect():\n            x[0] = 1.0\n"
    )
    for compiled in (True, False):
        bound = runpy.run_path(str(file))["warned"].bind()
        with pytest.warns(Fa4dslWarning, match="C134") as told:
            bound.compile()
        assert (bound._compilation is not None) == compiled
        assert len(told) == 1 and "with elect():" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", Fa4dslWarning)
        with pytest.raises(Fa4dslError, match="C134"):
            runpy.run_path(str(file))["warned"].bind().compile()
