"""The combine as a torch operator: compiled, exported, captured and right.

Where no compiler is installed, the kernels come from torch_combine.fa4 in the folder that FA4DSL_GPU_FOLDER names, by default build/gpu, which
`python tests/gpu/prepare.py build/gpu` writes on a machine with the compiler.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.gpu

PARTITIONS, DEPTH, HEADS, SCALE = 8, 128, 2, 0.125


@pytest.fixture(scope="module")
def operator() -> Any:
    import fa4dsl.torch as module

    if find_spec("mlir") is None:
        default = Path(__file__).parent.parent.parent / "build" / "gpu"
        module.use_artifacts(Path(os.environ.get("FA4DSL_GPU_FOLDER", default)) / "torch_combine.fa4")
    return module


def inputs(tiles: int = 3, rows: int = 50) -> tuple[Any, ...]:
    import torch

    generator = torch.Generator("cuda").manual_seed(1)
    total = tiles * rows
    partial = torch.randn(PARTITIONS, total, HEADS, DEPTH, device="cuda", generator=generator)
    maxima = torch.randn(PARTITIONS, total, HEADS, 1, device="cuda", generator=generator) * 4
    sums = torch.rand(PARTITIONS, total, HEADS, 1, device="cuda", generator=generator) * 50 + 1
    offsets = torch.arange(0, total + 1, rows, dtype=torch.int32, device="cuda")
    return partial, torch.cat([maxima, sums], 3), offsets, SCALE


def reference(partial: Any, statistics: Any, offsets: Any, scale: float) -> Any:
    import torch

    maxima, sums = statistics.double().unbind(3)
    weights = sums * torch.exp((maxima - maxima.amax(0)) * scale)
    return ((weights / weights.sum(0)).unsqueeze(3) * partial.double()).sum(0)


def close(result: Any, expected: Any) -> bool:
    """Within bf16's rounding of the float64 result, and a little for exp2 and the order of additions."""
    return bool(((result.double() - expected).abs() <= expected.abs() * 2**-8 + 1e-4).all())


def test_the_result_is_right(operator: Any) -> None:
    import torch

    arguments = inputs()
    result = torch.ops.fa4dsl.splitk_combine(*arguments)
    assert result.dtype == torch.bfloat16 and close(result, reference(*arguments))


def test_opcheck(operator: Any) -> None:
    import torch

    torch.library.opcheck(operator.combine, inputs())
    out = torch.zeros(128 + 150, HEADS, DEPTH, dtype=torch.bfloat16, device="cuda")[128:]
    torch.library.opcheck(operator.combine_out, inputs(), {"out": out})


# torch.compile uses torch.jit inside, which torch has deprecated.
@pytest.mark.filterwarnings("default::DeprecationWarning")
def test_compile_and_export(operator: Any) -> None:
    import torch

    class Combine(torch.nn.Module):
        def forward(self, partial: Any, statistics: Any, offsets: Any) -> Any:
            return torch.ops.fa4dsl.splitk_combine(partial * 1.0, statistics, offsets, SCALE).float() * 2

    arguments = inputs()
    expected = reference(*arguments)
    compiled = torch.compile(Combine(), fullgraph=True)
    assert close(compiled(*arguments[:3]) / 2, expected)
    exported = torch.export.export(Combine(), arguments[:3])
    assert close(exported.module()(*arguments[:3]) / 2, expected)


@pytest.mark.filterwarnings("default::DeprecationWarning")
def test_compile_out(operator: Any) -> None:
    import torch

    def into(partial: Any, statistics: Any, offsets: Any, out: Any) -> Any:
        torch.ops.fa4dsl.splitk_combine_out(partial * 1.0, statistics, offsets, SCALE, out=out)
        return out.float() * 2

    arguments = inputs()
    room = torch.full((128 + 150 + 8, HEADS, DEPTH), 7.0, dtype=torch.bfloat16, device="cuda")
    out = room[128:-8]
    doubled = torch.compile(into, fullgraph=True)(*arguments[:3], out)
    assert close(out, reference(*arguments)) and close(doubled / 2, reference(*arguments))
    assert bool((room[:128] == 7).all()) and bool((room[-8:] == 7).all())


def test_out_and_graph(operator: Any) -> None:
    import torch

    arguments = inputs()
    room = torch.full((128 + 150 + 8, HEADS, DEPTH), 7.0, dtype=torch.bfloat16, device="cuda")
    out = room[128:-8]
    torch.ops.fa4dsl.splitk_combine_out(*arguments, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.ops.fa4dsl.splitk_combine_out(*arguments, out=out)
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert close(out, reference(*arguments)) and bool((room[:128] == 7).all()) and bool((room[-8:] == 7).all())


def test_tensors_that_do_not_fit(operator: Any) -> None:
    import torch

    from fa4dsl.runtime.diagnostics import Fa4dslError

    partial, statistics, offsets, scale = inputs()
    for wrong in (
        (partial.double(), statistics, offsets),
        (partial[0], statistics, offsets),
        (partial, statistics[..., :1], offsets),
        (partial, statistics, offsets.long()),
        (partial, statistics, offsets.cpu()),
    ):
        with pytest.raises(Fa4dslError) as error:
            torch.ops.fa4dsl.splitk_combine(*wrong, scale)
        assert error.value.code == "R096"


@pytest.mark.parametrize(("rows", "design"), [(64, "pull"), (64, "pull_wide"), (64, "push_bulk")])
def test_designs(operator: Any, rows: int, design: str) -> None:
    import torch

    arguments = inputs()
    assert close(torch.ops.fa4dsl.splitk_combine(*arguments, rows=rows, design=design), reference(*arguments))


def test_tuning(operator: Any) -> None:
    import torch

    arguments = inputs()
    choices = [operator.CombineChoice(rows, design) for rows, design in ((32, "pull"), (64, "pull"), (64, "pull_wide"), (64, "push_bulk"))]
    seen: list[Any] = []
    first = operator.tune_combine(*arguments, choices=choices, progress=lambda *step: seen.append(step))
    assert [step[:2] for step in seen] == [(1, 3), (2, 3), (3, 3)], "32 rows do not hold a tile"
    assert first.best in choices[1:] and not first.replayed and all(trial.seconds and not trial.failure for trial in first.trials)
    again = operator.tune_combine(*arguments, choices=choices)
    assert again.replayed and again.best == first.best
    result = torch.ops.fa4dsl.splitk_combine(*arguments, rows=first.best.rows, design=first.best.design)
    assert close(result, reference(*arguments))
