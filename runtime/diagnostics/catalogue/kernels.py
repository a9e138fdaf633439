"""Diagnostics of the kernel library: L200..L249."""

from fa4dsl.runtime.diagnostics.entry import Entry

_CONFIG = "from fa4dsl.kernels.combine_config import CombineConfig\n\nCombineConfig({})\n"
_FA4 = "from fa4dsl.kernels.fa4_config import FA4Config\n\nFA4Config({}).require()\n"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "L200",
        "A word that the combine does not know",
        "{name} is {value}; possible are {words}",
        "choose one of these",
        "The combine's design, output type and swizzle are given as words.",
        failing=_CONFIG.format('output="int8"'),
        fixed=_CONFIG.format('output="e4m3"'),
    ),
    Entry(
        "L201",
        "Fused heads that do not fill the tile",
        "a tile of {rows} rows cannot be divided into positions of {group} fused heads",
        "choose a group that divides the rows of the tile, or do not fuse (group=1)",
        "With fused heads a tile's row is position * group + head, so the tile holds a whole number of positions.",
        failing=_CONFIG.format("rows=128, group=3"),
        fixed=_CONFIG.format("rows=96, group=3"),
    ),
    Entry(
        "L202",
        "A sink with maxima in raw units",
        "an attention sink needs maxima in log2 units (use_fma=False)",
        "pass use_fma=False and maxima that have been multiplied by scale_log2e",
        "A sink is a logit beside the scaled scores. Where the maxima are raw scores, their unit depends on the scale, which may be zero; "
        "attention kernels with a sink therefore keep scores in log2.",
        failing=_CONFIG.format("sink=True"),
        fixed=_CONFIG.format("sink=True, use_fma=False"),
    ),
    Entry(
        "L203",
        "A number of clusters that the combine does not support",
        "{clusters} clusters cannot share a tile in the design {design}",
        "use 1 to 16 clusters with pull_wide, push or push_bulk; pull has one",
        "Partial results are combined inside each cluster first; the last cluster to arrive combines those results through global memory.",
        failing=_CONFIG.format("clusters=2"),
        fixed=_CONFIG.format('design="push", clusters=2'),
    ),
    Entry(
        "L204",
        "A tile too large for shared memory",
        "the exchange {design!r} needs {needed} bytes of shared memory for this tile; a CTA has at most {limit}",
        "use fewer rows, or a design that needs less (pull_wide, push)",
        "The exchange keeps a CTA's partial result, or all that peers send it, in shared memory as f32.",
        failing=_CONFIG.format('rows=128, depth=256, design="push_bulk"'),
        fixed=_CONFIG.format('rows=128, depth=256, design="push"'),
    ),
    Entry(
        "L205",
        "A TMA option for a design that stores without TMA",
        "{option} is an option of the design pull, not of {design}",
        "leave it off, or choose design='pull'",
        "pull writes its output by TMA from shared memory; the other designs write it from registers.",
        failing=_CONFIG.format('design="push", swizzle="64B"'),
        fixed=_CONFIG.format('design="pull", swizzle="64B"'),
    ),
    Entry(
        "L206",
        "Output rows that TMA cannot address",
        "a row of {depth} x {output} is {bytes} bytes, no multiple of 16",
        "choose a design that stores without TMA (pull_wide, push), or another depth",
        "The strides of a tensor map are multiples of 16 bytes.",
        failing=_CONFIG.format('depth=72, output="e4m3"'),
        fixed=_CONFIG.format('depth=72, output="e4m3", design="push"'),
    ),
    Entry(
        "L207",
        "Blocks that one store cannot take together",
        "blocks_per_store={blocks} is not possible: {problem}",
        "choose a number that divides the band, or 0 for a store of its own for each block",
        "A batched store's box has a dimension of blocks. Every owner's band must be made of whole boxes, and a tensor map has five dimensions.",
        failing=_CONFIG.format("partitions=2, blocks_per_store=3"),
        fixed=_CONFIG.format("partitions=2, blocks_per_store=4"),
    ),
    Entry(
        "L208",
        "A tile that cannot be cut into so many pieces",
        "the {positions} positions of a tile cannot be cut into {pieces} pieces in the design {design}",
        "use 1 piece up to one for each position with pull_wide, push or push_bulk; pull has one",
        "Each piece of the tile's rows is combined by a cluster of its own. pull stores whole bands of the tile by TMA.",
        failing=_CONFIG.format("pieces=2"),
        fixed=_CONFIG.format('design="push", pieces=2'),
    ),
    Entry(
        "L209",
        "A number of threads that the design cannot have",
        "{threads} threads are not possible for the design {design} with {rows} rows",
        "pull has one thread for each row; the other designs have 32 to 1024, whole warps, at least one for each partition. 0 lets the design choose",
        "pull gives each thread a row of the tile. The others spread the tile's 16-byte pieces over any number of warps.",
        failing=_CONFIG.format("threads=256"),
        fixed=_CONFIG.format('threads=256, design="pull_wide"'),
    ),
    Entry(
        "L210",
        "A configuration of FlashAttention-4 that cannot run",
        "the configuration for a depth of {depth} cannot run: {reasons}",
        "change what the reasons name; with_bm, with_num_q and with_splitk give variants",
        "Tensor memory holds two tiles of scores and two accumulators in 512 columns, shared memory the query tile and at least two stages of keys "
        "and values, and a split tile has one query tile in each CTA.",
        failing=_FA4.format("qk_depth=256"),
        fixed=_FA4.format("qk_depth=128"),
    ),
    Entry(
        "L211",
        "A stand-alone combine that cannot be made",
        "the combine of partial results in global memory cannot have {problem}",
        "change the numbers that the message names; 0 or the default lets the rule table choose",
        "Each CTA takes whole rows, each row whole groups of threads, each thread whole 16-byte pieces of a row.",
        failing="from fa4dsl.kernels.combine_partials import PartialsConfig\n\nPartialsConfig(partitions=65)\n",
        fixed="from fa4dsl.kernels.combine_partials import PartialsConfig\n\nPartialsConfig(partitions=64, groups=4)\n",
    ),
    Entry(
        "L212",
        "A decode attention that cannot be made",
        "split-K decode attention cannot have {problem}",
        "change the number that the message names",
        "The query heads of a key head, and those of further new tokens, are columns of mmas of 8, whose results stay in registers; the CTAs of a cluster share the "
        "keys, and tiles of 64 keys and values lie in shared memory.",
        failing="from fa4dsl.kernels.decode_config import DecodeConfig\n\nDecodeConfig(group=64)\n",
        fixed="from fa4dsl.kernels.decode_config import DecodeConfig\n\nDecodeConfig(group=32)\n",
    ),
)
