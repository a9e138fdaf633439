"""Diagnostics of the protocol check: who takes part in a barrier, clusters and peers, slots, and what only the run decides."""

from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m
from fa4dsl.runtime.diagnostics.entry import Entry

_MULTIPLY_SETUP = (
    m.barrier("full"),
    m.barrier("empty"),
    m.array("slot", 64, 64, dtype="bf16", alignment=1024, swizzle="128B"),
    m.init("full"),
    m.init("empty"),
    m.sync(),
)


def _multiply(*use: str) -> str:
    size = "%bytes = arith.constant 8192 : i32"
    fill = (m.arrive_expect("full", "%bytes"), m.load("slot", "full", size="%bytes"))
    refill = (m.wait("empty"), m.arrive_expect("full", "%bytes"), m.load("slot", "full", size="%bytes"))
    produce = m.role("producer", 4, 1, m.when("%first4", *fill, *refill))
    consume = m.role("consumer", 0, 4, m.wait("full"), m.multiply("slot"), *use, m.wait("full", "%c1"))
    first = "%c128 = arith.constant 128 : i32\n%first4 = arith.cmpi eq, %thread, %c128 : i32"
    return m.kernel(*_MULTIPLY_SETUP, size, first, produce, consume, threads=160, arguments=m.SOURCE)


def _elect_in(branch: str, arrivals: int, warp: int | None) -> str:
    """Elected threads arrive, of warp number `warp` or of each warp, in a branch of warps: `%later` than the first, or each warpgroup's `%leader`."""
    one = '%chosen = "fa4.elect"() : () -> i1'
    if warp is not None:
        one = f"""%elected = "fa4.elect"() {{warp = {warp} : i64}} : () -> i1
%meant = arith.cmpi eq, %warp, %c0 : i32
%chosen = arith.andi %meant, %elected : i1"""
    return m.kernel(
        m.barrier("ready", arrivals),
        *m.READY,
        '%warp = "fa4.index"() {what = "warp"} : () -> i32',
        "%four = arith.constant 4 : i32",
        "%part = arith.remui %warp, %four : i32",
        "%later = arith.cmpi sgt, %warp, %c0 : i32",
        "%leader = arith.cmpi eq, %part, %c0 : i32",
        m.when(branch, one, m.when("%chosen", m.arrive("ready"))),
        threads=256,
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "C114",
        "A CTA barrier that not all threads reach",
        "{who} wait at the CTA barrier, and {missing} never come to it",
        "use a named barrier with the number of threads that take part, or move the CTA barrier out of the role or branch",
        "The CTA barrier counts every thread of the CTA. Inside a role or a branch on the thread index only some of them come.",
        failing=m.kernel(m.role("producer", 0, 1, m.sync()), threads=64),
        fixed=m.kernel(m.role("producer", 0, 1, m.named_sync(32)), threads=64),
    ),
    Entry(
        "C115",
        "A named barrier's count is not its number of threads",
        "{barrier} (id {number}): {problem}",
        "give every user of this id the same count, the sum of the threads that sync and arrive",
        "A named barrier completes when as many threads as it counts have come, 32 for each warp. All users of one phase must give the same count.",
        failing=m.kernel(m.role("producer", 0, 1, m.named_sync(64)), threads=64),
        fixed=m.kernel(m.role("producer", 0, 1, m.named_sync(32)), threads=64),
    ),
    Entry(
        "C116",
        "Two users of one named barrier",
        "{barrier} (id {number}) is used by {who} and, with no order between them, by {others}",
        "give each group of threads an id of its own (1 to 15)",
        "A named barrier is one counter. Two groups that use it at the same time complete each other's phases.",
        failing=m.kernel(m.role("left", 0, 1, m.named_sync(32)), m.role("right", 1, 1, m.named_sync(32)), threads=64),
        fixed=m.kernel(
            "%c2 = arith.constant 2 : i32",
            m.role("left", 0, 1, m.named_sync(32)),
            m.role("right", 1, 1, m.named_sync(32, "%c2")),
            threads=64,
        ),
    ),
    Entry(
        "C117",
        "Cluster arrive and wait out of step",
        "at the cluster barrier, {who} {problem}",
        "pair them: every thread arrives once, then waits once",
        "A thread takes part in each phase of the cluster barrier with one arrive, then one wait. A wait without an own arrive never ends; a second arrive without a wait counts for a phase that does not exist yet.",
        failing=m.kernel(m.cluster_wait(), m.cluster_arrive(), cluster=2),
        fixed=m.kernel(m.cluster_arrive(), m.cluster_wait(), cluster=2),
    ),
    Entry(
        "C118",
        "Not an id of a named barrier",
        "{barrier}: the id must be 1 to 15, and 0 is the CTA barrier",
        "use an id from 1 to 15",
        "The hardware has sixteen barriers for each CTA. Barrier 0 is what a CTA barrier uses; a named barrier of the same id would complete its phases.",
        failing=m.kernel(m.named_sync(128, "%c0")),
        fixed=m.kernel(m.named_sync(128, "%c1")),
    ),
    Entry(
        "C119",
        "Some threads leave without the cluster barrier",
        "{who} exit without reaching this cluster barrier; the hardware counts exited threads as arrived",
        "let all threads of all CTAs reach every cluster barrier; nothing is broken as long as nobody touches the memory of a CTA that has left",
        "barrier.cluster waits for the threads that have not exited, so this is no deadlock. It is fragile: code for other cards, and readers, expect all or none.",
        severity="review",
        failing=m.kernel("%leads = arith.cmpi eq, %rank, %c0 : i32", m.when("%leads", m.cluster_arrive(), m.cluster_wait()), cluster=2),
        fixed=m.kernel(m.cluster_arrive(), m.cluster_wait(), cluster=2),
    ),
    Entry(
        "C120",
        "A peer may not have started yet",
        "{who} touch {object!r} of a peer CTA, and no cluster barrier before it says that the peer has started",
        "put a cluster barrier at the kernel's start, before the first remote access",
        "The CTAs of a cluster are launched together, but one may run before another has begun. Its shared memory may be touched only after an edge from it, such as a cluster barrier.",
        failing=m.kernel(m.array("stage", 128), m.peer_load("stage"), m.cluster_sync(), cluster=2),
        fixed=m.kernel(m.array("stage", 128), m.cluster_sync(), m.peer_load("stage"), m.cluster_sync(), cluster=2),
    ),
    Entry(
        "C121",
        "A peer may have exited",
        "{who} touch {object!r} of a peer CTA, which may exit before the access: no cluster barrier follows",
        "end the kernel with a cluster barrier that all threads reach after the last remote access",
        "Shared memory lives as long as its CTA. Who exits while a peer still reads, writes or signals there makes that access fault or hit another kernel's memory.",
        failing=m.kernel(m.array("stage", 128), m.cluster_sync(), m.peer_load("stage"), cluster=2),
        fixed=m.kernel(m.array("stage", 128), m.cluster_sync(), m.peer_load("stage"), m.cluster_sync(), cluster=2),
    ),
    Entry(
        "C122",
        "Only part of a warp at a warp-wide operation",
        "{operation} needs whole warps, and {present} of {size} threads of {group} execute it",
        "move it out of the branch that splits the warp",
        "The instruction waits for every lane of the warp (or is undefined without them): barriers count 32 for each warp, elections and collectives name all lanes in their mask.",
        failing=m.kernel(m.when("%first", m.named_sync(32))),
        fixed=m.kernel(m.role("first", 0, 1, m.named_sync(32))),
    ),
    Entry(
        "C123",
        "Only part of a warpgroup at a warpgroup-wide operation",
        "{operation} needs whole warpgroups, and {present} of {size} threads of {group} execute it",
        "let all four warps of the warpgroup execute it; a role that uses it starts at a warp that is a multiple of 4",
        "wgmma and setmaxnreg act on four consecutive warps, the first a multiple of 4, which must all execute the same instruction.",
        failing=m.kernel(m.role("first", 0, 1, '"fa4.wgmma_fence"() : () -> ()\n"fa4.wgmma_commit"() : () -> ()')),
        fixed=m.kernel(m.role("first", 0, 4, '"fa4.wgmma_fence"() : () -> ()\n"fa4.wgmma_commit"() : () -> ()')),
    ),
    Entry(
        "C124",
        "A slot is released while a wgmma still reads it",
        "the slot of {array!r} is released (arrive on {barrier!r}) before the wgmma that reads it is waited for",
        "put wgmma_wait before the arrive, with a `pending` small enough to cover that wgmma",
        "wgmma is asynchronous: it reads shared memory until a wgmma wait covers its group. Once the slot is released, the producer may fill it under the running multiplication.",
        failing=_multiply(m.when("%first", m.arrive("empty")), m.multiply_wait()),
        fixed=_multiply(m.multiply_wait(), m.when("%first", m.arrive("empty"))),
    ),
    Entry(
        "C125",
        "A slot is filled again before its reader has let go",
        "a copy fills {array!r} {where} again, and nothing says that the last contents have been read",
        "wait, before the copy, for a barrier at which every reader arrives after its last read; readers in other CTAs arrive remotely",
        "The copy that signals a barrier and the threads that wait for it are ordered in one direction only. For the other direction, reader before refill, a second barrier (empty) is needed, counted over "
        "every CTA that a multicast writes to.",
        failing=m.ring("", m.RELEASE, "%c32", "%c32"),
        fixed=m.ring(m.wait("empty", "%fresh"), m.RELEASE, "%c32", "%c32"),
    ),
    Entry(
        "C126",
        "One copy issued by many threads",
        "{operation} at one place is issued by {who}: {threads} copies of the same bytes",
        "let one thread issue it: under elect() or a comparison of the thread index",
        "Bulk and tensor copies are issued by each thread that executes them. Thirty-two lanes make thirty-two copies, and as many times the bytes.",
        severity="warning",
        failing=m.kernel(
            m.barrier("full", 1),
            m.array("tile", 128),
            m.init("full"),
            m.sync(),
            m.when("%first", m.arrive_expect("full", "%all")),
            m.load("tile", "full"),
            m.wait("full"),
            arguments=m.SOURCE,
        ).replace("    %first", "    %all = arith.constant 65536 : i32\n    %first", 1),
        fixed=m.fill(m.arrive_expect("full"), m.load("tile", "full")),
    ),
    Entry(
        "C127",
        "A remote arrive at CTA scope",
        "{who} arrive at mbarrier {barrier!r} of a peer with scope cta: what they did before is not released to the peer",
        'arrive with scope "cluster" (mbarrier.arrive.release.cluster)',
        "A release at CTA scope orders nothing for a thread of another CTA. mbarrier.arrive is CTA-scoped unless it says otherwise, also on a peer's address.",
        failing=m.kernel(
            *m.PUBLISH,
            m.cluster_sync(),
            m.arrive_remote("ready", "%c0", "cta"),
            m.arrive_remote("ready", "%c1", "cta"),
            m.wait("ready", scope="cluster"),
            m.cluster_sync(),
            cluster=2,
        ),
        fixed=m.kernel(*m.PUBLISH, m.cluster_sync(), *m.EVERYONE, m.cluster_sync(), cluster=2),
    ),
    Entry(
        "C128",
        "A wait at CTA scope for what a peer did",
        "the wait for mbarrier {barrier!r} has scope cta, and peers publish data by arriving at it",
        'wait with scope "cluster" (mbarrier.try_wait.acquire.cluster)',
        "Release and acquire synchronise only if both scopes include the other thread. A wait at CTA scope does not acquire what a peer's arrival released.",
        failing=m.kernel(
            *m.PUBLISH,
            m.array("stage", 128),
            m.cluster_sync(),
            m.peer_store("stage"),
            *m.EVERYONE[:2],
            m.wait("ready"),
            m.cluster_sync(),
            cluster=2,
        ),
        fixed=m.kernel(
            *m.PUBLISH, m.array("stage", 128), m.cluster_sync(), m.peer_store("stage"), *m.EVERYONE, m.cluster_sync(), cluster=2
        ),
    ),
    Entry(
        "C129",
        "The elected thread does not come",
        "no thread executes this block: it is for an elected thread of warp {wanted}, and only {coming} come here",
        "elect in a warp that comes: elect(warp=n), or elect(each_warp=True) for a thread of every warp that does",
        "elect() means one thread of the role (outside of roles, of the CTA), in its first warp. In a branch that this warp does not take, nobody is elected.",
        failing=_elect_in("%later", 1, warp=0),
        fixed=_elect_in("%later", 7, warp=None),
    ),
    Entry(
        "C134",
        "elect() where several warpgroups' warps come",
        "one thread of warp {wanted} executes this block, though {coming} come here",
        "elect(each_warp=True) for a thread of every warp that comes; elect(warp=n), or a branch that only its warp takes, for this one",
        "elect() means one thread of the role (outside of roles, of the CTA). A branch on warps of several warpgroups, such as `warp.index() % 4 == 0`, "
        "looks as if each were to have a thread of its own.",
        severity="warning",
        failing=_elect_in("%leader", 1, warp=0),
        fixed=_elect_in("%leader", 2, warp=None),
    ),
    Entry(
        "C130",
        "A fault at one trip count",
        "where the loop runs {times}: {problem} [{reported}]",
        "make sure that the loop never runs {times}, or treat that case; the simulator checks the trip counts of a run",
        "The trip count is known only at run time, so the protocol was followed with several. With this one it does not end well; with many turns it does.",
        severity="review",
        failing=m.kernel(
            m.barrier("ready"),
            *m.READY,
            m.loop(
                "%trips",
                m.when(
                    "%first",
                    "%last = arith.subi %trips, %c1 : i32\n%is_last = arith.cmpi eq, %i, %last : i32\n"
                    + m.when("%is_last", m.arrive("ready")),
                ),
            ),
            m.wait("ready"),
            arguments="%trips: i32",
        ),
        fixed=m.kernel(m.barrier("ready"), *m.READY, m.when("%first", m.arrive("ready")), m.wait("ready"), arguments="%trips: i32"),
    ),
    Entry(
        "C131",
        "A fault that depends on a run-time condition",
        "for some values of a run-time condition: {problem} [{reported}]",
        "make the condition of both ends the same, or treat the other case; the simulator checks the conditions of a run",
        "The condition is known only at run time, so the protocol was followed both ways. One of them does not end well, and whether it ever happens the compiler cannot know.",
        severity="review",
        failing=m.kernel(
            m.barrier("ready"), *m.READY, m.when("%go", m.when("%first", m.arrive("ready"))), m.wait("ready"), arguments="%n: i32"
        ).replace("    %ready", "    %go = arith.cmpi sgt, %n, %c0 : i32\n    %ready", 1),
        fixed=m.kernel(m.barrier("ready"), *m.READY, m.when("%first", m.arrive("ready")), m.wait("ready"), arguments="%n: i32"),
    ),
    Entry(
        "C132",
        "Too long to follow at compile time",
        "kernel {kernel} synchronises too often to be followed at compile time: its protocol is checked in the simulator only",
        "nothing is wrong; run it in the simulator",
        "The check executes the protocol step by step and stops after some thousand steps, so that compiling stays fast.",
        severity="review",
        failing=m.kernel("%many = arith.muli %thread, %c512 : i32", m.barrier("ready", 128), *m.READY, m.loop("%many", m.arrive("ready"))),
        fixed=m.kernel("%few = arith.constant 10 : i32", m.loop("%few", m.sync())),
    ),
    Entry(
        "C133",
        "Not decided at compile time",
        "{subject} is checked in the simulator only: {reason}",
        "nothing is wrong; run it in the simulator, or let thread, warp and CTA indices and uniform values decide",
        "The check claims nothing about a barrier when it cannot tell who executes an operation on it, how often, or on which object.",
        severity="review",
        failing=m.kernel(
            m.barrier("ready", 128),
            *m.READY,
            "%value = llvm.load %source : !llvm.ptr<1> -> i32\n%index = arith.addi %value, %thread : i32\n%go = arith.cmpi sgt, %index, %c0 : i32",
            m.when("%go", m.arrive("ready")),
            arguments=m.SOURCE,
        ),
        fixed=m.kernel(m.barrier("ready", 128), *m.READY, m.arrive("ready"), m.wait("ready")),
    ),
)
