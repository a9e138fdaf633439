"""Patterns of real Hopper kernels, written right: nothing may be reported. Beside each, what one wrong word does to it."""

from __future__ import annotations

import pytest
from checking.reports import codes, errors, reports

from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m

# --- the split-K combine's publish round: every thread arrives at every CTA, in a loop over the peers


def combine(
    ranks: int = 4,
    arrivals: int | None = None,
    start: str = m.cluster_sync(),
    end: str = m.cluster_sync(),
    scope: str = "cluster",
    wait_scope: str = "cluster",
    unrolled: bool = False,
    threads: int = 128,
) -> str:
    declared = threads * ranks if arrivals is None else arrivals
    arrive = m.arrive_remote("publish", "%i", scope)
    if unrolled:
        publish = [f"%r{i} = arith.constant {i} : i32\n" + m.arrive_remote("publish", f"%r{i}", scope) for i in range(ranks)]
    else:
        publish = [f"%ranks = arith.constant {ranks} : i32", m.loop("%ranks", arrive)]
    gather = (
        "%size = arith.constant 16 : i32\n%at = arith.muli %thread, %size : i32\n"
        '%own = "fa4.shared_address"(%stage, %at) : (!fa4.shared, i32) -> !llvm.ptr<3>\n'
        + m.loop(
            "%others",
            "%sum = arith.addi %rank, %i : i32\n%one_more = arith.addi %sum, %c1 : i32\n%other = arith.remui %one_more, %all : i32",
            '%there = "fa4.peer_address"(%own, %other) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>\n%value = llvm.load %there : !llvm.ptr<7> -> vector<4xf32>',
        )
    )
    return m.kernel(
        m.barrier("publish", declared, scope="cluster"),
        m.array("stage", 32, threads, 4),
        f"%all = arith.constant {ranks} : i32\n%others = arith.constant {ranks - 1} : i32",
        m.init("publish"),
        *([start] if start else []),
        *publish,
        m.wait("publish", scope=wait_scope),
        gather,
        m.sync(),
        *([end] if end else []),
        threads=threads,
        cluster=ranks,
    )


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
@pytest.mark.parametrize("unrolled", [False, True])
def test_combine(ranks: int, unrolled: bool) -> None:
    assert errors(combine(ranks, unrolled=unrolled)) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"arrivals": 128}, "C100"),
        ({"arrivals": 128 * 4 + 1}, "C100"),
        ({"start": ""}, "C111"),
        ({"start": m.sync()}, "C111"),
        ({"end": ""}, "C121"),
        ({"end": m.cluster_arrive("relaxed")}, "C121"),
        ({"scope": "cta"}, "C127"),
        ({"wait_scope": "cta"}, "C128"),
        ({"start": m.cluster_wait() + "\n" + m.cluster_arrive()}, "C117"),
    ],
)
def test_combine_broken(changes: dict[str, object], code: str) -> None:
    assert code in errors(combine(**changes))  # type: ignore[arg-type]


# --- named barriers between roles


def handover(count_left: int = 64, count_right: int = 64, arrive_first: bool = True) -> str:
    """The left warp writes and arrives, the right one syncs and reads."""
    arrive = f'"fa4.named_barrier_arrive"(%c1) {{threads = {count_left} : i64}} : (i32) -> ()'
    left = arrive if arrive_first else m.named_sync(count_left)
    return m.kernel(m.role("left", 0, 1, left), m.role("right", 1, 1, m.named_sync(count_right)), threads=64)


def test_named_barriers() -> None:
    assert codes(handover()) == []
    assert codes(handover(arrive_first=False)) == []
    assert codes(handover(count_right=96)) == ["C115"]
    assert codes(handover(96, 96)) == ["C115"]


def test_ping_pong_of_two_warpgroups() -> None:
    """Warpgroups take turns: each syncs on its own id, for which the other arrives."""
    two = "%c2 = arith.constant 2 : i32"

    def arrive(number: str) -> str:
        return f'"fa4.named_barrier_arrive"({number}) {{threads = 256 : i64}} : (i32) -> ()'

    turns_left = m.loop("%trips", m.named_sync(256, "%c1"), arrive("%c2"))
    turns_right = m.loop("%trips", m.named_sync(256, "%c2"), arrive("%c1"))
    left = m.role("left", 0, 4, turns_left)
    right = m.role("right", 4, 4, arrive("%c1"), turns_right)
    text = m.kernel(two, left, right, threads=256, arguments="%trips: i32")
    assert codes(text) == []
    missing = m.kernel(two, left, m.role("right", 4, 4, turns_right), threads=256, arguments="%trips: i32")
    assert errors(missing) == ["C106"]


def test_one_id_reused_after_a_cta_barrier() -> None:
    left, right = m.role("left", 0, 1, m.named_sync(32)), m.role("right", 1, 1, m.named_sync(32))
    assert codes(m.kernel(left, m.sync(), right, threads=64)) == []
    assert codes(m.kernel(left, right, threads=64)) == ["C116"]


# --- tiles that end early, loops whose count nobody knows


def test_early_exit_of_a_whole_cluster() -> None:
    """All CTAs of a cluster see the same tile: a condition on the cluster's index is uniform."""
    condition = '%tile = "fa4.index"() {what = "cluster_id.x"} : () -> i32\n%valid = arith.cmpi slt, %tile, %tiles : i32'
    body = combine(2).split("attributes", 1)[1].split("\n", 1)[1].rsplit("    return", 1)[0]
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    prelude = len(m.PRELUDE) + len(m.PAIR)
    text = m.kernel(condition, m.when("%valid", *lines[prelude:]), cluster=2, arguments="%tiles: i32")
    assert errors(text) == []


def test_block_index_divided_by_the_cluster() -> None:
    condition = (
        '%block = "fa4.index"() {what = "block.x"} : () -> i32\n%two = arith.constant 2 : i32\n'
        "%tile = arith.divui %block, %two : i32\n%valid = arith.cmpi slt, %tile, %tiles : i32"
    )
    text = m.kernel(condition, m.when("%valid", m.cluster_sync()), cluster=2, arguments="%tiles: i32")
    assert codes(text) == []


def persistent(consumer_start: str = "%block") -> str:
    """Both roles walk tiles block, block + grid, ... with a while loop each."""
    first = '%block = "fa4.index"() {what = "block.x"} : () -> i32\n%grid = "fa4.index"() {what = "grid_dim.x"} : () -> i32'

    def walk(body: str, start: str) -> str:
        inside = "\n".join(f"  {line}" for line in body.split("\n"))
        return (
            f"%last:2 = scf.while (%tile = {start}, %phase = %c0) : (i32, i32) -> (i32, i32) {{\n"
            "  %more = arith.cmpi slt, %tile, %tiles : i32\n"
            "  scf.condition(%more) %tile, %phase : i32, i32\n"
            "} do {\n^bb0(%tile: i32, %phase: i32):\n"
            f"{inside}\n"
            "  %next = arith.addi %tile, %grid : i32\n  %flipped = arith.xori %phase, %c1 : i32\n"
            "  scf.yield %next, %flipped : i32, i32\n}"
        )

    fresh = "%fresh = arith.xori %phase, %c1 : i32\n"
    produce = walk(fresh + "\n".join([m.wait("empty", "%fresh"), m.arrive_expect("full"), m.load("slot", "full")]), "%block")
    consume = walk("\n".join([m.wait("full", "%phase"), m.when("%second", m.arrive("empty"))]), consumer_start)
    setup = (m.barrier("full"), m.barrier("empty"), m.array("slot", 128), m.init("full"), m.init("empty"), m.sync())
    roles = (m.role("producer", 0, 1, m.when("%first", produce)), m.role("consumer", 1, 1, consume))
    return m.kernel(first, *setup, *roles, threads=64, arguments="%source: !llvm.ptr<1>, %tiles: i32")


def test_persistent_tiles() -> None:
    assert errors(persistent()) == []


def test_bounds_read_from_memory_by_both_roles() -> None:
    """Two roles that load the same word agree on it."""
    read = "%bound = llvm.load %lengths : !llvm.ptr<1> -> i32"
    text = m.GOOD_RING.replace("%other: i32", "%other: i32, %lengths: !llvm.ptr<1>")
    text = text.replace("scf.for %i = %c0 to %trips", f"{read}\n scf.for %i = %c0 to %bound")
    assert codes(text) == []


def test_spin_with_test() -> None:
    """A loop around mbarrier_test is a wait."""
    spin = (
        "scf.while : () -> () {\n"
        '  %done = "fa4.mbarrier_test"(%ready, %c0, %c0) {order = "acquire", scope = "cta", suspend = true} : (!fa4.mbarrier, i32, i32) -> i1\n'
        "  %yes = arith.constant true\n  %again = arith.xori %done, %yes : i1\n  scf.condition(%again)\n} do {\n  scf.yield\n}"
    )
    setup = (m.barrier("ready"), m.init("ready"), m.sync())
    assert codes(m.kernel(*setup, m.when("%first", m.arrive("ready")), spin)) == []
    assert codes(m.kernel(*setup, spin)) == ["C103"]


def test_what_is_not_known_is_a_note() -> None:
    """An index that only the run knows: no claim about the barrier, and it is said."""
    index = "%index = llvm.load %source : !llvm.ptr<1> -> i32"
    setup = (m.barrier("ready", 128, count=4), m.init("ready"), m.sync())
    text = m.kernel(index, *setup, m.arrive("ready", "%index"), m.wait("ready", index="%index"), arguments="%source: !llvm.ptr<1>")
    found = reports(text)
    assert [item.code for item in found] == ["C133"] and found[0].severity == "review"
    assert "simulator" in found[0].message


def test_exited_peers_are_no_deadlock() -> None:
    """Ranks other than 0 return without the cluster barrier: a note, since the hardware does not wait for them."""
    leads = "%leads = arith.cmpi eq, %rank, %c0 : i32"
    found = reports(m.kernel(leads, m.when("%leads", m.cluster_sync()), cluster=2))
    assert [(item.code, item.severity) for item in found] == [("C119", "review")]


def test_cta_barriers_balanced_between_roles() -> None:
    assert codes(m.kernel(m.role("left", 0, 1, m.sync()), m.role("right", 1, 1, m.sync()), threads=64)) == []


def test_inline_ptx_that_touches_a_barrier() -> None:
    address = '%there = "fa4.mbarrier_address"(%ready, %c0) : (!fa4.mbarrier, i32) -> !llvm.ptr<3>'
    text = m.kernel(m.barrier("ready", 2), m.init("ready"), m.sync(), address, m.when("%first", m.arrive("ready")), m.wait("ready"))
    assert codes(text) == ["C133"]


def test_frames_follow_calls() -> None:
    """A device function's operation shows its own line and the line that called it."""
    location = 'loc(callsite("helper.py":3:5 at "kernel.py":40:9))'
    text = m.kernel(m.barrier("ready"), m.init("ready"), m.sync(), m.wait("ready") + " " + location)
    (found,) = reports(text)
    places = [(frame.location.file, frame.location.line, frame.label) for frame in found.frames]
    assert places[:2] == [("helper.py", 3, "waits here"), ("kernel.py", 40, "called from here")]


def buffered(end: str, threads: int = 128) -> str:
    """One role does all: thread 0 loads a tile, everybody waits and uses it, `end` closes the turn."""
    setup = (m.barrier("full"), m.array("tile", 128), m.init("full"), m.sync())
    turn = (
        "%phase = arith.andi %i, %c1 : i32",
        m.when("%first", m.arrive_expect("full"), m.load("tile", "full")),
        m.wait("full", "%phase"),
    )
    return m.kernel(
        *setup, m.loop("%trips", *turn, *([end] if end else [])), threads=threads, arguments="%source: !llvm.ptr<1>, %trips: i32"
    )


def test_one_role_that_loads_and_reads() -> None:
    assert codes(buffered(m.sync())) == []
    assert codes(buffered(m.named_sync(128))) == []
    assert codes(buffered("", threads=32)) == []  # one warp: its lanes move together
    assert codes(buffered("")) == ["C125"]


def test_an_mbarrier_waited_for_again_and_again() -> None:
    """A barrier that completes once may be waited for in every turn (a tile loaded before the loop)."""
    setup = (
        m.barrier("full"),
        m.array("tile", 128),
        m.init("full"),
        m.sync(),
        m.when("%first", m.arrive_expect("full"), m.load("tile", "full")),
    )
    text = m.kernel(*setup, m.loop("%trips", m.wait("full")), arguments="%source: !llvm.ptr<1>, %trips: i32")
    assert codes(text) == []


def test_prologue_and_main_loop() -> None:
    """The producer fills two slots first, then n - 2 more; the consumer turns n times. With n below 2 the ends differ: a note at most."""
    prologue = "\n".join(
        m.arrive_expect("full", index=f"%c{i}") + "\n" + m.load("ring", "full", offset=f"%c{i * 512}", index=f"%c{i}") for i in range(2)
    )
    rest = m.loop(
        "%less",
        "%slot = arith.andi %i, %c1 : i32\n%round = arith.shrui %i, %c1 : i32\n%phase = arith.andi %round, %c1 : i32\n%at = arith.muli %slot, %c512 : i32",
        m.wait("empty", "%phase", "%slot"),
        m.arrive_expect("full", index="%slot"),
        m.load("ring", "full", offset="%at", index="%slot"),
    )
    consume = m.loop(
        "%trips",
        "%slot = arith.andi %i, %c1 : i32\n%round = arith.shrui %i, %c1 : i32\n%phase = arith.andi %round, %c1 : i32",
        m.wait("full", "%phase", "%slot"),
        m.when("%second", m.arrive("empty", "%slot")),
    )
    setup = (m.barrier("full", count=2), m.barrier("empty", count=2), m.array("ring", 256), m.init("full"), m.init("empty"), m.sync())
    less = "%two = arith.constant 2 : i32\n%less = arith.subi %trips, %two : i32"
    roles = (m.role("producer", 0, 1, m.when("%first", prologue, rest)), m.role("consumer", 1, 1, consume))
    text = m.kernel(*setup, less, *roles, threads=64, arguments="%source: !llvm.ptr<1>, %trips: i32")
    assert errors(text) == []
    wrong = text.replace("%two = arith.constant 2", "%two = arith.constant 3")
    assert errors(wrong) == ["C105"]
