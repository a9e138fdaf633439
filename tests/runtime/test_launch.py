"""Launches from host arrays: the simulator as a device, and every launch that is refused before it is tried."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import ptx_samples as samples
import pytest

from fa4dsl.runtime import load, ragged, tiled
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.launch import launch


def error_of(action: Callable[[], object]) -> Fa4dslError:
    with pytest.raises(Fa4dslError) as error:
        action()
    return error.value


def test_numpy_runs_on_the_simulator() -> None:
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    result = launch(samples.scale(), 2, (x, out, 3))
    assert result.device == "simulator" and result.report.verdict == "clean" and result.seconds is not None
    np.testing.assert_array_equal(out, x * 3)
    result.synchronize()


def test_the_short_form_and_names() -> None:
    x = np.zeros(128, np.int32)
    kernel = samples.increment()
    for grid in (1, (1,), (1, 1, 1), [1, 1], np.int64(1)):
        kernel[grid](x, 1)
    kernel[1](n=2, x=x)
    kernel.launch(1, {"n": 3, "x": x}, device="simulator", schedule="random", seed=7)
    assert x.tolist() == [10] * 128


def test_a_fault_is_raised_in_the_short_form_and_reported_in_the_long() -> None:
    x, out = np.zeros(128, np.float32), np.zeros(100, np.float32)
    report = launch(samples.scale(), 1, (x, out, 1.0)).report
    assert report.verdict == "error"
    assert error_of(lambda: samples.scale()[1](x, out, 1.0)).code == report.findings[0].diagnostic.code


def test_a_saved_artifact_runs(tmp_path: Path) -> None:
    samples.increment().save(tmp_path / "k.fa4")
    x = np.zeros(128, np.int32)
    load(tmp_path / "k.fa4")[1](x, 4)
    assert x.tolist() == [4] * 128


def test_clusters_are_chosen_at_launch() -> None:
    for size in (1, 2, 8, 16):
        out = np.zeros(16, np.int32)
        launch(samples.cluster_ranks(), 16, (out,), cluster=size)
        assert out.tolist() == [size * 100 + cta % size for cta in range(16)]


def test_scalars_arrive_bit_by_bit() -> None:
    artifact = samples.scalars()
    values: dict[str, Any] = {
        "bool": True,
        "i8": -3,
        "u16": 65535,
        "f16": 1.5,
        "bf16": -2.75,
        "e4m3": 0.4375,
        "i32": -70000,
        "f32": 0.1,
        "u8": 200,
    }
    values |= {"i64": -(1 << 62), "f64": 0.1, "u32": 4_000_000_000, "u64": (1 << 64) - 1, "i16": -300, "e5m2": 1.25}
    out = np.zeros(len(values), np.uint64)
    artifact[1](out, *(values[parameter.dtype] for parameter in artifact.manifest.parameters[1:]))
    for parameter, got in zip(artifact.manifest.parameters[1:], out, strict=True):
        dtype = DTYPES[parameter.dtype]
        assert int(got) == int(np.asarray(values[parameter.dtype], dtype.numpy).view(f"u{dtype.size}")), parameter.name


@pytest.mark.parametrize("swizzle", ["none", "128B"])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (40, 48), (4, 64)])
def test_tiles(swizzle: str, row: int, column: int) -> None:
    source, target = np.random.default_rng(0).random((50, 80), np.float32), np.full((50, 80), -1.0, np.float32)
    expected = target.copy()
    expected[row : row + 16, column : column + 32] = source[row : row + 16, column : column + 32]
    result = launch(samples.tile_copy(swizzle=swizzle), 1, (source, target, column, row))
    assert result.report.verdict == "clean"
    np.testing.assert_array_equal(target, expected)


def test_maps_over_views_of_one_array() -> None:
    """Source and target are two halves of one array, the target a ready map: both lie in their own place."""
    whole = np.zeros((64, 64), np.float32)
    whole[:32] = np.random.default_rng(1).random((32, 64), np.float32)
    samples.tile_copy()[1](whole[:32, 32:], tiled(whole[32:, :32], (32, 16)), 0, 16)
    np.testing.assert_array_equal(whole[48:, :32], whole[16:32, 32:])
    assert not whole[32:48].any() and not whole[48:, 32:].any()


@pytest.mark.parametrize("group", [1, 4])
@pytest.mark.parametrize("valid", [1, 3, 8])
def test_ragged_store_writes_the_valid_rows_only(group: int, valid: int) -> None:
    rows, columns, heads, total, at, head = 8 * group, 8, 3, 20, 5, 2
    shape = (total, heads, columns) if group == 1 else (total, heads, group, columns)
    output = np.full(shape, -1.0, np.float32)
    artifact = samples.ragged_store(rows, columns, group)
    given = output if valid == 1 else ragged(output, rows, columns, group=group)
    result = launch(artifact, 1, (given, valid, at, head, heads))
    assert result.report.verdict == "clean"
    expected = np.full(shape, -1.0, np.float32)
    tile = (np.arange(rows)[:, None] * 1000 + np.arange(columns)).astype(np.float32).reshape(8, *shape[2:])
    expected[at : at + valid, head] = tile[:valid]
    np.testing.assert_array_equal(output, expected)


def test_read_only_arrays() -> None:
    x, out = np.zeros(128, np.float32), np.zeros(128, np.float32)
    x.flags.writeable = False
    samples.scale()[1](x, out, 2.0)
    ones = np.ones(128, np.float32)
    out.flags.writeable = False
    assert error_of(lambda: samples.scale()[1](ones, out, 2.0)).code == "R048"


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (0, "0 CTAs in x"),
        ((1, 0), "0 CTAs in y"),
        ((1, 1, 65536), "65536 CTAs in z, 1 to 65535"),
        (1 << 31, "in x"),
        ((), "one to three"),
        ((1, 1, 1, 1), "one to three"),
        ("ab", "one to three"),
        (1.5, "one to three"),
        ((1, None), "one to three"),
        (None, "one to three"),
        (True, "one to three"),
    ],
)
def test_grids(grid: Any, words: str) -> None:
    error = error_of(lambda: samples.increment()[grid](np.zeros(128, np.int32), 1))
    assert error.code == "R060" and words in str(error)


def test_launches_that_cannot_fit_anywhere() -> None:
    out = np.zeros(64, np.int32)
    ranks, fixed = (
        samples.cluster_ranks(),
        samples.artifact("fixed", (), "ret;", cluster=(2, 1, 1), directives=".reqnctapercluster 2, 1, 1"),
    )
    for code, words, action in (
        ("R061", "30 CTAs in x, which is no multiple of the cluster's 4", lambda: launch(ranks, 30, (out,), cluster=4)),
        ("R061", "3 CTAs in y", lambda: launch(ranks, (4, 3), (out,), cluster=(1, 2))),
        ("R062", "32 CTAs, at most 16", lambda: launch(ranks, 64, (out,), cluster=32)),
        ("R062", "needs one to three", lambda: launch(ranks, 64, (out,), cluster="2")),
        ("R062", "compiled for clusters of (2, 1, 1)", lambda: launch(fixed, 8, (), cluster=4)),
        ("R063", "-1 bytes", lambda: launch(ranks, 64, (out,), dynamic_shared_bytes=-1)),
        ("R067", "device cannot be 'gpu'", lambda: launch(ranks, 64, (out,), device="gpu")),  # type: ignore[arg-type]
        ("R040", "got none for out", lambda: launch(ranks, 64, ())),
    ):
        error = error_of(action)
        assert error.code == code and words in str(error)
    assert launch(fixed, 8, (), cluster=2).report.verdict == "clean"


def test_arguments_are_named_in_errors() -> None:
    x, out = np.zeros(128, np.float32), np.zeros(128, np.float32)
    for code, arguments in (
        ("R042", (x, out.astype(np.float64), 1.0)),
        ("R041", (None, out, 1.0)),
        ("R046", (x, out, "1")),
        ("R047", (x, out, 1e39)),
    ):
        error = error_of(lambda arguments=arguments: samples.scale()[1](*arguments))
        assert error.code == code and any(f"{name}:" in str(error) for name in ("x", "out", "factor"))


class OnGpu:
    """An array that says it lies on a GPU."""

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, stream: int | None = None) -> Any:
        return np.zeros(128, np.float32).__dlpack__()


def test_gpu_arrays_do_not_run_on_the_simulator() -> None:
    error = error_of(lambda: launch(samples.scale(), 1, (OnGpu(), OnGpu(), 1.0), device="simulator"))
    assert error.code == "R043"


def test_without_a_gpu_the_error_says_so() -> None:
    """Holds with a driver as well: the process is shown no device."""
    program = (
        f"import sys; sys.path.insert(0, {str(Path(samples.__file__).parent)!r})\n"
        "import numpy as np, ptx_samples as samples\n"
        "from fa4dsl.runtime.launch import launch\n"
        "try:\n"
        "    launch(samples.increment(), 1, (np.zeros(128, np.int32), 1), device='cuda', copy=True)\n"
        "except Exception as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    assert ("R070" in done.stdout or "R071" in done.stdout) and "simulator" in done.stdout, done.stdout + done.stderr


def test_a_manifest_for_other_blocks() -> None:
    """The block comes from the manifest, so a smaller one leaves the rest untouched."""
    kernel = samples.increment()
    x = np.zeros(128, np.int32)
    replace(kernel, manifest=replace(kernel.manifest, block=(64, 1, 1)))[1](x, 1)
    assert x.tolist() == [1] * 64 + [0] * 64
