"""Split-K decode attention from the host: which variant suits a shape, its grid and its arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import e, log2
from typing import TYPE_CHECKING, Any

from fa4dsl.kernels import combine
from fa4dsl.kernels.decode_config import KEYS, DecodeConfig

if TYPE_CHECKING:
    from fa4dsl.kernel_object import BoundKernel


@dataclass(frozen=True)
class DecodeChoice:
    """A variant for a shape, and why."""

    partitions: int
    clusters: int
    stages: int
    reason: str


def choose_decode(group: int, units: int, keys: int, *, two_levels: bool = True) -> DecodeChoice:
    """The variant that was measured (`decode_measured`) at the nearest shape: sequences times key heads count twice as much as keys, both by their logarithms.

    `group`: query heads of a key head, times the new tokens of a sequence. `units`: sequences x key heads. `keys`: of the longest sequence. Without `two_levels` one cluster has all of a
    head's keys, so that no workspace is needed. A CTA has at least one tile of keys: where the measured variant has more CTAs, it gets fewer.
    """
    from fa4dsl.kernels.decode_measured import GPU, MEASURED

    def distance(shape: tuple[int, int, int]) -> tuple[float, ...]:
        return (2.0 * abs(log2(shape[1] / max(units, 1))) + abs(log2(shape[2] / max(keys, 1))), abs(shape[0] - group))

    nearest = min(MEASURED, key=distance)
    partitions, clusters, stages, microseconds = MEASURED[nearest]
    while partitions > max(tiles_of(keys), 1):
        partitions //= 2
    clusters = clusters_for(clusters, partitions, keys) if two_levels else 1
    heads = "1 key head" if nearest[1] == 1 else f"{nearest[1]} key heads"
    reason = f"measured on {GPU} for {heads} of {nearest[0]} query heads and {nearest[2]} keys: {microseconds:.2f} us"
    return DecodeChoice(partitions, clusters, stages, reason)


def decode_config(
    group: int, units: int, keys: int, depth: int = 128, *, queries: int = 1, two_levels: bool = True, **options: Any
) -> DecodeConfig:
    """The configuration for a shape (`choose_decode`); `options` are other fields of `DecodeConfig`. Stages are as many as fit. Raises L212."""
    found = choose_decode(group * queries, units, keys, two_levels=two_levels)
    return with_stages(DecodeConfig(found.partitions, group, depth, 1, found.clusters, queries, **options), found.stages)


def tiles_of(keys: int) -> int:
    """Tiles of so many keys."""
    return -(-keys // KEYS)


def clusters_for(clusters: int, partitions: int, keys: int) -> int:
    """As many clusters of P CTAs, at most `clusters`, as have a tile of keys for each CTA; with P = 1, 1."""
    return min(clusters, max(tiles_of(keys) // partitions, 1)) if partitions > 1 else 1


def with_stages(config: DecodeConfig, stages: int) -> DecodeConfig:
    """The configuration with stages that take no more shared memory than so many of bf16 at a depth of 128, where they were measured, and for which there
    is room; at least 1, and no more of smaller rows."""
    measured = DecodeConfig(stages=1).stage_bytes
    return replace(config, stages=min(max(stages * measured // max(config.stage_bytes, measured), 1), config.most_stages))


def decode_kernel(config: DecodeConfig) -> BoundKernel:
    """The kernel of a configuration; compiles nothing yet."""
    from fa4dsl.kernels.splitk_decode import splitk_decode

    return splitk_decode.bind(c=config)


def decode_grid(config: DecodeConfig, key_heads: int, batch: int) -> tuple[int, int, int]:
    """CTAs: `clusters` clusters of P for each key head of each sequence."""
    return config.clusters * config.partitions, key_heads, batch


def workspace_elements(config: DecodeConfig, key_heads: int, batch: int) -> int:
    """f32 elements of the workspace of a launch; 0 with one cluster for a head."""
    return combine.workspace_elements(config.combine, batch, key_heads)


def counter_elements(config: DecodeConfig, key_heads: int, batch: int) -> int:
    """i32 counters of a launch, zero before the first; 0 with one cluster for a head."""
    return combine.counter_elements(config.combine, batch, key_heads)


def in_panels(cache: Any, columns: int) -> Any:
    """A cache of keys or values ``[batch or pages, rows, key heads, D]`` as the kernel's maps see it, in lines of so many columns (`DecodeConfig.panel`): a
    view ``[.., key heads, rows, D / columns, columns]``."""
    first, rows, heads, depth = cache.shape
    panels = cache.reshape(first, rows, heads, depth // columns, columns)
    return panels.permute(0, 2, 1, 3, 4) if hasattr(panels, "permute") else panels.transpose(0, 2, 1, 3, 4)


@dataclass(frozen=True)
class DecodeArrays:
    """What the kernel reads and writes; numpy, torch, cupy or any other arrays, bf16 where nothing else is said."""

    q: Any
    """``[batch, queries, key heads, G, D]``, dense."""
    k: Any
    """``[batch, rows, key heads, D]``, or with pages ``[pages, page, key heads, D]``, bf16 or e4m3; rows of a head dense, other strides any."""
    v: Any
    lengths: Any
    """i32 ``[batch]``: keys of each sequence, the new tokens' included."""
    output: Any
    """As `q`."""
    scale: float
    """Of the softmax; the kernel takes it times log2(e)."""
    pages: Any = None
    """i32 ``[batch, pages of a sequence]``."""
    lse: Any = None
    workspace: Any = None
    counters: Any = None
    key_scale: float = 1.0
    """What the elements of an e4m3 cache are multiplied by."""
    value_scale: float = 1.0


def decode_arguments(config: DecodeConfig, arrays: DecodeArrays) -> tuple[Any, ...]:
    """The kernel's arguments in order. What the configuration does not use is an empty place: an array that nothing touches."""
    words = arrays.lse if arrays.lse is not None else arrays.workspace
    if words is None:
        words = combine.spare(arrays.q, "float32")
    pages = arrays.lengths if arrays.pages is None else arrays.pages
    return (
        arrays.q,
        in_panels(arrays.k, config.panel),
        in_panels(arrays.v, config.panel),
        arrays.lengths,
        pages,
        arrays.output,
        0 if arrays.pages is None else arrays.pages.shape[1],
        arrays.scale * arrays.key_scale * log2(e),
        arrays.value_scale,
        words if arrays.lse is None else arrays.lse,
        words if arrays.workspace is None else arrays.workspace,
        arrays.lengths if arrays.counters is None else arrays.counters,
    )
