"""The split-K combine as a kernel of its own: f32 partial results in global memory, any number of them up to 64, any number of rows, no cluster.

Bound by memory, or by latency where rows are few. A row is read by `lanes` threads, each `vectors` 16-byte pieces of every partial result, with all
loads of a group of partial results in flight at once. Where rows are too few to fill the GPU, several groups of threads share a row's partial
results; each combines its own, and they meet in shared memory.
"""

# Device functions take whatever types they are called with, like templates; the bodies are checked.
# mypy: allow-untyped-defs
# Annotations are evaluated as written (no `from __future__ import annotations`): the kernel's output type is the factory's argument.

import functools
from dataclasses import dataclass
from typing import Any

from fa4dsl import (
    Pointer,
    block,
    device_function,
    exp2,
    f32,
    i32,
    i64,
    kernel,
    launch_dependents,
    log2,
    maximum,
    rcp,
    registers,
    shared,
    static_range,
    thread,
    wait_dependencies,
    where,
)
from fa4dsl.kernels.softmax_weights import EMPTY, LN_2, LOG2_E
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.types import SCALARS, DType

QUAD = 4
LARGEST = 64


@dataclass(frozen=True)
class PartialsConfig:
    """One specialisation of the stand-alone combine."""

    partitions: int = 8
    depth: int = 128
    output: str = "bf16"
    rows_per_block: int = 4
    """Rows of a CTA."""
    groups: int = 1
    """Groups of threads that share a row's partial results; a power of two."""
    vectors: int = 1
    """16-byte pieces that a thread has of each partial result."""
    lse: bool = False
    """The combined log of the sum of exponentials is written too."""
    finite: bool = False
    """Empty partial results hold finite numbers, so that they may be multiplied by their weight, 0, instead of being left out."""
    streaming: bool = False
    """Partial results are read, and the output written, as what is used once (`ld.global.cs`, `st.global.cs`): L2 gives these lines up first. It pays
    where the partial results do not fit there."""
    dependent: bool = False
    """The kernel may start before the one ahead of it has ended (programmatic dependent launch), and waits for it."""

    def __post_init__(self) -> None:
        if not 1 <= self.partitions <= LARGEST:
            fail("L211", problem=f"{self.partitions} partial results; 1 to {LARGEST} can be combined")
        if self.depth < 4 or self.depth % 4 or self.depth > 512:
            fail("L211", problem=f"a depth of {self.depth}; it is a multiple of 4 up to 512")
        if self.output not in ("bf16", "f16", "f32", "e4m3", "e5m2"):
            fail("L200", name="output", value=repr(self.output), words="bf16, f16, f32, e4m3, e5m2")
        if self.vectors < 1 or self.depth % (4 * self.vectors):
            fail("L211", problem=f"{self.vectors} pieces of 16 bytes for a thread do not divide a row of {self.depth}")
        if self.groups not in (1, 2, 4, 8, 16) or self.groups > self.partitions:
            fail("L211", problem=f"{self.groups} groups; 1, 2, 4, 8 or 16 can share {self.partitions} partial results")
        if self.rows_per_block < 1 or self.threads > 1024:
            fail("L211", problem=f"{self.rows_per_block} rows of {self.lanes} x {self.groups} threads are no CTA of at most 1024")

    @property
    def output_type(self) -> DType:
        return SCALARS[self.output]

    @property
    def lanes(self) -> int:
        """Threads of a group that share a row's columns."""
        return self.depth // (QUAD * self.vectors)

    @property
    def threads(self) -> int:
        return self.lanes * self.groups * self.rows_per_block

    @property
    def each(self) -> int:
        """Partial results of a group, at most."""
        return -(-self.partitions // self.groups)

    def grid(self, rows: int) -> int:
        """CTAs for so many rows."""
        return -(-rows // self.rows_per_block)


def partials_config(partitions: int, rows: int, depth: int = 128, **options: Any) -> PartialsConfig:
    """The variant for a shape, from the nearest one that was measured (`partials_measured`): the next P that is as large, and the next number of rows.

    `options` are other fields of `PartialsConfig`. Raises L211 for what cannot be combined.
    """
    from fa4dsl.kernels.partials_measured import MEASURED

    many = min((p for p, _ in MEASURED if p >= partitions), default=max(p for p, _ in MEASURED))
    there = sorted(r for p, r in MEASURED if p == many)
    nearest = next((r for r in there if r >= rows), there[-1])
    rows_per_block, groups, vectors, streaming, _ = MEASURED[many, nearest]
    while groups > partitions or (groups > 1 and -(-partitions // groups) < 2):
        groups //= 2
    while depth % (QUAD * vectors):
        vectors -= 1
    each = max(depth // (QUAD * vectors) * groups, 1)
    rows_per_block = max(min(rows_per_block, 1024 // each), 1)
    return PartialsConfig(
        partitions, depth, rows_per_block=rows_per_block, groups=groups, vectors=vectors, **{"streaming": bool(streaming), **options}
    )


@device_function
def combine_some(partial, scores, row, rows, column, group, *, c):
    """Combines every `c.groups`-th partial result of a row from number `group` on: (values not yet divided, maximum, sum)."""
    logs = registers(f32, c.each, fill=float("-inf"))
    values = registers(f32, (c.each, c.vectors, QUAD))
    for i in static_range(c.each):
        p = group + i * c.groups
        if (i + 1) * c.groups <= c.partitions or p < c.partitions:
            record = p * rows + row
            logs[i] = scores.load(record, cache="nc")
            for v in static_range(c.vectors):  # a warp's threads read neighbouring pieces
                piece = record.to(i64) * c.depth + column + v * QUAD * c.lanes
                values[i, v] = partial.load(piece, width=QUAD, cache="cs" if c.streaming else "nc")
    largest = maximum(max(*logs) if c.each > 1 else logs[0], EMPTY)
    total = f32(0.0)
    result = registers(f32, (c.vectors, QUAD))
    for i in static_range(c.each):
        weight = exp2((logs[i] - largest) * LOG2_E, ftz=True)
        total += weight
        for v in static_range(c.vectors):
            piece = values[i, v] if c.finite else where(weight > 0.0, values[i, v], 0.0)
            result[v] = result[v] + piece * weight
    return result, largest, total


@functools.cache
def combine_partials(output_type: str) -> Any:
    """The kernel for an output type; ``combine_partials("bf16").bind(c=config)``, launched over ``config.grid(rows)`` CTAs."""
    element = SCALARS[output_type]

    @kernel(threads=lambda c: c.threads)
    def combine_partials(
        partial: Pointer[f32],
        scores: Pointer[f32],
        output: Pointer[element],  # type: ignore[valid-type]
        lse: Pointer[f32],
        rows: i32,
        *,
        c: PartialsConfig,
    ) -> None:
        """partial: f32 ``[P, rows, D]``, normalised. scores: f32 ``[P, rows]``, natural log of each one's sum of exponentials, -inf where it is
        empty; the partial result is not used there. output: ``[rows, D]``, 0 where a row is empty everywhere. lse: f32 ``[rows]``, with `c.lse`."""
        lane = thread.index() % c.lanes
        group = thread.index() // c.lanes % c.groups
        local_row = thread.index() // (c.lanes * c.groups)
        row = block.index() * c.rows_per_block + local_row
        column = QUAD * lane
        if c.dependent:
            wait_dependencies()
            launch_dependents()
        # Rows past the end repeat the last one and are not written: a branch here would delay the first loads.
        result, largest, total = combine_some(partial, scores, min(row, rows - 1), rows, column, group if c.groups > 1 else 0, c=c)
        if c.groups > 1:
            met = shared(f32, (c.rows_per_block, c.groups, c.vectors, c.lanes, QUAD), name="met")
            sums = shared(f32, (c.rows_per_block, c.groups, 2), name="sums")
            for v in static_range(c.vectors):
                met[local_row, group, v, lane] = result[v]
            if lane == 0:
                sums[local_row, group] = largest, total
            block.sync()
            if group == 0 and row < rows:
                maxima, totals = registers(f32, c.groups), registers(f32, c.groups)
                for other in static_range(c.groups):
                    maxima[other], totals[other] = sums[local_row, other]
                most, whole = max(*maxima), f32(0.0)
                final = registers(f32, (c.vectors, QUAD))
                for other in static_range(c.groups):
                    weight = exp2((maxima[other] - most) * LOG2_E, ftz=True)
                    whole += weight * totals[other]
                    for v in static_range(c.vectors):
                        final[v] = final[v] + met[local_row, other, v, lane] * weight
                finish(output, lse, row, column, final, most, whole, c=c)
        elif row < rows:
            finish(output, lse, row, column, result, largest, total, c=c)

    return combine_partials


@device_function
def finish(output, lse, row, column, result, largest, total, *, c):
    """Divides, rounds and writes a thread's pieces of a row."""
    inverse = where(total > 0.0, rcp(total, ftz=True), 0.0)
    for v in static_range(c.vectors):
        piece = row.to(i64) * c.depth + column + v * QUAD * c.lanes
        output.store(piece, (result[v] * inverse).to(c.output_type), cache="cs" if c.streaming else None)
    if c.lse and column == 0:
        lse[row] = where(total > 0.0, largest + log2(total) * LN_2, float("-inf"))
