"""The machine: threads with their own program counters, run as wide vectors.

Every thread has an entry in `key`: its program counter while it can run, `BLOCKED` while it waits, `EXITED` at the end. A turn takes threads with
equal keys and runs them together until the next control instruction. Who is taken is the schedule's choice (`schedule.py`).

Fairness: threads that go round a polling loop get an epoch (a multiple of `SPAN`) added to their key, so that all others go first.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, Frame, Location, diagnostic
from fa4dsl.runtime.simulator.frames import line_words, outermost, source_frames
from fa4dsl.runtime.simulator.printed import Output
from fa4dsl.runtime.simulator.selection import Selection, compact, first, narrow, size, union

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.asynchronous import Asynchronous
    from fa4dsl.runtime.simulator.barriers import Barriers
    from fa4dsl.runtime.simulator.copying import CopyGroups
    from fa4dsl.runtime.simulator.events import Checker
    from fa4dsl.runtime.simulator.fragments import Fragments
    from fa4dsl.runtime.simulator.grid import Grid
    from fa4dsl.runtime.simulator.mbarrier import Mbarriers
    from fa4dsl.runtime.simulator.measures import Measures
    from fa4dsl.runtime.simulator.memory import Memory
    from fa4dsl.runtime.simulator.program import Program
    from fa4dsl.runtime.simulator.registers import RegisterPool
    from fa4dsl.runtime.simulator.schedule import Schedule
    from fa4dsl.runtime.simulator.selection import Ints, Row
    from fa4dsl.runtime.simulator.trace import Trace
    from fa4dsl.runtime.simulator.undefined import UndefinedReads
    from fa4dsl.runtime.simulator.waiting import Hang

    Others = Sequence[tuple[Instruction, str]]

SPAN = 1 << 20
BLOCKED = 1 << 60
EXITED = 1 << 61
PROGRESS_TURNS = 64
SPURIOUS_ROUNDS = 64
"""How often suspended waits are woken with false before a standstill is called a deadlock."""
IDLE_ROUNDS = 20_000
CYCLE_ROUNDS, CYCLE_BYTES = 61, 1 << 24
"""How often their state is compared with what it was (rarely a multiple of a loop's length), and up to how much local memory."""
PATIENCE = 64
"""After how many rounds without a change a program that reads a clock finds that much time has passed: what waits for a time goes on."""
LONGEST_PAUSE = 36
"""Binary logarithm of the nanoseconds that pass in such a round at most."""
IDLE_STEPS = 2_000_000
"""Turns, and runs of instructions, in which polling threads change nothing before it is called a livelock."""


class Stopped(Exception):
    """The grid ended with a fault."""


class Machine:
    """State of a running launch. `program` is filled by the decoder, which needs the machine's rows."""

    SPAN, BLOCKED, EXITED = SPAN, BLOCKED, EXITED
    program: Program
    barriers: Barriers
    mbarriers: Mbarriers
    asynchronous: Asynchronous

    def __init__(
        self, grid: Grid, memory: Memory, schedule: Schedule, checker: Checker | None, measures: Measures | None, step_limit: int
    ) -> None:
        self.grid = grid
        self.memory = memory
        self.schedule = schedule
        self.checker = checker
        self.measures = measures
        self.trace: Trace | None = None
        self.step_limit = step_limit
        self.key: Ints = np.zeros(grid.width, np.int64)
        self.resume: Ints = np.zeros(grid.width, np.int64)
        """Where a blocked thread stands."""
        self.rendezvous_at: Ints = np.zeros(grid.width, np.int64)
        """Program counter + 1 of the collective instruction a thread waits in for others of its warp; 0 = none."""
        self.live_lanes = np.zeros(grid.width // 32, np.uint32)
        self.steps = 0
        self.instructions_run = 0
        self.epoch = 0
        self.polled = False
        self.disturbed = False
        self.progress_marks = 0
        """Grows with every change that others can see; a long time without is a livelock."""
        self.spurious: np.ndarray[Any, np.dtype[np.bool_]] = np.zeros(grid.width, np.bool_)
        """Threads whose suspended try_wait is woken with false."""
        self.findings: list[Diagnostic] = []
        self.reported: set[tuple[object, ...]] = set()
        self.wave_hooks: list[Callable[[], None]] = []
        self.exit_hooks: list[Callable[[Ints], None]] = []
        self.call_stack: object = None
        self.stack_pointer: Ints | None = None
        self.heap: object = None
        self.output = Output()
        self.undefined: UndefinedReads | None = None
        self.exits: list[Instruction] = []
        """Instructions by which threads have exited, and by thread which of them."""
        self.exit_of: Ints = np.zeros(grid.width, np.int64)
        self.workspace = 0
        """Address of the cooperative launch's workspace; 0 where the kernel does not ask for it."""
        self.products: object = None
        self.fragments: Fragments | None = None
        self.copy_groups: CopyGroups | None = None
        self.pool: RegisterPool
        self.hang: Hang | None = None
        self.progress: Callable[[float], None] | None = None
        self.marks_at_stuck, self.stuck_rounds = -1, 0
        self.marks_at_poll, self.idle_rounds, self.steps_at_poll = -1, 0, 0
        self.rows: Callable[[], Iterable[Row]] = tuple
        """The registers of all functions that hold no time."""
        self.timed = False
        """Whether the program reads a clock."""
        self.standstill: Hang | None = None
        """How things stood when time was last let pass because nothing else happened, as long as nothing else has."""
        self.polled_states: set[bytes] = set()
        self.clock = 0
        self.slept = 0
        """Nanoseconds of nanosleep so far."""

    # -- telling the user

    def location(self, site: Instruction) -> Location:
        if site.place is not None:
            return Location(site.place.file, site.place.line, site.place.column)
        return Location(self.program.name, site.ptx_line)

    def line(self, site: Instruction) -> str:
        """ "line N", for messages."""
        return line_words(site)

    def finding(self, code: str, site: Instruction, others: Others = (), label: str = "", hint: str = "", **fields: Any) -> Diagnostic:
        """`others`: further instructions that take part, each with what it does; `label`: what `site` does; `hint`: a further note."""
        frames: list[Frame] = []
        for part, words in ((site, label), *others):
            frames += [
                frame for frame in source_frames(part, words, self.program.name) if all(frame.location != old.location for old in frames)
            ]
        return diagnostic(code, *frames, notes=(f"PTX line {site.ptx_line}: {site.mnemonic}", *([hint] if hint else ())), **fields)

    def fault(self, code: str, site: Instruction, thread: int, **fields: Any) -> NoReturn:
        """Ends the run with a catalogue error at `site`."""
        raise Fa4dslError(self.finding(code, site, mnemonic=site.mnemonic, thread=self.grid.describe(thread), **fields))

    def note(self, code: str, site: Instruction, thread: int, **fields: Any) -> None:
        """A finding that does not end the run; one for each code and the source lines that take part."""
        key = (code, outermost(site), *(outermost(other) for other, _ in fields.get("others", ())))
        if key not in self.reported:
            self.reported.add(key)
            self.findings.append(self.finding(code, site, mnemonic=site.mnemonic, thread=self.grid.describe(thread), **fields))

    # -- blocking and waking

    def block(self, threads: Selection, pc: int) -> None:
        """`threads` wait in the instruction at `pc`; whoever wakes them decides whether they repeat it or go on behind it."""
        self.key[threads] = BLOCKED
        self.resume[threads] = pc
        if self.trace is not None:
            self.trace.blocked(threads, pc)

    def wake(self, threads: Selection, advance: int = 0) -> None:
        """Lets blocked `threads` run again at (`advance` 0) or behind (1) their instruction."""
        self.key[threads] = self.resume[threads] + advance
        if self.trace is not None:
            self.trace.woken(threads)
        self.disturbed = True

    def rendezvous(self, site: Instruction, threads: Selection, pc: int, mask: Row | None) -> Selection | None:
        """Those lanes whose partners of `mask` (None: all live lanes of the warp) stand at `pc` too; the others block."""
        if mask is None and isinstance(threads, slice) and not (threads.start | threads.stop) & 31:
            return threads
        numbers = self.grid.arange[threads]
        self.rendezvous_at[threads] = pc + 1
        warps = np.unique(numbers >> 5)
        lanes = (self.rendezvous_at.reshape(-1, 32)[warps] == pc + 1) @ (np.int64(1) << np.arange(32, dtype=np.int64))
        live = self.live_lanes[warps].astype(np.int64)
        if mask is None:
            complete = warps[(live & ~lanes) == 0]
            if len(complete) == len(warps):
                ready: Ints = (complete[:, None] * 32 + np.arange(32)).reshape(-1)
                ready = ready[self.rendezvous_at[ready] == pc + 1]
            else:
                ready = (complete[:, None] * 32 + np.arange(32)).reshape(-1)
                ready = ready[self.rendezvous_at[ready] == pc + 1]
        else:
            where = np.zeros(self.grid.width // 32, np.int64)
            where[warps] = np.arange(len(warps))
            candidates: Ints = (warps[:, None] * 32 + np.arange(32)).reshape(-1)
            candidates = candidates[self.rendezvous_at[candidates] == pc + 1]
            index = where[candidates >> 5]
            wanted = mask[candidates].astype(np.int64)
            own = (wanted >> (candidates & 31)) & 1
            if not own.all():
                bad = int(candidates[own == 0][0])
                self.fault(
                    "S018",
                    site,
                    bad,
                    what=f"the lane is not in its own member mask {int(mask[bad]):#010x}",
                    how="put every lane that executes the instruction into the mask",
                )
            ready = candidates[(wanted & live[index] & ~lanes[index]) == 0]
        self.rendezvous_at[ready] = 0
        if len(ready) < len(numbers) or not len(ready):
            waiting = numbers[self.rendezvous_at[numbers] == pc + 1]
            if len(waiting):
                self.block(waiting, pc)
        return compact(ready) if len(ready) else None

    # -- life

    def start_wave(self) -> None:
        """Puts all threads of the wave at the entry."""
        grid = self.grid
        live = grid.exists & (grid.cluster_in_wave < grid.live_clusters)
        self.key[:] = np.where(live, self.program.entry, EXITED)
        self.rendezvous_at[:] = 0
        self.live_lanes[:] = (live.reshape(-1, 32) @ (np.uint64(1) << np.arange(32, dtype=np.uint64))).astype(np.uint32)
        self.memory.reset_wave()
        for hook in self.wave_hooks:
            hook()
        if self.checker is not None:
            self.checker.wave_start(grid.first_cta, grid.live_clusters * grid.cluster_size)

    def exit(self, site: Instruction, threads: Selection) -> None:
        """`threads` end."""
        numbers = self.grid.arange[threads]
        self.key[threads] = EXITED
        if not self.exits or self.exits[-1] is not site:
            self.exits.append(site)
        self.exit_of[threads] = len(self.exits) - 1
        gone = np.zeros(len(self.live_lanes), np.uint64)
        np.bitwise_or.at(gone, numbers >> 5, np.uint64(1) << (numbers & 31).astype(np.uint64))
        self.live_lanes &= ~gone.astype(np.uint32)
        self.progress_marks += 1
        if self.checker is not None:
            self.checker.thread_exit(site, self.grid.event_thread[threads])
        # lanes that wait for one of these in a collective instruction look again
        warps = np.unique(numbers >> 5)
        waiting = (warps[:, None] * 32 + np.arange(32)).reshape(-1)
        waiting = waiting[(self.rendezvous_at[waiting] != 0) & (self.key[waiting] == BLOCKED)]
        if len(waiting):
            self.wake(waiting)
        for hook in self.exit_hooks:
            hook(numbers)

    # -- running

    def run_wave(self) -> None:
        """Runs until all threads of the wave have ended. Raises `Fa4dslError` for a fault; `Stopped` once a hang is in `hang`."""
        schedule = self.schedule
        turns = 0
        with np.errstate(all="ignore"):
            while True:
                turn = schedule.pick(self)
                if turn is None:
                    return
                self.take_turn(*turn)
                turns += 1
                if self.progress is not None and turns % PROGRESS_TURNS == 0:
                    self.progress(self.done_part())
                if self.steps >= self.step_limit:
                    self.give_up("step limit")

    def done_part(self) -> float:
        """The part of the grid's threads that have ended."""
        grid = self.grid
        whole = grid.clusters * grid.cluster_size * grid.threads_per_cta
        wave = np.count_nonzero((self.key == EXITED) & grid.exists & (grid.cluster_in_wave < grid.live_clusters))
        return float(grid.first_cta * grid.threads_per_cta + wave) / whole

    def take_turn(self, threads: Selection, pc: int, others: int, chain: bool) -> None:
        """Runs `threads` from `pc`. With `chain`, goes on over control instructions while their target stays below `others`, the lowest key of all other threads."""
        runs = self.program.runs
        self.disturbed = False
        back_edges = 0
        while True:
            steps, end, control = runs[pc]
            if self.measures is not None:
                count = len(steps) + (control is not None)
                self.measures.ran(threads, pc, count)
                if self.trace is not None:
                    self.trace.turn(threads, pc, count)
            for step in steps:
                step(threads)
            self.steps += 1
            self.instructions_run += len(steps) + 1
            following = end if control is None else control(threads, end)
            if following is None:
                return
            if following <= end and control is not None:
                back_edges += 1
                if self.polled or back_edges > 4096:
                    self.polled = False
                    self.epoch += 1
                    self.key[threads] = following + self.epoch * SPAN
                    return
            if not chain or self.disturbed or following >= others or self.steps >= self.step_limit:
                self.key[threads] = following
                return
            pc = following

    # -- nothing runs

    def stuck(self) -> bool:
        """Nobody can run and nothing is in flight: wakes suspended try_waits with false a few times, in case the program counts its attempts; then it is a hang."""
        table = self.mbarriers
        polling = np.flatnonzero((self.key == BLOCKED) & (table.wait_address >= 0) & (self.rendezvous_at == 0) & self._at_try_wait())
        if self.progress_marks != self.marks_at_stuck:
            self.marks_at_stuck, self.stuck_rounds = self.progress_marks, 0
        self.stuck_rounds += 1
        if len(polling) and self.stuck_rounds <= SPURIOUS_ROUNDS:
            self.spurious[polling] = True
            self.wake(polling)
            return True
        return self.give_up("deadlock")

    def _at_try_wait(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        sites = self.program.sites
        waits = np.array([site.name == "mbarrier" for site in sites], np.bool_)
        found: np.ndarray[Any, np.dtype[np.bool_]] = waits[np.where(self.key == BLOCKED, self.resume, 0)]
        return found

    def idle_round(self, lowest: int) -> bool:
        """All that can run are polling: lets one copy land (schedules that hold copies back), and watches for a livelock. True if something changed."""
        if self.progress_marks != self.marks_at_poll:
            self.marks_at_poll, self.idle_rounds, self.steps_at_poll = self.progress_marks, 0, self.steps
            self.standstill = None
        self.idle_rounds += 1
        if not self.schedule.immediate and self.asynchronous.pending:
            return self.asynchronous.advance_late()
        if self.idle_rounds > IDLE_ROUNDS or self.steps - self.steps_at_poll > IDLE_STEPS or self._goes_round():
            self.give_up("livelock")
        if self.timed and self.idle_rounds >= PATIENCE:
            if self.idle_rounds < 4 * PATIENCE or self.idle_rounds % PATIENCE == 0:
                self.standstill = self._picture("livelock")
            self.slept += 1 << min(self.idle_rounds - PATIENCE, LONGEST_PAUSE)
        return False

    def given_up(self) -> None:
        """The program ends itself. Where it does because nothing has happened for long, what it waited for says more."""
        if self.standstill is not None and self.marks_at_poll == self.progress_marks:
            self.hang = self.standstill
            raise Stopped

    def _goes_round(self) -> bool:
        """Whether the polling threads have been in exactly this state before, with no change in between: they will for ever."""
        if self.idle_rounds == 1:
            self.polled_states.clear()
        if self.timed and self.idle_rounds < PATIENCE + LONGEST_PAUSE:
            return False
        if self.idle_rounds % CYCLE_ROUNDS or self.memory.local_bytes * self.grid.width > CYCLE_BYTES:
            return False
        live = self.key != EXITED
        state = hashlib.blake2b((self.key[live] % SPAN).tobytes(), digest_size=16)
        for row in self.rows():
            state.update(row[live].tobytes())
        state.update(self.memory.local.bytes.tobytes())
        seen = state.digest() in self.polled_states
        self.polled_states.add(state.digest())
        return seen

    def give_up(self, reason: Literal["deadlock", "livelock", "step limit"]) -> NoReturn:
        """Ends the run with the picture of who waits for what."""
        self.hang = self._picture(reason)
        raise Stopped

    def _picture(self, reason: Literal["deadlock", "livelock", "step limit"]) -> Hang:
        from fa4dsl.runtime.simulator.picture import picture

        return picture(self, reason)

    def split(self, threads: Selection, mask: np.ndarray[Any, np.dtype[np.bool_]], taken: int, otherwise: int) -> None:
        """A divergent branch."""
        self.key[threads] = np.where(mask, taken, otherwise)


__all__ = ["BLOCKED", "EXITED", "SPAN", "Machine", "Stopped", "first", "narrow", "size", "union"]
