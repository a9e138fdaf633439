"""What split-K decode attention is compiled for. One frozen record, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from fa4dsl.kernels.combine_config import SHARED_LIMIT, CombineConfig
from fa4dsl.runtime.diagnostics import fail

KEYS = 64
"""Keys of a tile: 16 for each of the four warps that multiply."""
MULTIPLIERS = 4
HEADS = 8
"""Rows of queries that one mma takes: its N."""
LARGEST_TILE = 4096
"""Elements of all rows of queries, rows rounded up to 8: a multiplying thread keeps a 32nd of the result in registers."""
HELD_TILE = 3072
"""Up to so many, it keeps a 64th of the queries in registers as well; more are read from shared memory for each tile of keys."""
PARTITIONS = (1, 2, 4, 8, 16)
DEPTHS = (64, 128, 256)


@dataclass(frozen=True)
class DecodeConfig:
    """One specialisation of `splitk_decode`."""

    partitions: int = 8
    """P: CTAs of a cluster, each of which attends to a part of the keys; 1 has no exchange."""
    group: int = 8
    """G: query heads that share a key head."""
    depth: int = 128
    """D: of queries, keys and values."""
    stages: int = 3
    """Tiles of keys, and as many of values, in shared memory at a time."""
    clusters: int = 1
    """Clusters that share a key head of a sequence; the last to arrive combines their results through L2. With P = 1, 1."""
    queries: int = 1
    """New tokens of a sequence, the last of its keys: each attends to the keys up to its own. Queries times G, rounded up to 8, times D is at most 4,096."""
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
        if self.group < 1 or self.queries < 1:
            fail("L212", problem=f"{self.queries} queries of {self.group} query heads for a key head; it has at least 1 of each")
        if self.blocks * HEADS * self.depth > LARGEST_TILE:
            rows, most = f"{self.queries} queries of {self.group} query heads for a key head", LARGEST_TILE // self.depth
            fail("L212", problem=f"{rows} are {self.rows} rows; at a depth of {self.depth} it has at most {most}")
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
    def rows(self) -> int:
        """Rows of queries that share their keys: query * G + head."""
        return self.queries * self.group

    @property
    def blocks(self) -> int:
        """Blocks of 8 rows."""
        return -(-self.rows // HEADS)

    @property
    def queries_in_shared(self) -> bool:
        return self.blocks * HEADS * self.depth > HELD_TILE

    @property
    def queries_shape(self) -> tuple[int, int]:
        """Rows and columns of the queries in shared memory: 8 columns more than there are, so that eight rows' pieces of 16 bytes meet no bank twice."""
        return self.blocks * HEADS, self.depth + 8

    @property
    def panels(self) -> int:
        """Pieces of 64 columns, a swizzled line of 128 bytes each, of a row."""
        return self.depth // 64

    @property
    def most_stages(self) -> int:
        """Stages for which there is room."""
        return self.stages + (SHARED_LIMIT - self.shared_bytes) // self.stage_bytes

    @property
    def stage_bytes(self) -> int:
        """A tile of keys and one of values."""
        return 2 * KEYS * self.depth * 2

    @property
    def shared_bytes(self) -> int:
        """Shared memory without barriers and padding."""
        ring = self.stages * self.stage_bytes
        merged = MULTIPLIERS * self.rows * (4 * (self.depth + 4) + 8)
        queries = 2 * prod(self.queries_shape) if self.queries_in_shared else 0
        return ring + merged + queries + (self.combine.shared_bytes if self.partitions > 1 else 0) + 1024

    @property
    def combine(self) -> CombineConfig:
        """The exchange at the end: a tile of the rows of queries; maxima are in log2."""
        return CombineConfig(
            max(self.partitions, 2),
            self.depth,
            self.rows,
            "push",
            self.threads,
            use_fma=False,
            lse=self.lse,
            group=self.group,
            clusters=self.clusters,
        )
