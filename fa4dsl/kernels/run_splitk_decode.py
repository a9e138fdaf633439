"""Runs decode attention on random inputs and holds its result against the float64 reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fa4dsl.kernels.decode import DecodeChoice, choose_decode, clusters_for, decode_kernel, with_stages
from fa4dsl.kernels.decode_case import DecodeCase
from fa4dsl.kernels.decode_config import DecodeConfig
from fa4dsl.kernels.kernel_run import Device, KernelRun, run_case
from fa4dsl.runtime.diagnostics import fail

LONGEST = 2**31 - 1
"""Keys of a sequence: lengths are i32."""


@dataclass(frozen=True, kw_only=True)
class DecodeRun(KernelRun):
    """What a run of decode attention showed."""

    config: DecodeConfig
    choice: DecodeChoice
    """P, clusters and stages, and the reason for them."""
    lengths: tuple[int, ...]
    key_heads: int

    def as_dict(self) -> dict[str, Any]:
        """The fields that ``fa4dsl run --json`` prints."""
        own = {"kernel": self.kernel, "device": self.device, "lengths": list(self.lengths), "key_heads": self.key_heads}
        compiled = {
            name: getattr(self.config, name)
            for name in ("group", "queries", "depth", "partitions", "clusters", "stages", "page", "cache", "lse")
        }
        shown = ("seed", "max_abs_error", "tolerance", "ok", "verdict", "seconds")
        return {
            **own,
            **compiled,
            "reason": self.choice.reason,
            "grid": list(self.grid),
            **{name: getattr(self, name) for name in shown},
        }


def run_splitk_decode(
    lengths: Sequence[int] = (1000, 77),
    key_heads: int = 1,
    group: int = 8,
    depth: int = 128,
    partitions: int = 0,
    clusters: int = 0,
    stages: int = 0,
    seed: int = 0,
    device: Device = "auto",
    progress: Callable[..., Any] | None = None,
    schedule: str = "eager",
    page: int = 0,
    queries: int = 1,
    cache: str = "bf16",
    lse: bool = False,
    dependent: bool = False,
) -> DecodeRun:
    """Compiles decode attention, runs it on random queries, keys and values and compares with float64.

    `lengths` keys in each sequence, of which `queries` new, `key_heads` heads of keys with `group` query heads each; the `cache` of bf16 or e4m3. Where `partitions`, `clusters` or `stages` is 0,
    `variant` chooses it. "auto" takes a Hopper GPU if there is one, else the simulator; `progress` and `schedule` are for the simulator.
    Raises L212 for what the kernel does not support.
    """
    lengths = tuple(lengths)
    if not lengths:
        fail("L212", problem="no sequence; a launch has at least 1")
    for length in lengths:
        if not 0 <= length <= LONGEST:
            fail("L212", problem=f"a sequence of {length} keys; it has 0 to {LONGEST}")
    if key_heads < 1:
        fail("L212", problem=f"{key_heads} key heads; a launch has at least 1")
    chosen = variant(group * queries, len(lengths) * key_heads, max(lengths), partitions, clusters, stages)
    config = DecodeConfig(chosen.partitions, group, depth, stages or 1, chosen.clusters, queries, page, cache, lse, dependent)
    if not stages:
        config = with_stages(config, chosen.stages)
    outcome = run_case(
        decode_kernel(config),
        lambda: DecodeCase(config, lengths, key_heads, seed),
        device=device,
        schedule=schedule,
        seed=seed,
        progress=progress,
    )
    return DecodeRun(kernel="splitk-decode", config=config, choice=chosen, lengths=lengths, key_heads=key_heads, **outcome)


def variant(rows: int, units: int, keys: int, partitions: int = 0, clusters: int = 0, stages: int = 0) -> DecodeChoice:
    """P, clusters and stages for a shape: what was asked for, and in place of each 0 what `choose_decode` has, as far as it goes with the rest.

    `rows`: new tokens times query heads of a key head. `units`: sequences x key heads. `keys`: of the longest sequence. Clusters of fewer or more CTAs than the measured ones get a tile of keys at
    least for each CTA, and several clusters have at least 2 CTAs. Stages are those of a depth of 128 (`with_stages`).
    """
    found = choose_decode(rows, units, keys)
    given = {"partitions": partitions, "clusters": clusters, "stages": stages}
    asked = [name for name, value in given.items() if value]
    if len(asked) == len(given):
        return DecodeChoice(partitions, clusters, stages, "asked for")
    if not partitions:
        partitions = max(found.partitions, 2) if clusters > 1 else found.partitions
    clusters = clusters or clusters_for(found.clusters, partitions, keys)
    stages = stages or found.stages
    reason = f"{' and '.join(asked)} asked for, the rest {found.reason}" if asked else found.reason
    return DecodeChoice(partitions, clusters, stages, reason)
