"""What split-K decode attention is compiled for. One frozen record, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from fa4dsl.kernels.combine_config import SHARED_LIMIT, CombineConfig
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.types import DType, Swizzle, bf16, e4m3, f16, swizzle64, swizzle128

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
CACHES = {"bf16": bf16, "e4m3": e4m3}


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
    cache: str = "bf16"
    """Element type of keys and values: bf16, or e4m3, which becomes f16 in registers; its scales are arguments of a launch."""
    lse: bool = False
    """The log of the sum of exponentials (natural) is written too."""
    dependent: bool = False
    """The kernel may start before the one ahead of it has ended (programmatic dependent launch), and waits for it before its first load."""

    def __post_init__(self) -> None:
        if self.partitions not in PARTITIONS:
            fail("L212", problem=f"{self.partitions} partitions; it has {', '.join(map(str, PARTITIONS))}")
        if self.depth not in DEPTHS:
            fail("L212", problem=f"a depth of {self.depth}; it has {', '.join(map(str, DEPTHS))}")
        if self.cache not in CACHES:
            fail("L212", problem=f"keys and values of {self.cache!r}; it has {' and '.join(CACHES)}")
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
    def element(self) -> DType:
        """Of keys and values in memory."""
        return CACHES[self.cache]

    @property
    def multiplied(self) -> DType:
        """What the mma's take: keys, queries, values and weights in registers."""
        return bf16 if self.element == bf16 else f16

    @property
    def panel(self) -> int:
        """Columns of a swizzled line: 128 bytes, or a whole row where it is shorter."""
        return min(128 // self.element.bytes, self.depth)

    @property
    def panels(self) -> int:
        """Lines of a row."""
        return self.depth // self.panel

    @property
    def swizzle(self) -> Swizzle:
        return swizzle128 if self.panel * self.element.bytes == 128 else swizzle64

    @property
    def spread_bit(self) -> int:
        """The bit of a key by which two keys' lines lie half a swizzle's span apart: two lines of 64 bytes do anyway."""
        return 0 if self.swizzle == swizzle64 else 2 - (self.panels.bit_length() - 1)

    @property
    def piece(self) -> int:
        """Columns of a lane's 16 bytes."""
        return 16 // self.element.bytes

    @property
    def most_stages(self) -> int:
        """Stages for which there is room."""
        return self.stages + (SHARED_LIMIT - self.shared_bytes) // self.stage_bytes

    @property
    def stage_bytes(self) -> int:
        """A tile of keys and one of values."""
        return 2 * KEYS * self.depth * self.element.bytes

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
