"""mbarrier.*."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, Operand, Sink
from fa4dsl.runtime.simulator.access import Target, pieces
from fa4dsl.runtime.simulator.decoder import Decoder, handles
from fa4dsl.runtime.simulator.events import Token
from fa4dsl.runtime.simulator.instructions.loads_stores import make_target
from fa4dsl.runtime.simulator.mbarrier import PENDING_BITS
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Selection, grouped

_SPACES = {"shared": "shared", "shared::cta": "shared", "shared::cluster": "shared::cluster"}


class Words:
    """The modifiers behind the operation's name."""

    def __init__(self, decoder: Decoder, instruction: Instruction, allowed: set[str]) -> None:
        words = list(instruction.modifiers[1:])
        if words[-1:] != ["b64"]:
            decoder.unknown(instruction)
        self.space: str | None = None
        self.order: Any = None
        self.scope: Any = "cta"
        self.flags: set[str] = set()
        for word in words[:-1]:
            if word in _SPACES:
                self.space = _SPACES[word]
            elif word in ("release", "acquire", "relaxed"):
                self.order = word
            elif word in ("cta", "cluster"):
                self.scope = word
            elif word in allowed:
                self.flags.add(word)
            else:
                decoder.unknown(instruction)


def _local_target(decoder: Decoder, instruction: Instruction, operand: Operand, words: Words) -> Target:
    """The address of an operation that works on the own block's barriers only."""
    if words.space == "shared::cluster":
        decoder.wrong(instruction, "works on barriers of the own block only (.shared::cta)")
    return make_target(decoder, instruction, operand, words.space, 8)


def offsets_of(
    decoder: Decoder, instruction: Instruction, target: Target, threads: Selection, local: bool = False
) -> tuple[Ints, Ints, bool]:
    """(threads, physical addresses, whether reached through a cluster address of another block)."""
    machine, grid = decoder.machine, decoder.grid
    parts = pieces(target, threads)
    numbers, found, remote = [], [], False
    for resolver, part in parts:
        if resolver.event_space != "shared":
            machine.fault(
                "S016",
                instruction,
                int(grid.arange[part][0]),
                what=f"the address lies in {resolver.space} memory",
                how="an mbarrier lies in shared memory",
            )
        offsets = resolver.resolve(part)
        own = grid.arange[part]
        if resolver.space == "shared::cluster":
            foreign = offsets // grid.shared_stride != grid.cta[own]
            if local and foreign.any():
                machine.fault(
                    "S016",
                    instruction,
                    int(own[foreign][0]),
                    what="the barrier lies in another block",
                    how="only arrive, expect_tx and complete_tx work on another block's barrier",
                )
            remote = True
        numbers.append(own)
        found.append(np.asarray(offsets, np.int64))
    if len(numbers) == 1:
        return numbers[0], found[0], remote
    return np.concatenate(numbers), np.concatenate(found), remote


@handles("mbarrier")
def mbarrier(decoder: Decoder, instruction: Instruction) -> Step:
    """init, inval, expect_tx, complete_tx, arrive, arrive_drop, test_wait, try_wait, pending_count."""
    kind = instruction.modifiers[0] if instruction.modifiers else ""
    handler: Callable[[Decoder, Instruction], Step] | None = {
        "init": _init, "inval": _inval, "expect_tx": _transaction, "complete_tx": _transaction, "arrive": _arrive, "arrive_drop": _arrive,
        "test_wait": _wait, "try_wait": _wait, "pending_count": _pending_count,
    }.get(kind)  # fmt: skip
    if handler is None:
        decoder.unknown(instruction)
    return handler(decoder, instruction)


def _tell(decoder: Decoder, instruction: Instruction, numbers: Ints, addresses: Ints, operation: str, remote: bool) -> None:
    checker, grid = decoder.machine.checker, decoder.grid
    if checker is not None:
        checker.mbarrier_access(instruction, grid.event_thread[numbers], addresses + grid.first_cta * grid.shared_stride, operation, remote)


def _init(decoder: Decoder, instruction: Instruction) -> Step:
    decoder.count(instruction, 2)
    words = Words(decoder, instruction, set())
    target = _local_target(decoder, instruction, instruction.operands[0], words)
    count = decoder.source(instruction, instruction.operands[1], np.uint32)
    machine = decoder.machine

    def run(threads: Selection) -> None:
        numbers, addresses, remote = offsets_of(decoder, instruction, target, threads, local=True)
        machine.memory.shared.mark(addresses, 8)
        _tell(decoder, instruction, numbers, addresses, "init", remote)
        for thread, address in zip(numbers.tolist(), addresses.tolist(), strict=True):
            machine.mbarriers.init(instruction, thread, address, int(count[thread]))

    return Step(run, visible=True)


def _inval(decoder: Decoder, instruction: Instruction) -> Step:
    decoder.count(instruction, 1)
    words = Words(decoder, instruction, set())
    target = _local_target(decoder, instruction, instruction.operands[0], words)
    machine = decoder.machine

    def run(threads: Selection) -> None:
        numbers, addresses, remote = offsets_of(decoder, instruction, target, threads, local=True)
        _tell(decoder, instruction, numbers, addresses, "inval", remote)
        for thread, address in zip(numbers.tolist(), addresses.tolist(), strict=True):
            machine.mbarriers.inval(instruction, thread, address)

    return Step(run, visible=True)


def _transaction(decoder: Decoder, instruction: Instruction) -> Step:
    """``expect_tx`` and ``complete_tx`` (which only simulates a copy)."""
    decoder.count(instruction, 2)
    words = Words(decoder, instruction, set())
    target = make_target(decoder, instruction, instruction.operands[0], words.space, 8)
    count = decoder.source(instruction, instruction.operands[1], np.uint32)
    machine = decoder.machine
    expects = instruction.modifiers[0] == "expect_tx"
    name = "expect_tx" if expects else "complete_tx"

    def run(threads: Selection) -> None:
        numbers, addresses, remote = offsets_of(decoder, instruction, target, threads)
        _tell(decoder, instruction, numbers, addresses, name, remote)
        for thread, address in zip(numbers.tolist(), addresses.tolist(), strict=True):
            if expects:
                barrier = machine.mbarriers.find(instruction, thread, address)
                machine.mbarriers.expect(instruction, thread, barrier, int(count[thread]))
            else:
                machine.mbarriers.complete(instruction, thread, address, int(count[thread]), None)

    return Step(run, visible=True)


def _arrive(decoder: Decoder, instruction: Instruction) -> Step:
    """``mbarrier.arrive{_drop}{.expect_tx|.noComplete}{.sem}{.scope}{.space}.b64 state, [a]{, count}``; the state may be `_` or left out."""
    words = Words(decoder, instruction, {"expect_tx", "noComplete"})
    from fa4dsl.runtime.ptx.instruction import Address

    operands = list(instruction.operands)
    out = None
    if operands and not isinstance(operands[0], Address):
        state = operands.pop(0)
        if not isinstance(state, Sink):
            if words.space == "shared::cluster":
                decoder.wrong(instruction, "gives no state for a .shared::cluster address: write _")
            out = decoder.register_of(instruction, state)
    if len(operands) not in (1, 2):
        decoder.wrong(instruction, "takes an address and at most one number")
    target = make_target(decoder, instruction, operands[0], words.space, 8)
    number = decoder.source(instruction, operands[1], np.uint32) if len(operands) == 2 else None
    expects = "expect_tx" in words.flags
    if (expects or "noComplete" in words.flags) and number is None:
        decoder.wrong(instruction, "needs a number after the address")
    drop = instruction.modifiers[0] == "arrive_drop"
    may_complete = "noComplete" not in words.flags
    order: Any = words.order or "release"
    machine, grid = decoder.machine, decoder.grid
    checker = machine.checker

    def run(threads: Selection) -> None:
        numbers, addresses, remote = offsets_of(decoder, instruction, target, threads)
        _tell(decoder, instruction, numbers, addresses, "arrive", remote)
        parts = grouped(addresses)
        released: list[Token] | None = None
        if checker is not None and len(parts) > 1 and all(address in machine.mbarriers.objects for address, _ in parts):
            released = checker.release_each(instruction, [grid.event_thread[numbers[where]] for _, where in parts], words.scope, order)
        for index, (address, where) in enumerate(parts):
            part = numbers[where]
            barrier = machine.mbarriers.find(instruction, int(part[0]), address)
            tokens: list[Token] = []
            if checker is not None:
                tokens = [
                    released[index] if released is not None else checker.release(instruction, grid.event_thread[part], words.scope, order)
                ]
            if expects:
                assert number is not None
                for thread in part.tolist():
                    # each thread's expectation comes with its own arrival
                    machine.mbarriers.expect(instruction, thread, barrier, int(number[thread]))
                    one = np.array([thread])
                    states = machine.mbarriers.arrive(instruction, one, barrier, np.ones(1, np.int64), tokens, drop)
                    if out is not None:
                        out[one] = states.astype(np.uint64)
                continue
            counts = np.ones(len(part), np.int64) if number is None else number[part].astype(np.int64)
            states = machine.mbarriers.arrive(instruction, part, barrier, counts, tokens, drop, may_complete)
            if out is not None:
                out[part] = states.astype(np.uint64)

    return Step(run, visible=True)


def _pending_count(decoder: Decoder, instruction: Instruction) -> Step:
    """``mbarrier.pending_count.b64 count, state``."""
    decoder.count(instruction, 2)
    out = decoder.register_of(instruction, instruction.operands[0])
    state = decoder.source(instruction, instruction.operands[1], np.uint64)

    def run(threads: Selection) -> None:
        out[threads] = state[threads] & np.uint64((1 << PENDING_BITS) - 1)

    return Step(run)


def _wait(decoder: Decoder, instruction: Instruction) -> Step:
    """``mbarrier.{test,try}_wait{.parity}{.sem}{.scope}{.space}.b64 done, [a], state|parity{, hint}``.

    test_wait never blocks. try_wait blocks until the phase completes; when nothing at all can run any more it may return false, and impatient
    schedules let the first one of a thread that would block do so at once, for programs that ask once where they must ask again.
    """
    blocking = instruction.modifiers[0] == "try_wait"
    words = Words(decoder, instruction, {"parity"})
    decoder.count(instruction, *((3, 4) if blocking else (3,)))
    target = _local_target(decoder, instruction, instruction.operands[1], words)
    out = decoder.register_of(instruction, instruction.operands[0])
    parity = "parity" in words.flags
    asked = decoder.source(instruction, instruction.operands[2], np.uint32 if parity else np.uint64)
    order: Any = words.order or "acquire"
    machine, grid = decoder.machine, decoder.grid
    checker = machine.checker
    operation = "wait" if blocking else "test"
    ignored = not decoder.decides(instruction.operands[0])

    def look(threads: Selection) -> tuple[Ints, Ints, Any]:
        numbers, addresses, remote = offsets_of(decoder, instruction, target, threads, local=True)
        _tell(decoder, instruction, numbers, addresses, operation, remote)
        done = np.zeros(len(numbers), np.bool_)
        wanted = asked[numbers].astype(np.int64)
        wanted = wanted & 1 if parity else wanted >> 32
        observed: list[tuple[Ints, Sequence[Token]]] = []
        for address, where in grouped(addresses):
            barrier = machine.mbarriers.find(instruction, int(numbers[where][0]), address)
            phases = wanted[where]
            if parity:
                ready = phases != (barrier.phase & 1)
            else:
                ready = phases < barrier.phase
                old = phases < barrier.phase - 1
                if old.any():
                    at = int(np.flatnonzero(old)[0])
                    machine.note(
                        "S049",
                        instruction,
                        int(numbers[where][at]),
                        others=((barrier.initialised, "the barrier"),),
                        phase=int(phases[at]),
                        current=barrier.phase,
                    )
            if not ready.any():
                continue
            done[where] = ready
            barrier.consumed = max(barrier.consumed, barrier.phase - 1)
            passed = numbers[where][ready]
            if checker is not None:
                observed.append((grid.event_thread[passed], barrier.done_tokens))
            if machine.trace is not None:
                machine.trace.passed(("mbarrier", address, 0), instruction, passed)
        if checker is not None and ignored:
            # Whatever it says, the threads go on: that orders nothing.
            checker.ignored_wait(instruction, grid.event_thread[numbers])
        elif checker is not None:
            checker.join_each(instruction, observed, words.scope, order)
        if machine.measures is not None:
            machine.measures.waited(instruction, numbers, addresses, done)
        return numbers, addresses, done

    asked_once = np.zeros(grid.width, np.bool_)

    if not blocking or ignored:

        def test(threads: Selection) -> None:
            numbers, _, done = look(threads)
            out[numbers] = done
            if not done.all():
                machine.polled = True

        return Step(test, visible=True)

    def control(threads: Selection, pc: int) -> int | None:
        numbers, addresses, done = look(threads)
        table = machine.mbarriers
        if done.all():
            out[threads] = True
            table.wait_address[threads] = -1
            return pc + 1
        false = ~done & machine.spurious[numbers]
        if machine.schedule.impatient:
            false |= ~done & ~asked_once[numbers]
            asked_once[numbers] = True
        go = done | false
        if go.any():
            going = numbers[go]
            out[going] = done[go]
            machine.key[going] = pc + 1
            machine.spurious[going] = False
            # still in the barrier's list, but no longer waiting for it
            table.wait_address[going] = -1
        if false.any():
            machine.polled = True
        staying = numbers[~go]
        if len(staying):
            machine.block(staying, pc)
            table.wait_address[staying] = addresses[~go]
            table.wait_phase[staying] = asked[staying].astype(np.int64) if parity else asked[staying].astype(np.int64) >> 32
            for address, where in grouped(addresses[~go]):
                table.objects[address].waiting.append(staying[where])
        return None

    return Step(control=control, visible=True)
