"""Diagnostics of the protocol check: barriers, copies, clusters, peers."""

from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m
from fa4dsl.runtime.diagnostics.entry import Entry

_SOURCE = "%source: !llvm.ptr<1>"
_READY = (m.init("ready"), m.sync())


def _fill(*body: str, arrivals: int = 1) -> str:
    """Thread 0 runs `body`; everybody waits for `full`."""
    start = (m.barrier("full", arrivals), m.array("tile", 128), m.init("full"), m.sync())
    return m.kernel(*start, m.when("%first", *body), m.wait("full"), arguments=_SOURCE)


def _ring(refill: str, release: str, trips: str = "%trips", consumer_trips: str = "%trips", parity: str = "%phase") -> str:
    """Two roles around one slot. `refill` runs before a copy, `release` after a use."""
    turn = "%phase = arith.andi %i, %c1 : i32\n%fresh = arith.xori %phase, %c1 : i32"
    produce = m.loop(trips, turn, refill, m.arrive_expect("full"), m.load("slot", "full"))
    consume = m.loop(consumer_trips, turn, m.wait("full", parity), release)
    return m.kernel(
        m.barrier("full"), m.barrier("empty"), m.array("slot", 128), m.init("full"), m.init("empty"), m.sync(),
        m.role("producer", 0, 1, m.when("%first", produce)),
        m.role("consumer", 1, 1, consume),
        threads=64, arguments=f"%source: !llvm.ptr<1>, %trips: i32, %other: i32",
    )  # fmt: skip


_RELEASE = m.when("%second", m.arrive("empty"))
_GOOD_RING = _ring(m.wait("empty", "%fresh"), _RELEASE)
_PUBLISH = (m.barrier("ready", 256, scope="cluster"), m.init("ready"))
_EVERYONE = (m.arrive_remote("ready", "%c0"), m.arrive_remote("ready", "%c1"), m.wait("ready", scope="cluster"))

_MULTIPLY_SETUP = (m.barrier("full"), m.barrier("empty"), m.array("slot", 64, 64, dtype="bf16", alignment=1024, swizzle="128B"), m.init("full"), m.init("empty"), m.sync())  # fmt: skip


def _multiply(*use: str) -> str:
    size = "%bytes = arith.constant 8192 : i32"
    fill = (m.arrive_expect("full", "%bytes"), m.load("slot", "full", size="%bytes"))
    refill = (m.wait("empty"), m.arrive_expect("full", "%bytes"), m.load("slot", "full", size="%bytes"))
    produce = m.role("producer", 4, 1, m.when("%first4", *fill, *refill))
    consume = m.role("consumer", 0, 4, m.wait("full"), m.multiply("slot"), *use, m.wait("full", "%c1"))
    first = "%c128 = arith.constant 128 : i32\n%first4 = arith.cmpi eq, %thread, %c128 : i32"
    return m.kernel(*_MULTIPLY_SETUP, size, first, produce, consume, threads=160, arguments=_SOURCE)


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "C100",
        "Arrivals do not match the barrier's count",
        "mbarrier {barrier!r} is declared for {declared} arrivals a phase, and {arrivals} come: {listed}",
        "declare the barrier with arrivals={arrivals}, or let exactly {declared} threads arrive",
        "A phase completes when exactly the declared number of arrivals has come. With fewer, every waiter hangs; with more, the surplus counts for the next phase "
        "and completes it early. Arrivals are counted by thread: an arrive that a whole warp executes is 32 arrivals, one behind an election a single one, "
        "and an arrive on every peer brings one from each CTA of the cluster.",
        failing=m.kernel(m.barrier("ready", 128), *_READY, m.when("%first", m.arrive("ready")), m.wait("ready")),
        fixed=m.kernel(m.barrier("ready", 1), *_READY, m.when("%first", m.arrive("ready")), m.wait("ready")),
    ),
    Entry(
        "C101",
        "Expected bytes are not the bytes that come",
        "mbarrier {barrier!r} expects {expected} bytes a phase, and {came} come ({copies})",
        "expect exactly the bytes that land in this CTA: {came}",
        "A phase completes when all arrivals have come and as many bytes as were expected. A box counts in full, also where it is clamped at the tensor's edge; a multicast "
        "counts in each destination CTA for what that CTA receives, so its own expectation is not multiplied by the cluster's size.",
        failing=_fill(m.arrive_expect("full", "%c256"), m.load("tile", "full")),
        fixed=_fill(m.arrive_expect("full"), m.load("tile", "full")),
    ),
    Entry(
        "C102",
        "Bytes are expected, but nobody arrives",
        "mbarrier {barrier!r} is told of bytes, but none of its {declared} arrivals ever comes",
        "use arrive with expect (one arrival and the bytes) instead of expect alone",
        "expect_tx only raises the number of bytes to wait for. It is no arrival; a phase with pending arrivals does not complete, however many bytes land.",
        failing=_fill(m.expect("full"), m.load("tile", "full")),
        fixed=_fill(m.arrive_expect("full"), m.load("tile", "full")),
    ),
    Entry(
        "C103",
        "A wait that nobody can satisfy",
        "somebody waits for mbarrier {barrier!r}, and no thread of the cluster ever arrives at it (it needs {declared} arrivals)",
        "arrive at {barrier!r}, or drop the wait",
        "A wait ends only when the phase completes, and a phase completes only by arrivals.",
        failing=m.kernel(m.barrier("ready"), *_READY, m.wait("ready")),
        fixed=m.kernel(m.barrier("ready"), *_READY, m.when("%first", m.arrive("ready")), m.wait("ready")),
    ),
    Entry(
        "C104",
        "A wait with the wrong parity",
        "the wait for mbarrier {barrier!r} {problem}",
        "start a producer at parity 1 and a consumer at parity 0, and flip the parity each time the ring has gone round once",
        "A wait for parity p passes when the phase that completed last has parity p. A fresh barrier stands in phase 0: parity 1 passes at once, parity 0 waits for the "
        "first completion. Who waits for the same parity twice sees an old phase the second time.",
        failing=_ring(m.wait("empty", "%fresh"), _RELEASE, parity="%c0"),
        fixed=_GOOD_RING,
    ),
    Entry(
        "C105",
        "The two ends of a barrier run a different number of times",
        "mbarrier {barrier!r} completes {phases} phases, and {who} wait for {waits}: the arriving side ends first",
        "give both roles the same trip count, or let the last turn neither wait nor arrive",
        "Each wait needs one completed phase. When the loop that waits runs more often than the one that arrives, its last turn waits for ever.",
        failing=_ring(m.wait("empty", "%fresh"), _RELEASE, "%c1", "%c32"),
        fixed=_GOOD_RING,
    ),
    Entry(
        "C106",
        "Roles wait for each other in a circle",
        "nobody can go on: {listed}",
        "let one of them go first: a producer waits for an empty slot with parity 1, which passes on a fresh barrier; or swap arrive and wait in one of the roles",
        "Each of the waiters would be released by what another one does after its own wait.",
        failing=m.kernel(
            m.barrier("ping"), m.barrier("pong"), m.init("ping"), m.init("pong"), m.sync(),
            m.role("left", 0, 1, m.wait("pong"), m.when("%first", m.arrive("ping"))),
            m.role("right", 1, 1, m.wait("ping"), m.when("%second", m.arrive("pong"))), threads=64,
        ),
        fixed=m.kernel(
            m.barrier("ping"), m.barrier("pong"), m.init("ping"), m.init("pong"), m.sync(),
            m.role("left", 0, 1, m.when("%first", m.arrive("ping")), m.wait("pong")),
            m.role("right", 1, 1, m.wait("ping"), m.when("%second", m.arrive("pong"))), threads=64,
        ),
    ),  # fmt: skip
    Entry(
        "C107",
        "A phase completes before anybody has waited for the last one",
        "mbarrier {barrier!r} completes a phase although nobody has waited for the one before it",
        "wait, before arriving again, for a barrier by which the waiters say that they have seen the phase",
        "Only the phase that completed last can be waited for. A waiter that is passed by two phases takes the newer one for the older or waits for one that is gone. "
        "PTX asks for a successful wait in each phase before the next phase's first arrival.",
        failing=m.kernel(
            m.barrier("step"), m.init("step"), m.sync(),
            m.when("%first", m.arrive("step"), m.arrive("step")),
            m.when("%second", m.wait("step"), m.wait("step", "%c1")),
        ),
        fixed=m.kernel(
            m.barrier("step"), m.barrier("seen"), m.init("step"), m.init("seen"), m.sync(),
            m.when("%first", m.arrive("step"), m.wait("seen"), m.arrive("step")),
            m.when("%second", m.wait("step"), m.arrive("seen"), m.wait("step", "%c1")),
        ),
    ),  # fmt: skip
    Entry(
        "C108",
        "A barrier that is never initialised",
        "{who} use mbarrier {barrier!r}, which is never initialised",
        "initialise {barrier!r} at the kernel's start, then let all threads meet (a CTA barrier; a cluster barrier where peers arrive)",
        "An mbarrier is an object in shared memory. Until mbarrier.init has written it, arrivals and waits on it are undefined.",
        failing=m.kernel(m.barrier("ready", 128), m.arrive("ready"), m.wait("ready")),
        fixed=m.kernel(m.barrier("ready", 128), *_READY, m.arrive("ready"), m.wait("ready")),
    ),
    Entry(
        "C109",
        "A barrier is used before its initialisation is known",
        "{who} use mbarrier {barrier!r} without having met thread 0 since it initialised the barrier",
        "let all threads meet between the two: a CTA barrier, or a cluster barrier where peers arrive too",
        "Thread 0 initialises, the others may be ahead of it. The initialisation must happen before every use, by an edge that does not come from the barrier itself: "
        "fence.mbarrier_init (which the initialisation brings) and then a barrier.",
        failing=m.kernel(m.barrier("ready", 128), m.init("ready"), m.arrive("ready"), m.wait("ready")),
        fixed=m.kernel(m.barrier("ready", 128), m.init("ready"), m.sync(), m.arrive("ready"), m.wait("ready")),
    ),
    Entry(
        "C110",
        "A barrier is initialised twice",
        "mbarrier {barrier!r} is initialised again while it lives",
        "invalidate it first, or initialise once before the loop and follow its phases",
        "Initialising a live mbarrier is undefined, also when it is idle.",
        failing=m.kernel(m.barrier("ready", 128), m.init("ready"), m.init("ready"), m.sync(), m.arrive("ready"), m.wait("ready")),
        fixed=m.kernel(m.barrier("ready", 128), m.init("ready"), m.sync(), m.arrive("ready"), m.wait("ready")),
    ),
    Entry(
        "C111",
        "A peer's barrier is used before its initialisation is known",
        "{who} use mbarrier {barrier!r} of a peer CTA, and no cluster barrier lies between its initialisation and this use",
        "put a cluster barrier (arrive and wait by all threads) between the initialisation and the first remote use",
        "A CTA barrier orders the threads of one CTA. The peer may not even have begun: its barrier is initialised, for others to see, only by fence.mbarrier_init and a cluster barrier.",
        failing=m.kernel(*_PUBLISH, m.sync(), *_EVERYONE, m.cluster_sync(), cluster=2),
        fixed=m.kernel(*_PUBLISH, m.cluster_sync(), *_EVERYONE, m.cluster_sync(), cluster=2),
    ),
    Entry(
        "C112",
        "An index outside a group of barriers",
        "mbarrier {barrier!r} is a group of {count}; index {index} is outside",
        "keep the index in 0 to {count} - 1 (a ring wraps round after its last slot)",
        "The barriers of a group lie side by side, 8 bytes each. What lies behind the last one is another object.",
        failing=m.kernel(m.barrier("ready", 128), *_READY, m.arrive("ready", "%c1"), m.wait("ready")),
        fixed=m.kernel(m.barrier("ready", 128, count=2), *_READY, m.arrive("ready", "%c1"), m.wait("ready", index="%c1")),
    ),
    Entry(
        "C113",
        "A rank outside the cluster",
        "{object!r} is reached in CTA {rank} of a cluster of {ranks}",
        "take ranks from 0 to {ranks} - 1",
        "mapa with a rank that the cluster does not have is undefined.",
        failing=m.kernel(*_PUBLISH, m.cluster_sync(), m.arrive_remote("ready", "%c32"), m.cluster_sync(), cluster=2),
        fixed=m.kernel(*_PUBLISH, m.cluster_sync(), *_EVERYONE, m.cluster_sync(), cluster=2),
    ),
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
            "%c2 = arith.constant 2 : i32", m.role("left", 0, 1, m.named_sync(32)), m.role("right", 1, 1, m.named_sync(32, "%c2")), threads=64
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
        failing=_ring("", _RELEASE, "%c32", "%c32"),
        fixed=_ring(m.wait("empty", "%fresh"), _RELEASE, "%c32", "%c32"),
    ),
    Entry(
        "C126",
        "One copy issued by many threads",
        "{operation} at one place is issued by {who}: {threads} copies of the same bytes",
        "let one thread issue it: under elect() or a comparison of the thread index",
        "Bulk and tensor copies are issued by each thread that executes them. Thirty-two lanes make thirty-two copies, and as many times the bytes.",
        severity="warning",
        failing=m.kernel(m.barrier("full", 1), m.array("tile", 128), m.init("full"), m.sync(), m.when("%first", m.arrive_expect("full", "%all")), m.load("tile", "full"), m.wait("full"), arguments=_SOURCE).replace("    %first", "    %all = arith.constant 65536 : i32\n    %first", 1),
        fixed=_fill(m.arrive_expect("full"), m.load("tile", "full")),
    ),  # fmt: skip
    Entry(
        "C127",
        "A remote arrive at CTA scope",
        "{who} arrive at mbarrier {barrier!r} of a peer with scope cta: what they did before is not released to the peer",
        'arrive with scope "cluster" (mbarrier.arrive.release.cluster)',
        "A release at CTA scope orders nothing for a thread of another CTA. mbarrier.arrive is CTA-scoped unless it says otherwise, also on a peer's address.",
        failing=m.kernel(*_PUBLISH, m.cluster_sync(), m.arrive_remote("ready", "%c0", "cta"), m.arrive_remote("ready", "%c1", "cta"), m.wait("ready", scope="cluster"), m.cluster_sync(), cluster=2),
        fixed=m.kernel(*_PUBLISH, m.cluster_sync(), *_EVERYONE, m.cluster_sync(), cluster=2),
    ),  # fmt: skip
    Entry(
        "C128",
        "A wait at CTA scope for what a peer did",
        "the wait for mbarrier {barrier!r} has scope cta, and peers publish data by arriving at it",
        'wait with scope "cluster" (mbarrier.try_wait.acquire.cluster)',
        "Release and acquire synchronise only if both scopes include the other thread. A wait at CTA scope does not acquire what a peer's arrival released.",
        failing=m.kernel(*_PUBLISH, m.array("stage", 128), m.cluster_sync(), m.peer_store("stage"), *_EVERYONE[:2], m.wait("ready"), m.cluster_sync(), cluster=2),
        fixed=m.kernel(*_PUBLISH, m.array("stage", 128), m.cluster_sync(), m.peer_store("stage"), *_EVERYONE, m.cluster_sync(), cluster=2),
    ),  # fmt: skip
    Entry(
        "C130",
        "A fault at one trip count",
        "where the loop runs {times}: {problem} [{reported}]",
        "make sure that the loop never runs {times}, or treat that case; the simulator checks the trip counts of a run",
        "The trip count is known only at run time, so the protocol was followed with several. With this one it does not end well; with many turns it does.",
        severity="review",
        failing=m.kernel(m.barrier("ready"), *_READY, m.loop("%trips", m.when("%first", "%last = arith.subi %trips, %c1 : i32\n%is_last = arith.cmpi eq, %i, %last : i32\n" + m.when("%is_last", m.arrive("ready")))), m.wait("ready"), arguments="%trips: i32"),
        fixed=m.kernel(m.barrier("ready"), *_READY, m.when("%first", m.arrive("ready")), m.wait("ready"), arguments="%trips: i32"),
    ),  # fmt: skip
    Entry(
        "C131",
        "A fault that depends on a run-time condition",
        "for some values of a run-time condition: {problem} [{reported}]",
        "make the condition of both ends the same, or treat the other case; the simulator checks the conditions of a run",
        "The condition is known only at run time, so the protocol was followed both ways. One of them does not end well, and whether it ever happens the compiler cannot know.",
        severity="review",
        failing=m.kernel(m.barrier("ready"), *_READY, m.when("%go", m.when("%first", m.arrive("ready"))), m.wait("ready"), arguments="%n: i32").replace("    %ready", "    %go = arith.cmpi sgt, %n, %c0 : i32\n    %ready", 1),
        fixed=m.kernel(m.barrier("ready"), *_READY, m.when("%first", m.arrive("ready")), m.wait("ready"), arguments="%n: i32"),
    ),  # fmt: skip
    Entry(
        "C132",
        "Too long to follow at compile time",
        "kernel {kernel} synchronises too often to be followed at compile time: its protocol is checked in the simulator only",
        "nothing is wrong; run it in the simulator",
        "The check executes the protocol step by step and stops after some thousand steps, so that compiling stays fast.",
        severity="review",
        failing=m.kernel("%many = arith.constant 100000 : i32", m.loop("%many", m.sync())),
        fixed=m.kernel("%few = arith.constant 10 : i32", m.loop("%few", m.sync())),
    ),
    Entry(
        "C133",
        "Not decided at compile time",
        "{subject} is checked in the simulator only: {reason}",
        "nothing is wrong; run it in the simulator, or let thread, warp and CTA indices and uniform values decide",
        "The check claims nothing about a barrier when it cannot tell who executes an operation on it, how often, or on which object.",
        severity="review",
        failing=m.kernel(m.barrier("ready", 128), *_READY, "%value = llvm.load %source : !llvm.ptr<1> -> i32\n%index = arith.addi %value, %thread : i32\n%go = arith.cmpi sgt, %index, %c0 : i32", m.when("%go", m.arrive("ready")), arguments=_SOURCE),
        fixed=m.kernel(m.barrier("ready", 128), *_READY, m.arrive("ready"), m.wait("ready")),
    ),  # fmt: skip
)
