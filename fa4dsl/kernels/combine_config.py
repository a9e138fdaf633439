"""What a split-K combine is compiled for: sizes, design of the exchange, output. One frozen record, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from fa4dsl.runtime.diagnostics import fail
from fa4dsl.types import SCALARS, SWIZZLE_BYTES, DType, Swizzle

Design = Literal["pull", "pull_wide", "push", "push_bulk"]

QUAD = 4
"""f32 of a 16-byte access, F in the seed."""
PARTITIONS = (2, 4, 6, 8, 10, 12, 14, 16)
DEPTHS = (64, 72, 80, 96, 128, 192, 256)
OUTPUTS = ("bf16", "f16", "f32", "e4m3", "e5m2")
DESIGNS: tuple[Design, ...] = ("pull", "pull_wide", "push", "push_bulk")
LARGEST_TILE = 128
SHARED_LIMIT = 232448
"""Bytes of shared memory that a CTA on Hopper may have."""


@dataclass(frozen=True)
class CombineConfig:
    """One specialisation of the combine."""

    partitions: int = 8
    """P: partial results that one cluster combines, one in each of its CTAs."""
    depth: int = 128
    """D: columns of the output."""
    rows: int = 128
    """BM: rows of a tile; a tile may have fewer valid rows."""
    design: Design = "pull"
    """How the CTAs exchange; see `combine_design`."""
    threads: int = 0
    """Threads of a CTA; 0 takes the design's own number. `pull` has one thread for each row."""
    output: str = "bf16"
    """Element type of the output: bf16, f16, f32, e4m3 or e5m2."""
    use_fma: bool = True
    """Maxima are raw scores, so that their differences are multiplied by scale_log2e; else they are in log2 already."""
    sink: bool = False
    """An attention sink is folded in, once, by rank 0. Needs ``use_fma=False``, as scores with a sink are kept in log2."""
    lse: bool = False
    """The log of the sum of exponentials (natural) is written too."""
    group: int = 1
    """Query heads that share a key head and are fused into the tile: tile row = position * group + head of the group."""
    swizzle: Swizzle = "none"
    """How the output's blocks lie in shared memory (`pull`): a block is 16, 32, 64 or 128 bytes wide."""
    blocks_per_store: int = 0
    """`pull`: blocks that one TMA operation stores; 0 is one block each, with a map that has no dimension of blocks."""
    clusters: int = 1
    """Clusters that share a tile: clusters * partitions partial results; the last cluster to arrive combines through L2."""
    pieces: int = 1
    """Pieces into which the rows of a tile are cut, each combined by a cluster of its own (not `pull`): more, smaller CTAs spread more evenly over the
    SMs, of which some fit no whole cluster."""

    def __post_init__(self) -> None:
        check(self)
        if not self.threads:
            object.__setattr__(self, "threads", default_threads(self))
        check_threads(self)

    # --- the output

    @property
    def output_type(self) -> DType:
        return SCALARS[self.output]

    @property
    def block(self) -> int:
        """Columns of an output block, `o_sw_K` in the seed: as many as the swizzle's span holds."""
        return SWIZZLE_BYTES[self.swizzle] // self.output_type.bytes

    @property
    def blocks(self) -> int:
        """Output blocks of the depth; the last one may be cut short by the array's edge."""
        return -(-self.depth // self.block)

    @property
    def sub_blocks(self) -> int:
        """16-byte f32 quads of a block's row."""
        return self.block // QUAD

    @property
    def chunks(self) -> int:
        """16-byte chunks of a packed block's row."""
        return SWIZZLE_BYTES[self.swizzle] // 16

    @property
    def chunk(self) -> int:
        """Columns of a chunk."""
        return 16 // self.output_type.bytes

    @property
    def packed_slots(self) -> int:
        """Packed blocks that fit where one staged block (f32) lies."""
        return 4 // self.output_type.bytes

    # --- column bands (`pull`)

    @property
    def band(self) -> int:
        """Output blocks of a full band."""
        return -(-self.blocks // self.partitions)

    @property
    def bands(self) -> int:
        """Ranks that own a band, the last of which may be short; the others only stage."""
        return -(-self.blocks // self.band)

    @property
    def even_bands(self) -> bool:
        """Whether every band is full."""
        return self.blocks % self.band == 0

    # --- shares (`pull_wide`, `push`, `push_bulk`): equal runs of quads of the tile in row-major order

    @property
    def cluster_rows(self) -> int:
        """Rows that one cluster combines, of whole positions: the tile's, or a piece's."""
        return -(-self.positions // self.pieces) * self.group

    @property
    def row_quads(self) -> int:
        """Quads of a row."""
        return self.depth // QUAD

    @property
    def quads(self) -> int:
        """Quads of a tile, or of the piece of it that a cluster combines."""
        return self.cluster_rows * self.row_quads

    @property
    def share(self) -> int:
        """Quads that a rank owns."""
        return -(-self.quads // self.partitions)

    @property
    def share_rows(self) -> int:
        """Most rows that a share touches."""
        if self.share % self.row_quads == 0:
            return self.share // self.row_quads
        if self.row_quads % self.share == 0:
            return 1
        return min((self.share - 1) // self.row_quads + 2, self.cluster_rows)

    @property
    def quads_per_thread(self) -> int:
        """Quads of the tile that a thread has in registers; shares are padded to one size."""
        return -(-self.partitions * self.share // self.threads)

    @property
    def share_per_thread(self) -> int:
        """Quads of its CTA's share that a thread combines."""
        return -(-self.share // self.threads)

    @property
    def statistics_per_thread(self) -> int:
        """(maximum, sum) pairs of the exchange that a thread sends, at most; also weights that it computes."""
        return -(-self.partitions * self.share_rows // self.threads)

    @property
    def weigh_once(self) -> bool:
        """Whether each weight is computed by one thread and shared: where many quads of a row would compute the same."""
        return self.design == "push" and self.share >= 256 and self.share >= 8 * self.share_rows

    @property
    def sums_rows(self) -> int:
        """Rows for which a rank's (maximum, sum) pairs have room: padded so that the threads that weigh, P of them a row, meet no bank twice."""
        wanted = 32 // self.partitions if self.weigh_once and 32 % self.partitions == 0 else 0
        return next((n for n in range(self.share_rows, self.share_rows + 16) if wanted and 2 * n % 32 == wanted), self.share_rows)

    @property
    def positions(self) -> int:
        """Sequence positions of a tile."""
        return self.rows // self.group

    @property
    def shared_bytes(self) -> int:
        """Shared memory of the exchange, without barriers and padding."""
        if self.design == "pull":
            return self.rows * (self.blocks * self.sub_blocks * 16 + 8)
        tile, sums = self.quads * 16, self.partitions * self.sums_rows * 8
        weights = self.share_rows * (self.partitions + 1) * 4 if self.weigh_once else 0
        slots = self.partitions * self.share * 16
        return {"pull_wide": tile + self.cluster_rows * 8, "push": slots + sums + weights, "push_bulk": tile + slots + sums}[self.design]


def default_threads(config: CombineConfig) -> int:
    """`pull`: one thread for each row. Else enough that every thread holds a few quads, 128 to 512."""
    if config.design == "pull":
        return config.rows
    return min(max(128, config.quads // 4 // 32 * 32), 512)


def check(config: CombineConfig) -> None:
    """Raises L065 to L067 and L200 to L209 for what no kernel of the library supports."""
    if config.partitions not in PARTITIONS:
        fail("L065", partitions=config.partitions)
    if config.depth not in DEPTHS:
        fail("L066", depth=config.depth)
    for name, value, words in (
        ("design", config.design, DESIGNS),
        ("output", config.output, OUTPUTS),
        ("swizzle", config.swizzle, tuple(SWIZZLE_BYTES)),
    ):
        if value not in words:
            fail("L200", name=name, value=repr(value), words=", ".join(words))
    least = 32 if config.design == "pull" else 1
    if not least <= config.rows <= LARGEST_TILE or (config.design == "pull" and config.rows % 32):
        fail("L067", rows=config.rows, design=config.design)
    if config.group < 1 or config.rows % config.group:
        fail("L201", group=config.group, rows=config.rows)
    if config.sink and config.use_fma:
        fail("L202")
    if not 1 <= config.clusters <= (1 if config.design == "pull" else 16):
        fail("L203", clusters=config.clusters, design=config.design)
    if not 1 <= config.pieces <= (1 if config.design == "pull" else config.positions):
        fail("L208", pieces=config.pieces, design=config.design, positions=config.positions)
    _check_store(config)
    if config.shared_bytes + 256 > SHARED_LIMIT:
        fail("L204", needed=config.shared_bytes, limit=SHARED_LIMIT, design=config.design)


def _check_store(config: CombineConfig) -> None:
    """What the output's TMA store cannot do: L205 to L208."""
    size = SCALARS[config.output].bytes
    many = config.blocks_per_store
    if config.design != "pull":
        if config.swizzle != "none" or many:
            fail("L205", design=config.design, option="swizzle" if config.swizzle != "none" else "blocks_per_store")
        return
    if config.depth * size % 16:
        fail("L206", depth=config.depth, output=config.output, bytes=config.depth * size)
    if many < 0:
        fail("L207", blocks=many, problem="it is a number of blocks, or 0 for a store of its own for each block")
    if many == 0:
        return
    if config.group > 1:
        problem = (
            "with fused heads the map has five dimensions already (columns, group, positions, rows, wrap), and there is no sixth for blocks"
        )
        fail("L207", blocks=many, problem=problem)
    if config.depth % config.block:
        problem = f"{config.depth} columns are no whole number of blocks of {config.block}: the last one would reach into the next row"
        fail("L207", blocks=many, problem=problem)
    for what, blocks in (("a band", config.band), ("the last band", config.blocks - (config.bands - 1) * config.band)):
        if blocks % many:
            fail("L207", blocks=many, problem=f"{what} has {blocks} blocks, which {many} does not divide")


def check_threads(config: CombineConfig) -> None:
    """Raises L209 for a number of threads that the design cannot have."""
    if config.design == "pull":
        legal: Any = config.threads == config.rows
    else:
        legal = 32 <= config.threads <= 1024 and config.threads % 32 == 0 and config.threads >= config.partitions
    if not legal:
        fail("L209", threads=config.threads, design=config.design, rows=config.rows)
