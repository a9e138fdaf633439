"""What split-K decode attention is compiled for. One frozen record, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass

from fa4dsl.kernels.combine_config import SHARED_LIMIT, CombineConfig
from fa4dsl.runtime.diagnostics import fail

KEYS = 64
"""Keys of a tile: 16 for each of the four warps that multiply."""
MULTIPLIERS = 4
LARGEST_GROUP = 8
"""Query heads of a key head: the N of an mma."""
PARTITIONS = (1, 2, 4, 8, 16)
DEPTHS = (64, 128, 256)


@dataclass(frozen=True)
class DecodeConfig:
    """One specialisation of `splitk_decode`."""

    partitions: int = 8
    """P: CTAs of a cluster, each of which attends to a part of the keys; 1 has no exchange."""
    group: int = 8
    """G: query heads that share a key head, 1 to 8."""
    depth: int = 128
    """D: of queries, keys and values."""
    stages: int = 3
    """Tiles of keys, and as many of values, in shared memory at a time."""
    clusters: int = 1
    """Clusters that share a key head of a sequence; the last to arrive combines their results through L2. With P = 1, 1."""
    page: int = 0
    """Rows of a page of the KV cache, a multiple of 64; 0: each sequence's keys lie in one piece."""
    lse: bool = False
    """The log of the sum of exponentials (natural) is written too."""
    dependent: bool = False
    """The kernel may start before the one ahead of it has ended (programmatic dependent launch), and waits for it before its first load."""

    def __post_init__(self) -> None:
        if self.partitions not in PARTITIONS:
            fail("L212", problem=f"{self.partitions} partitions; it has {', '.join(map(str, PARTITIONS))}")
        if self.depth not in DEPTHS:
            fail("L212", problem=f"a depth of {self.depth}; it has {', '.join(map(str, DEPTHS))}")
        if not 1 <= self.group <= LARGEST_GROUP:
            fail("L212", problem=f"{self.group} query heads for a key head; it has 1 to {LARGEST_GROUP}")
        if self.page < 0 or self.page % KEYS:
            fail("L212", problem=f"pages of {self.page} rows; a page has a multiple of {KEYS}, or 0 for keys in one piece")
        if not 1 <= self.clusters <= (16 if self.partitions > 1 else 1):
            fail("L212", problem=f"{self.clusters} clusters of {self.partitions}; it has 1 to 16 clusters of at least 2 CTAs")
        if self.stages < 1 or self.shared_bytes > SHARED_LIMIT:
            fail("L212", problem=f"{self.stages} stages, {self.shared_bytes} bytes of shared memory; a CTA has {SHARED_LIMIT}")

    @property
    def threads(self) -> int:
        """Four warps that multiply, and one that loads."""
        return 32 * (MULTIPLIERS + 1)

    @property
    def panels(self) -> int:
        """Pieces of 64 columns, a swizzled line of 128 bytes each, of a row."""
        return self.depth // 64

    @property
    def shared_bytes(self) -> int:
        """Shared memory without barriers and padding."""
        ring = self.stages * 2 * KEYS * self.depth * 2
        merged = MULTIPLIERS * self.group * (4 * (self.depth + 4) + 8)
        return ring + merged + (self.combine.shared_bytes if self.partitions > 1 else 0) + 1024

    @property
    def combine(self) -> CombineConfig:
        """The exchange at the end: a tile of G rows; maxima are in log2."""
        return CombineConfig(
            max(self.partitions, 2),
            self.depth,
            self.group,
            "push",
            self.threads,
            use_fma=False,
            lse=self.lse,
            group=self.group,
            clusters=self.clusters,
        )
