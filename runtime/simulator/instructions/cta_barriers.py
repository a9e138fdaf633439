"""bar, barrier and barrier.cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Negated, Operand
from fa4dsl.runtime.simulator.barriers import LanesApart, NamedBarrier, Waiting
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.instructions.warp import warp_sync
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection, grouped, size
from fa4dsl.runtime.simulator.waiting import Arrival


@handles("bar", "barrier")
def bar(decoder: Decoder, instruction: Instruction) -> Step:
    """``bar{.cta}.{sync,arrive,red}``, ``barrier{.cta}...{.aligned}``, ``barrier.cluster...``, ``bar.warp.sync``."""
    words = [word for word in instruction.modifiers if word != "aligned"]
    if words[:1] == ["cluster"]:
        return _cluster(decoder, instruction, words[1:])
    if words == ["warp", "sync"]:
        return warp_sync(decoder, instruction)
    if words[:1] == ["cta"]:
        words = words[1:]
    if words == ["sync"]:
        decoder.count(instruction, 1, 2)
        return _named(decoder, instruction, "sync", instruction.operands, None, "", None)
    if words == ["arrive"]:
        decoder.count(instruction, 2)
        return _named(decoder, instruction, "arrive", instruction.operands, None, "", None)
    if words[:1] == ["red"] and len(words) == 3 and (words[1:] == ["popc", "u32"] or (words[1] in ("and", "or") and words[2] == "pred")):
        decoder.count(instruction, 3, 4)
        out = decoder.register_of(instruction, instruction.operands[0])
        return _named(decoder, instruction, "red", instruction.operands[1:-1], out, words[1], instruction.operands[-1])
    return decoder.unknown(instruction)


def _named(
    decoder: Decoder,
    instruction: Instruction,
    form: str,
    operands: tuple[Operand, ...],
    out: Row | None,
    reduction: str,
    predicate: Operand | None,
) -> Step:
    machine, grid = decoder.machine, decoder.grid
    number = decoder.source(instruction, operands[0], np.uint32)
    count = decoder.source(instruction, operands[1], np.uint32) if len(operands) > 1 else None
    negated = isinstance(predicate, Negated)
    votes = None
    if predicate is not None:
        votes = decoder.source(instruction, predicate.operand if isinstance(predicate, Negated) else predicate, np.bool_)
    checker = machine.checker

    def problem(thread: int, what: str, how: str, other: Instruction | None = None) -> None:
        machine.fault("S017", instruction, thread, others=((other, "the other count"),) if other is not None else (), what=what, how=how)

    def arrive(cta: int, barrier_number: int, numbers: Ints, needed: int, counted: bool = True) -> None:
        """`counted` False: lanes of warps that other lanes, at another instruction, have counted already."""
        if barrier_number > 15:
            problem(int(numbers[0]), f"barrier id {barrier_number}", "use ids 0 to 15")
        if needed % 32 or (form == "arrive" and not needed):
            problem(int(numbers[0]), f"a thread count of {needed}", "the count is a multiple of 32, and arrive needs one that is not zero")
        key = (cta, barrier_number)
        barrier = machine.barriers.named.get(key)
        if barrier is None:
            barrier = machine.barriers.named[key] = NamedBarrier(needed, instruction)
        elif barrier.needed != needed:
            whole = grid.warps_per_cta * 32
            if (barrier.needed or whole) != (needed or whole):
                problem(int(numbers[0]), f"barrier {barrier_number} is used with {needed or whole} threads here and with {barrier.needed or whole} at line {machine.location(barrier.first_site)}",
                        f"give all participants of a barrier the same count ({needed or whole} or {barrier.needed or whole}), or use another id", barrier.first_site)  # fmt: skip
            barrier.needed = needed or barrier.needed
        warps = np.unique(numbers >> 5) if counted else numbers[:0]
        barrier.warps += warps.tolist()
        barrier.arrived += 32 * len(warps)
        if barrier.needed and barrier.arrived > barrier.needed:
            problem(
                int(numbers[0]),
                f"{barrier.arrived} threads meet at barrier {barrier_number}, which was given a count of {barrier.needed}",
                "raise the count, or keep the other warps away from this id",
            )
        barrier.arrivals.append(Arrival(instruction, tuple(grid.event_thread[numbers].tolist()), 32 * len(warps)))
        if machine.measures is not None:
            known = machine.measures.naming.named_barriers.get(barrier_number) if machine.measures.naming is not None else None
            machine.measures.met(
                instruction,
                known or ("the CTA barrier" if not barrier_number else f"barrier {barrier_number}"),
                len(warps),
                form != "arrive",
            )
            if machine.trace is not None:
                machine.trace.arrived(("bar", cta, barrier_number), instruction, numbers, 32 * len(warps), "arrive")
        if votes is not None:
            chosen = votes[numbers] ^ negated
            barrier.true_count += int(np.count_nonzero(chosen))
            barrier.predicates += len(numbers)
        if checker is not None:
            barrier.tokens.append(checker.release(instruction, grid.event_thread[numbers], "cta"))
        if form != "arrive":
            barrier.waiting.append(Waiting(instruction, numbers, out, reduction))

    whole_block = form == "sync" and count is None and machine.measures is None and grid.stride == grid.threads_per_cta
    aligned = instruction.name == "bar" or "aligned" in instruction.modifiers
    apart = LanesApart(machine.barriers, arrive, form == "arrive")

    def control(threads: Selection, pc: int) -> int | None:
        if not aligned and not (isinstance(threads, slice) and not (threads.start | threads.stop) & 31):
            needs = np.zeros(size(threads), np.int64) if count is None else count[threads].astype(np.int64)
            apart.reach(threads, pc, number[threads].astype(np.int64), needs)
            return None
        ready = machine.rendezvous(instruction, threads, pc, None)
        if ready is None:
            return None
        barriers = machine.barriers
        if whole_block and isinstance(ready, slice) and not (ready.start % grid.stride or ready.stop % grid.stride):
            ids = number[ready]
            if (
                not barriers.named
                and int(ids.max()) == int(ids.min()) <= 15
                and not (machine.key[ready] == machine.EXITED).any()
                and (
                    checker is None
                    or checker.meet_blocks(
                        instruction,
                        grid.first_cta + ready.start // grid.stride,
                        (ready.stop - ready.start) // grid.stride,
                        int(ids[0]),
                    )
                )
            ):
                if ready is threads:
                    return pc + 1
                machine.key[ready] = pc + 1
                return None
        numbers = grid.arange[ready]
        if form == "arrive":
            machine.key[ready] = pc + 1
        else:
            machine.block(ready, pc)
        ids = number[ready]
        needs = np.zeros(len(numbers), np.int64) if count is None else count[ready].astype(np.int64)
        group = (grid.cta[ready] << 40) | (ids.astype(np.int64) << 20) | needs
        touched: list[tuple[int, int]] = []
        for one, where in grouped(group):
            part = numbers[where]
            if one >> 20 & 0xFFFFF > 15:
                problem(int(part[0]), f"barrier id {one >> 20 & 0xFFFFF}", "use ids 0 to 15")
            arrive(one >> 40, one >> 20 & 0xFFFFF, part, one & 0xFFFFF)
            touched.append((one >> 40, one >> 20 & 0xFFFFF))
        for key in touched:
            barriers.try_complete(*key)
        machine.disturbed = True
        return None

    return Step(control=control)


def _cluster(decoder: Decoder, instruction: Instruction, words: list[str]) -> Step:
    machine, grid = decoder.machine, decoder.grid
    checker = machine.checker
    if words[:1] == ["arrive"]:
        if set(words[1:]) - {"release", "relaxed"}:
            decoder.unknown(instruction)
        order: Any = "relaxed" if "relaxed" in words else "release"

        def arrive(threads: Selection, pc: int) -> int | None:
            ready = machine.rendezvous(instruction, threads, pc, None)
            if ready is None:
                return None
            barriers = machine.barriers
            numbers = grid.arange[ready]
            if barriers.cluster_arrived[ready].any():
                bad = int(numbers[barriers.cluster_arrived[ready]][0])
                machine.fault(
                    "S017",
                    instruction,
                    bad,
                    what="a second arrival at the cluster barrier in one phase",
                    how="wait for the phase with barrier.cluster.wait before arriving again",
                )
            again = (barriers.cluster_phase[ready] >= 0) & ~barriers.cluster_waited[ready]
            if again.any():
                machine.fault(
                    "S017",
                    instruction,
                    int(numbers[again][0]),
                    what="arrives at the cluster barrier again without having waited for its phase before",
                    how="execute barrier.cluster.wait between two barrier.cluster.arrive of a thread",
                )
            barriers.cluster_waited[ready] = False
            clusters = grid.cluster_in_wave[ready]
            machine.key[ready] = pc + 1
            found = np.unique(clusters).tolist()
            for cluster in found:
                part = numbers if len(found) == 1 else numbers[clusters == cluster]
                state = barriers.clusters[cluster]
                barriers.cluster_phase[part] = state.phase
                barriers.cluster_arrived[part] = True
                events = grid.event_thread[part]
                state.arrivals.append(
                    Arrival(instruction, tuple(events.tolist()) if checker is not None or len(events) <= 4096 else (), len(part))
                )
                if checker is not None:
                    state.tokens.append(checker.release(instruction, events, "cluster", order))
                if machine.trace is not None:
                    machine.trace.arrived(("cluster", cluster, 0), instruction, part, len(part), "arrive")
                barriers.try_complete_cluster(cluster)
            return pc + 1 if size(ready) == size(threads) and ready is threads else None

        return Step(control=arrive)
    if words[:1] == ["wait"]:
        if set(words[1:]) - {"acquire"}:
            decoder.unknown(instruction)

        def wait(threads: Selection, pc: int) -> int | None:
            ready = machine.rendezvous(instruction, threads, pc, None)
            if ready is None:
                return None
            barriers = machine.barriers
            numbers = grid.arange[ready]
            clusters = grid.cluster_in_wave[ready]
            uniform = True
            found = np.unique(clusters).tolist()
            for cluster in found:
                part = numbers if len(found) == 1 else numbers[clusters == cluster]
                state = barriers.clusters[cluster]
                phases = barriers.cluster_phase[part]
                done = (phases >= 0) & (phases < state.phase)
                if done.all():
                    passing = part
                else:
                    uniform = False
                    passing = part[done]
                    waiting = part[~done]
                    machine.block(waiting, pc)
                    state.waiting.append(waiting)
                if machine.measures is not None:
                    machine.measures.met(instruction, "the cluster barrier", len(np.unique(part >> 5)), len(passing) < len(part))
                    if machine.trace is not None and len(passing):
                        machine.trace.passed(("cluster", cluster, 0), instruction, passing)
                if len(passing):
                    barriers.cluster_waited[passing] = True
                    if not uniform or ready is not threads:
                        machine.key[passing] = pc + 1
                    if checker is not None:
                        checker.join(instruction, grid.event_thread[passing], state.done_tokens, "cluster")
            if uniform and ready is threads:
                return pc + 1
            if not uniform:
                # clusters that passed before one blocked still need their keys
                for cluster in found:
                    part = numbers[clusters == cluster]
                    free = part[machine.key[part] < machine.BLOCKED]
                    machine.key[free] = pc + 1
            return None

        return Step(control=wait)
    return decoder.unknown(instruction)
