"""One decode attention on random inputs: its arrays, and the verdict on what came out. Needs neither MLIR nor a GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np

from fa4dsl.kernels.combine_case import Judgement, compare
from fa4dsl.kernels.decode import DecodeArrays, counter_elements, decode_arguments, decode_grid, workspace_elements
from fa4dsl.kernels.decode_config import DecodeConfig
from fa4dsl.kernels.reference import is_untouched
from fa4dsl.runtime.dtypes import DTYPES

BF16 = ml_dtypes.bfloat16


@dataclass
class DecodeCase:
    """A configuration over sequences of `lengths` keys, with `key_heads` heads each. What lies behind the keys is NaN."""

    config: DecodeConfig
    lengths: tuple[int, ...]
    key_heads: int = 1
    seed: int = 0
    scale: float | None = None
    spread: float = 1.0
    """Standard deviation of the queries: the scores' too."""
    arrays: DecodeArrays = field(init=False, repr=False)

    def __post_init__(self) -> None:
        config, random = self.config, np.random.default_rng(self.seed)
        batch, heads, depth = len(self.lengths), self.key_heads, config.depth
        self.rows = max(max(self.lengths), 1)
        q = (self.spread * random.standard_normal((batch, config.queries, heads, config.group, depth))).astype(BF16)
        # One sequence behind the other, each `rows` long; NaN where there are no keys.
        self.k, self.v = (random.standard_normal((batch, self.rows, heads, depth)).astype(DTYPES[config.cache].numpy) for _ in range(2))
        # Scales that are no powers of two, so that a forgotten one shows.
        scales = {} if config.cache == "bf16" else {"key_scale": 0.875, "value_scale": 1.25}
        for sequence, length in enumerate(self.lengths):
            self.k[sequence, length:] = np.nan
            self.v[sequence, length:] = np.nan
        k, v, pages = (self.k, self.v, None) if config.page == 0 else self._paged(random)
        guarded = np.full((batch + 2, *q.shape[1:]), np.nan, BF16)
        guarded.view(np.uint8)[:] = 0xFF
        self.whole = guarded
        self.arrays = DecodeArrays(
            q,
            k,
            v,
            np.array(self.lengths, np.int32),
            guarded[1:-1],
            depth**-0.5 if self.scale is None else self.scale,
            pages,
            np.full(q.shape[:-1], np.nan, np.float32) if config.lse else None,
            np.full(max(workspace_elements(config, heads, batch), 1), np.nan, np.float32),
            np.zeros(max(counter_elements(config, heads, batch), 1), np.int32),
            **scales,
        )

    def _paged(self, random: Any) -> tuple[Any, Any, Any]:
        """The same keys in pages, in any order, between pages of NaN."""
        page, batch = self.config.page, len(self.lengths)
        each = -(-self.rows // page)
        order = random.permutation(2 * batch * each)[: batch * each].reshape(batch, each).astype(np.int32)
        made = []
        for cache in (self.k, self.v):
            paged = np.full((2 * batch * each, page, *cache.shape[2:]), np.nan, cache.dtype)
            for sequence in range(batch):
                for number in range(each):
                    rows = cache[sequence, number * page : (number + 1) * page]
                    paged[order[sequence, number], : len(rows)] = rows
            made.append(paged)
        return made[0], made[1], order

    @property
    def grid(self) -> tuple[int, int, int]:
        return decode_grid(self.config, self.key_heads, len(self.lengths))

    @cached_property
    def arguments(self) -> tuple[Any, ...]:
        return decode_arguments(self.config, self.arrays)

    @cached_property
    def exact(self) -> tuple[Any, Any, Any]:
        """float64: the result, its LSE, and how far a right result may be off (`decode_bound`)."""
        q = self.arrays.q.astype(np.float64)
        result, lse = np.zeros(q.shape), np.full(q.shape[:-1], -np.inf)
        bound = np.zeros(q.shape)
        for sequence, length in enumerate(self.lengths):
            for query in range(self.config.queries):
                seen = length - (self.config.queries - 1 - query)
                if seen > 0:
                    place = sequence, query
                    k, v = (cache[sequence, :seen].astype(np.float64) for cache in (self.k, self.v))
                    v *= self.arrays.value_scale
                    scores = np.einsum("hgd,jhd->hgj", q[place], k) * (self.arrays.scale * self.arrays.key_scale)
                    largest = scores.max(axis=-1, keepdims=True)
                    weights = np.exp(scores - largest)
                    total = weights.sum(axis=-1, keepdims=True)
                    result[place] = np.einsum("hgj,jhd->hgd", weights / total, v)
                    lse[place] = (largest + np.log(total))[..., 0]
                    bound[place] = decode_bound(weights / total, v, result[place])
        return result, lse, bound

    def judge(self) -> Judgement:
        """The result in the arrays against the float64 reference."""
        exact, lse, bound = self.exact
        result = self.arrays.output.astype(np.float64)
        error, bound_at, share, l2 = compare(result, exact, bound)
        if self.config.lse:
            given = self.arrays.lse
            infinite = np.isneginf(lse)
            if np.isnan(given).any() or not (np.isneginf(given) == infinite).all():
                share = float("inf")
            elif not infinite.all():
                share = max(share, float(np.abs(given[~infinite] - lse[~infinite]).max()) / 1e-4)
        untouched = is_untouched(self.whole[:1]) and is_untouched(self.whole[-1:]) and not self.arrays.counters.any()
        return Judgement(error, bound_at, share, l2, 1.0, untouched)


def decode_bound(weights: Any, v: Any, exact: Any) -> Any:
    """How far a right result may be from the exact one, element by element.

    Each weight is rounded to bf16 (2^-9 of itself, and its sum is taken before that), the output once more; scores are f32 sums of exact
    products, which moves a weight by about 2^-18 of itself at most for scores below 64. Roundings of the weights go either way: four standard
    deviations of their sum.
    """
    spread = np.sqrt(np.einsum("hgj,jhd->hgd", weights**2, v**2))
    drift = np.einsum("hgj,jhd->hgd", weights, np.abs(v))
    return 2.0**-8 * np.abs(exact) + 4.0 * 2.0**-9 * spread + 2.0**-15 * drift + 1e-7
