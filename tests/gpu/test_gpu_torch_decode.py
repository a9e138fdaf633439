"""Decode attention as a torch operator: compiled, captured and right, with the cache in one piece and in pages.

Where no compiler is installed, the kernels come from torch_decode.fa4 in the folder that FA4DSL_GPU_FOLDER names, by default build/gpu.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.gpu

BATCH, KEY_HEADS, GROUP, DEPTH, ROWS, PAGE = 3, 2, 4, 128, 1024, 128
LENGTHS = (1024, 77, 0)
SCALE = 0.09


@pytest.fixture(scope="module")
def operator() -> Any:
    import fa4dsl.torch as module

    if find_spec("mlir") is None:
        default = Path(__file__).parent.parent.parent / "build" / "gpu"
        module.use_artifacts(Path(os.environ.get("FA4DSL_GPU_FOLDER", default)) / "torch_decode.fa4")
    return module


def inputs() -> tuple[Any, ...]:
    import torch

    generator = torch.Generator("cuda").manual_seed(2)
    q = torch.randn(BATCH, KEY_HEADS * GROUP, DEPTH, device="cuda", generator=generator).bfloat16()
    k, v = (torch.randn(BATCH, ROWS, KEY_HEADS, DEPTH, device="cuda", generator=generator).bfloat16() for _ in range(2))
    for sequence, length in enumerate(LENGTHS):
        k[sequence, length:] = float("nan")
        v[sequence, length:] = float("nan")
    return q, k, v, torch.tensor(LENGTHS, dtype=torch.int32, device="cuda"), SCALE


def reference(q: Any, k: Any, v: Any, lengths: Any, scale: float) -> Any:
    import torch

    out = torch.zeros(q.shape, dtype=torch.float64, device=q.device)
    for sequence, length in enumerate(LENGTHS):
        for head in range(KEY_HEADS if length else 0):
            heads = slice(head * GROUP, (head + 1) * GROUP)
            scores = q[sequence, heads].double() @ k[sequence, :length, head].double().T * scale
            out[sequence, heads] = torch.softmax(scores, -1) @ v[sequence, :length, head].double()
    return out


def close(result: Any, expected: Any) -> bool:
    """Within bf16's rounding of weights and results."""
    return bool(((result.double() - expected).abs() <= expected.abs() * 2**-7 + 2e-3).all())


def test_the_result_is_right(operator: Any) -> None:
    import torch

    arguments = inputs()
    assert close(torch.ops.fa4dsl.splitk_decode(*arguments), reference(*arguments))


def test_a_cache_of_other_strides(operator: Any) -> None:
    """Heads before rows in memory, in a wider array."""
    import torch

    q, k, v, lengths, scale = inputs()
    moved = []
    for cache in (k, v):
        wide = torch.full((BATCH, KEY_HEADS, ROWS, 2 * DEPTH), float("nan"), dtype=torch.bfloat16, device="cuda")
        wide[..., :DEPTH] = cache.transpose(1, 2)
        moved.append(wide[..., :DEPTH].transpose(1, 2))
    assert close(torch.ops.fa4dsl.splitk_decode(q, *moved, lengths, scale), reference(q, k, v, lengths, scale))


def test_pages(operator: Any) -> None:
    import torch

    q, k, v, lengths, scale = inputs()
    each = ROWS // PAGE
    order = torch.randperm(2 * BATCH * each, device="cuda")[: BATCH * each].view(BATCH, each).int()
    paged = []
    for cache in (k, v):
        whole = torch.full((2 * BATCH * each, PAGE, KEY_HEADS, DEPTH), float("nan"), dtype=torch.bfloat16, device="cuda")
        whole[order.long().view(-1)] = cache.reshape(BATCH * each, PAGE, KEY_HEADS, DEPTH)
        paged.append(whole)
    assert close(torch.ops.fa4dsl.splitk_decode(q, *paged, lengths, scale, order), reference(q, k, v, lengths, scale))


def test_opcheck(operator: Any) -> None:
    import torch

    torch.library.opcheck(operator.decode, inputs())
    torch.library.opcheck(
        operator.decode_out, inputs(), {"out": torch.zeros(BATCH, KEY_HEADS * GROUP, DEPTH, dtype=torch.bfloat16, device="cuda")}
    )


# torch.compile uses torch.jit inside, which torch has deprecated.
@pytest.mark.filterwarnings("default::DeprecationWarning")
def test_compile_and_graph(operator: Any) -> None:
    import torch

    q, k, v, lengths, scale = inputs()
    expected = reference(q, k, v, lengths, scale)
    compiled = torch.compile(
        lambda q, k, v, lengths: torch.ops.fa4dsl.splitk_decode(q * 1.0, k, v, lengths, SCALE).float() * 2, fullgraph=True
    )
    assert close(compiled(q, k, v, lengths) / 2, expected)
    out = torch.zeros_like(q)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        torch.ops.fa4dsl.splitk_decode_out(q, k, v, lengths, scale, out)
    for _ in range(2):
        out.zero_()
        graph.replay()
    torch.cuda.synchronize()
    assert close(out, expected)
