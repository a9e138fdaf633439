"""Split-K decode attention as a torch operator, `torch.ops.fa4dsl.splitk_decode`, and its `out` form. Registered by `import fa4dsl.torch`."""

from __future__ import annotations

from typing import Any

import torch

from fa4dsl.kernels.decode import DecodeArrays, counter_elements, decode_arguments, decode_config, decode_grid, workspace_elements
from fa4dsl.kernels.decode_config import DecodeConfig
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.torch_artifacts import artifact_of
from fa4dsl.torch_tensors import misfit

NAME = "fa4dsl::splitk_decode"
ARGUMENTS = "Tensor q, Tensor k, Tensor v, Tensor lengths, float scale"
OPTIONS = "Tensor? pages=None, int keys=0, float key_scale=1.0, float value_scale=1.0"
CACHES = {torch.bfloat16: "bf16", getattr(torch, "float8_e4m3fn", None): "e4m3"}


def _shape(q: Any, k: Any, v: Any, lengths: Any, pages: Any) -> tuple[int, int, int, int, int]:
    """(batch, queries, key heads, group, depth). Raises R096."""
    problem = ""
    if q.dim() not in (3, 4):
        problem = f"q has {q.dim()} dimensions, expected [batch, query heads, depth] or [batch, queries, query heads, depth]"
    elif k.dim() != 4 or tuple(v.shape) != tuple(k.shape) or k.shape[3] != q.shape[-1]:
        problem = f"k and v have shapes {list(k.shape)} and {list(v.shape)}, expected both [batch or pages, rows, key heads, {q.shape[-1]}]"
    elif pages is None and k.shape[0] != q.shape[0]:
        problem = f"k has {k.shape[0]} sequences, q has {q.shape[0]}"
    elif q.shape[-2] % k.shape[2]:
        problem = f"{q.shape[-2]} query heads are no multiple of {k.shape[2]} key heads"
    elif tuple(lengths.shape) != (q.shape[0],) or (pages is not None and (pages.dim() != 2 or pages.shape[0] != q.shape[0])):
        problem = f"lengths has shape {list(lengths.shape)}, expected [{q.shape[0]}], and pages [{q.shape[0]}, pages of a sequence]"
    else:
        problem = misfit(
            ("q", q, torch.bfloat16),
            ("k", k, k.dtype if k.dtype in CACHES else torch.bfloat16),
            ("v", v, k.dtype),
            ("lengths", lengths, torch.int32),
            ("pages", lengths if pages is None else pages, torch.int32),
        )
    if problem:
        fail("R096", operator=NAME, problem=problem)
    return q.shape[0], 1 if q.dim() == 3 else q.shape[1], k.shape[2], q.shape[-2] // k.shape[2], q.shape[-1]


def operator_config(
    batch: int, key_heads: int, group: int, depth: int, rows: int, page: int = 0, queries: int = 1, cache: str = "bf16"
) -> DecodeConfig:
    """The configuration that the operator runs for sequences of at most `rows` keys of type `cache`, `queries` of them new. Raises L212."""
    return decode_config(group, batch * key_heads, rows, depth, page=page, queries=queries, cache=cache)


def _launch(
    q: Any, k: Any, v: Any, lengths: Any, scale: float, out: Any, pages: Any, keys: int, key_scale: float, value_scale: float
) -> None:
    batch, queries, key_heads, group, depth = _shape(q, k, v, lengths, pages)
    if tuple(out.shape) != tuple(q.shape) or out.dtype != torch.bfloat16 or out.device != q.device:
        fail("R096", operator=NAME, problem=f"out is {out.dtype} {list(out.shape)} on {out.device}, expected bfloat16 {list(q.shape)}")
    page = 0 if pages is None else k.shape[1]
    rows = keys or (k.shape[1] if pages is None else page * pages.shape[1])
    config = operator_config(batch, key_heads, group, depth, rows, page, queries, CACHES[k.dtype])
    parted = (batch, queries, key_heads, group, depth)
    workspace = counters = None
    if config.clusters > 1:
        workspace = q.new_empty(workspace_elements(config, key_heads, batch), dtype=torch.float32)
        counters = lengths.new_zeros(counter_elements(config, key_heads, batch))
    arrays = DecodeArrays(
        q.contiguous().view(parted),
        k,
        v,
        lengths.contiguous(),
        out.view(parted),
        scale,
        None if pages is None else pages.contiguous(),
        None,
        workspace,
        counters,
        key_scale,
        value_scale,
    )
    artifact_of(config)[decode_grid(config, key_heads, batch)](*decode_arguments(config, arrays))


def _decode(
    q: Any, k: Any, v: Any, lengths: Any, scale: float, pages: Any = None, keys: int = 0, key_scale: float = 1.0, value_scale: float = 1.0
) -> Any:
    out = q.new_empty(tuple(q.shape))
    _launch(q, k, v, lengths, scale, out, pages, keys, key_scale, value_scale)
    return out


def _decode_out(
    q: Any,
    k: Any,
    v: Any,
    lengths: Any,
    scale: float,
    out: Any,
    pages: Any = None,
    keys: int = 0,
    key_scale: float = 1.0,
    value_scale: float = 1.0,
) -> None:
    _launch(q, k, v, lengths, scale, out, pages, keys, key_scale, value_scale)


def _fake_decode(
    q: Any, k: Any, v: Any, lengths: Any, scale: float, pages: Any = None, keys: int = 0, key_scale: float = 1.0, value_scale: float = 1.0
) -> Any:
    _shape(q, k, v, lengths, pages)
    return q.new_empty(tuple(q.shape))


def _fake_decode_out(
    q: Any,
    k: Any,
    v: Any,
    lengths: Any,
    scale: float,
    out: Any,
    pages: Any = None,
    keys: int = 0,
    key_scale: float = 1.0,
    value_scale: float = 1.0,
) -> None:
    _shape(q, k, v, lengths, pages)


decode = torch.library.custom_op(NAME, _decode, mutates_args=(), schema=f"({ARGUMENTS}, {OPTIONS}) -> Tensor")
"""Attention of the last token of each sequence, or of its last few: see `fa4dsl.kernels.splitk_decode`.

q: bf16 ``[batch, query heads, D]``, or ``[batch, queries, query heads, D]``, where each query sees the keys up to its own. k, v: bf16 or e4m3
``[batch, rows, key heads, D]``, or with `pages` ``[pages, page, key heads, D]``, where a page has a multiple of
64 rows; a head's row dense, other strides multiples of 16 bytes. lengths: i32 ``[batch]``, keys of each sequence, the new ones' included, which is not checked, for that would wait for the
GPU. scale: of the softmax. pages: i32 ``[batch, pages of a sequence]``. keys: of the longest sequence, where the host knows it: the variant is chosen for it; by
default as many as there is room for. `key_scale` and `value_scale` multiply the elements of e4m3 caches. Returns bf16 of q's shape.

Raises R096 for tensors that do not fit, L212 for a configuration the kernel does not have, and what a launch raises.
"""
decode.register_fake(_fake_decode)

decode_out = torch.library.custom_op(
    f"{NAME}_out", _decode_out, mutates_args=("out",), schema=f"({ARGUMENTS}, Tensor(a!) out, {OPTIONS}) -> ()"
)
"""The same into `out`, bf16 of q's shape, dense."""
decode_out.register_fake(_fake_decode_out)
