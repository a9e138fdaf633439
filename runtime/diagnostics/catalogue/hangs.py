"""Diagnostics of hangs that the simulator explains."""

from fa4dsl.runtime.diagnostics.entry import Entry

HANGS: tuple[Entry, ...] = (
    Entry(
        "S050",
        "a hang",
        "{reason}: {what}",
        "let somebody arrive",
        "Nothing can run any more, or what runs changes nothing. The notes list every group of waiting threads with its barrier, the phase asked for and the current one, arrivals and bytes got and "
        "needed, and who could still arrive and where that one stands.",
    ),
    Entry(
        "S051",
        "bytes expected on an mbarrier, but nobody arrives",
        "{reason}: {what}",
        "mbarrier.arrive.expect_tx instead of mbarrier.expect_tx",
        "A phase completes when the pending arrivals and the transaction count are both zero. mbarrier.expect_tx adds bytes only; the phase also needs its arrivals (PTX ISA 9.7.13.15).",
    ),
    Entry(
        "S052",
        "expected bytes and copied bytes differ",
        "{reason}: {what}",
        "expect exactly the bytes that arrive at this barrier in this phase",
        "The transaction count must come back to zero: every block's barrier must expect what it itself receives. A multicast brings its whole size to each block of the mask; tiles clipped by the "
        "tensor's edge count in full (PTX ISA 9.7.13.15, 9.7.9.25).",
    ),
    Entry(
        "S053",
        "an mbarrier gets fewer arrivals than its count",
        "{reason}: {what}",
        "make the count given to mbarrier.init equal to the arrivals of one phase",
        "Each phase needs exactly the number of arrivals given to mbarrier.init. One elected thread that arrives counts 1; a warp whose lanes all arrive counts 32 (PTX ISA 9.7.13.15).",
    ),
    Entry(
        "S054",
        "setmaxnreg.inc that can never be satisfied",
        "{reason}: {what}",
        "lower the register counts, or release registers first",
        "setmaxnreg.inc blocks until the block's pool has enough registers. The pool holds what setmaxnreg.dec gave back: the sum over all warpgroups of 128 x registers can never exceed "
        "threads x registers at launch (PTX ISA 9.7.19.5).",
    ),
    Entry(
        "S055",
        "a barrier that some of its threads never reach",
        "{reason}: {what}",
        "let all of its threads reach it, or lower its count",
        "bar.sync and bar.arrive count whole warps; a barrier opens when the threads of its count have arrived. Without a count it waits for all threads of the block. Aligned instructions wait for "
        "all lanes of the warp (PTX ISA 9.7.13.1).",
    ),
    Entry(
        "S056",
        "threads wait for each other in a cycle",
        "{reason}: {what}",
        "let one of them arrive before it waits",
        "Each of the listed waits can be satisfied only by a thread that stands in the next one. The notes show the cycle.",
    ),
    Entry(
        "S057",
        "a cluster barrier that does not complete",
        "{reason}: {what}",
        "let every running thread of the cluster arrive",
        "barrier.cluster completes when all threads of the cluster that have not exited have arrived, each exactly once a phase; a thread that waits must have arrived itself (PTX ISA 9.7.13.3).",
    ),
)
