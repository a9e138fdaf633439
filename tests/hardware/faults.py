"""Kernels with one mistake each that a GPU can be seen to suffer from: a wrong result or a hang."""

from __future__ import annotations

from collections.abc import Iterator

from hardware.builder import Builder
from hardware.memory import wait
from hardware.program import Program


def _kernel(name: str, block: int = 64) -> tuple[Builder, str, str, str]:
    builder = Builder(f"q_fault_{name}", "question", 0, block=block)
    builder.declarations.append(f"\t.shared .align 128 .b8 tile{name}[1024]; .shared .align 8 .b64 bar{name};")
    tile, bar, second = builder.fresh(32), builder.fresh(32), builder.fresh(1)
    builder.say(f"mov.u32 {tile}, tile{name}; mov.u32 {bar}, bar{name}; setp.ge.u32 {second}, {builder.lane_index}, 32;")
    return builder, tile, bar, second


def _pause(builder: Builder, count: int = 20) -> None:
    """About a millisecond for each of `count` rounds."""
    top, left, more = builder.label(), builder.fresh(32), builder.fresh(1)
    builder.say(
        f"mov.u32 {left}, 0; {top}: nanosleep.u32 1000000; add.u32 {left}, {left}, 1; setp.lt.u32 {more}, {left}, {count}; @{more} bra {top};"
    )


def faults() -> Iterator[Program]:
    """A race, a lost arrival, a missing proxy fence, barriers that never meet, a pool of registers that never fills."""
    builder, tile, _, second = _kernel("race")
    value, place, skip, end = builder.fresh(32), builder.fresh(32), builder.label(), builder.label()
    builder.say(
        f"mad.lo.u32 {place}, {builder.lane_index}, 4, {tile}; st.shared.b32 [{place}], 7; mov.u32 {value}, 7; bar.sync 0; @{second} bra {skip};"
    )
    _pause(builder, 2)
    builder.say(f"st.shared.b32 [{place}], {builder.thread}; bra {end};")
    builder.say(f"{skip}: ld.shared.b32 {value}, [{place}+-128];")
    line = builder.say(f"{end}:")
    builder.save(value, line, "read without a barrier: 7 is stale")
    yield builder.finish()

    builder, _, bar, second = _kernel("init")
    skip, end, first = builder.label(), builder.label(), builder.fresh(1)
    builder.say(f"setp.eq.u32 {first}, {builder.lane_index}, 0; @{second} bra {skip};")
    _pause(builder, 2)
    builder.say(f"@{first} mbarrier.init.shared.b64 [{bar}], 32; bra {end};")
    builder.say(f"{skip}: mbarrier.arrive.shared::cta.b64 _, [{bar}];")
    builder.say(f"{end}: bar.sync 0;")
    wait(builder, bar, "0")
    yield builder.finish()

    builder, tile, _, _ = _kernel("proxy", 32)
    rounds = 256
    start = builder.output(16, rounds)
    place, index, more, top = builder.fresh(64), builder.fresh(32), builder.fresh(1), builder.label()
    first, end = builder.fresh(1), builder.label()
    builder.say(
        f"setp.ne.u32 {first}, {builder.lane_index}, 0; @{first} bra {end}; add.u64 {place}, {builder.o}, {start}; mov.u32 {index}, 0;"
    )
    builder.say(f"{top}: st.shared.v4.b32 [{tile}], {{{index}, {index}, {index}, {index}}};")
    line = builder.say(
        f"cp.async.bulk.global.shared::cta.bulk_group [{place}], [{tile}], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
    )
    builder.say(f"add.u64 {place}, {place}, 16; add.u32 {index}, {index}, 1; setp.lt.u32 {more}, {index}, {rounds}; @{more} bra {top};")
    builder.say(f"{end}:")
    builder.remember(start, 4, 4 * rounds, line, "bulk stores without a proxy fence: round numbers")
    yield builder.finish()

    builder, _, _, second = _kernel("barrier_ids")
    identifier = builder.fresh(32)
    builder.say(f"selp.u32 {identifier}, 1, 2, {second}; barrier.sync {identifier}, 64;")
    yield builder.finish()

    builder, _, _, _ = _kernel("registers", 512)
    builder.say("setmaxnreg.inc.sync.aligned.u32 240;")
    builder.save(builder.thread, 0, "threads that got their registers")
    program = builder.finish()
    program.registers = 64
    yield program
