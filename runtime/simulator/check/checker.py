"""The happens-before checker: implements the hooks of `fa4dsl.runtime.simulator.events.Checker`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fa4dsl.runtime.simulator.check import together
from fa4dsl.runtime.simulator.check.async_events import AsynchronousEvents
from fa4dsl.runtime.simulator.check.findings import build
from fa4dsl.runtime.simulator.check.flow import Flow
from fa4dsl.runtime.simulator.check.sync import Step
from fa4dsl.runtime.simulator.check.token import Knowledge, ReleaseToken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.events import Order, Scope, Token

    Ints = npt.NDArray[Any]


class HappensBefore(AsynchronousEvents):
    """One checker for one launch.

    `strict` makes every review an error. `naming` supplies words for the reports; without it threads and addresses stay numbers.
    After `finish` the results stand in `findings` and `not_modelled`.
    """

    flow = Flow()

    def set_program(self, instructions: Sequence[Instruction], jumps: Mapping[Instruction, Sequence[int]] | None = None) -> None:
        """All instructions of the kernel, and where its branches lead: lets a report name a fence that the run did not reach, or an arrival that
        nobody can reach any more."""
        self.flow = Flow(instructions, jumps)
        self.causes.program = instructions
        self.barriers.set_program(instructions)

    # -- synchronisation
    def release(self, site: Instruction, threads: Ints, scope: Scope, order: Order = "release") -> Token:
        return self.sync.release(site, threads, scope, order)

    def split(self, token: Token, threads: Ints) -> Token:
        if not isinstance(token, ReleaseToken) or token.relaxed:
            return token
        return self.clocks.select(token, np.isin(token.threads, threads))

    def join(self, site: Instruction, threads: Ints, tokens: Iterable[Token], scope: Scope, order: Order = "acquire") -> None:
        known: list[Knowledge] = list(tokens)  # type: ignore[arg-type]
        if site.name == "mbarrier":
            self.causes.waited[threads] = self._site(site) + 1
            for token in known:
                if isinstance(token, ReleaseToken):
                    self.peers.observed(threads, token)
            if self.multicasts:
                # A barrier tells of the bytes that landed in its own CTA only.
                cta = int(self.of.cta[threads[0]])
                known = [self.multicasts.get((token.serial, cta), token) for token in known]
        self.sync.join(site, threads, known, scope, order)

    def ignored_wait(self, site: Instruction, threads: Ints) -> None:
        self.causes.ignored.update(dict.fromkeys(threads.tolist(), site))

    def release_each(self, site: Instruction, parts: Sequence[Ints], scope: Scope, order: Order = "release") -> list[Token]:
        return list(self.sync.release_each(site, parts, scope, order))

    def join_each(self, site: Instruction, parts: Sequence[tuple[Ints, Sequence[Token]]], scope: Scope, order: Order = "acquire") -> None:
        if self.multicasts or self.of.cluster_size > 1 or len(parts) < 2:
            for threads, tokens in parts:
                self.join(site, threads, tokens, scope, order)
            return
        self.causes.waited[np.concatenate([threads for threads, _ in parts])] = self._site(site) + 1
        self.sync.join_each(site, parts, scope, order)  # type: ignore[arg-type]

    def fence(self, site: Instruction, threads: Ints, order: Order, scope: Scope) -> None:
        self.sync.fence(site, threads, order, scope)

    def meet_blocks(self, site: Instruction, first_cta: int, ctas: int, barrier: int) -> bool:
        """All threads of CTAs meet at a barrier of their CTA, each at its own: `release`, `named_phase` and `join` in one. False, with nothing done,
        where that has to be done CTA by CTA."""
        per_cta = self.of.per_cta
        phases = [(cta, barrier) for cta in range(first_cta, first_cta + ctas)]
        for phase in phases:
            before = self.named_phases.get(phase)
            if before and not isinstance(before, Step) and not (len(before) == 1 and len(before[0].threads) == per_cta):
                return False
        first = first_cta * per_cta
        epochs = together.meet(self.clocks, first, ctas)
        if epochs is None:
            return False
        step = Step(site, "arrive", np.arange(first, first + ctas * per_cta), epochs.reshape(-1), ctas)
        self.sync.steps.append(step)
        self.named_phases.update(dict.fromkeys(phases, step))
        return True

    def named_phase(self, site: Instruction, cta: int, barrier: int, tokens: Sequence[Token]) -> None:
        """Two groups that share an id must be ordered: otherwise a warp of one may complete the other's phase."""
        arrived = [token for token in tokens if isinstance(token, ReleaseToken)]
        last = self.named_phases.get((cta, barrier))
        self.named_phases[cta, barrier] = arrived
        if not last:
            return
        before = [last.of_cta(cta, self.of.per_cta)] if isinstance(last, Step) else last
        old = {int(warp) for token in before for warp in np.unique(self.of.warp[token.threads])}
        cluster = cta // self.of.cluster_size
        for token in arrived:
            for warp in np.unique(self.of.warp[token.threads]).tolist():
                if warp in old:
                    continue
                mine = self.clocks.select(token, self.of.warp[token.threads] == warp)
                if any(mine.knows(cluster, int(self.of.column[other.threads[0]]), int(other.epochs[0])) for other in before):
                    continue
                name = self.naming.named_barriers.get(barrier, str(barrier))
                others = sorted(thread for other in before for thread in other.threads.tolist())
                frames = [
                    *self.naming.frames(token.site, f"one group: {self.naming.crowd(sorted(mine.threads.tolist()))}"),
                    *self.naming.frames(before[0].site, f"the other: {self.naming.crowd(others)}"),
                ]
                self.findings.add(("S041", barrier), build("S041", frames, barrier=name, line=self.naming.line(token.site)))
                return

    def unconsumed(self, site: Instruction, threads: Ints, address: int, phase: int) -> None:
        frames = [*self.naming.frames(site, f"arrives on phase {phase + 1}: {self.naming.crowd(sorted(threads.tolist()))}")]
        for other in self.barriers.arrivals_before(address, site):
            frames += self.naming.frames(other, "arrives on it as well")
        known = self.barriers.objects.get(address)
        if known is not None:
            frames += self.naming.frames(known.site, "initialised here, with the count of a phase")
        fields: dict[str, Any] = {
            "barrier": self.naming.barrier(address),
            "line": self.naming.line(site),
            "phase": phase,
            "following": phase + 1,
        }
        self.findings.add(("S040", site.ptx_line), build("S040", frames, **fields))

    def proxy_fence(self, site: Instruction, threads: Ints, space: Literal["shared::cta", "shared::cluster", "global", "all"]) -> None:
        self.causes.executed.add(site.ptx_line)
        self.sync.steps.append(Step(site, "proxy fence", threads, self.clocks.epoch[threads]))
        self.clocks.bridge_fence(threads, space)

    def tensormap_fence(self, site: Instruction, threads: Ints, order: Order, scope: Scope, addresses: Ints | None) -> None:
        """fence.proxy.tensormap::generic: "release" after a map was changed, "acquire" of the map at each address (global) before it is used."""
        token = self.sync.fence(site, threads, order, scope)
        if token is not None:
            self.tensor_maps.released.append(token)
        if addresses is not None and order == "acquire":
            self.tensor_maps.acquire(threads, addresses)

    def init_fence(self, site: Instruction, threads: Ints) -> None:
        self.sync.init_fence(site, threads)

    def warp_sync(self, site: Instruction, groups: Sequence[Ints] | Ints) -> None:
        for group in [groups.reshape(-1)] if isinstance(groups, np.ndarray) else groups:
            self.sync.steps.append(Step(site, "warp", group, self.clocks.epoch[group]))
        self.clocks.warp_sync(groups)

    # -- what only the machine sees
    def note(self, code: str, site: Instruction, threads: Ints, **fields: Any) -> None:
        words = self.naming.crowd([int(thread) for thread in np.asarray(threads).reshape(-1)[:1024]])
        frames = self.naming.frames(site, words)
        self.findings.add(
            (code, site.ptx_line),
            build(code, frames, **{"mnemonic": site.mnemonic, "thread": words, "line": self.naming.line(site), **fields}),
        )

    def incomplete(self, site: Instruction, reason: str) -> None:
        self.not_modelled.setdefault(reason, site)

    # -- life
    def thread_exit(self, site: Instruction, threads: Ints) -> None:
        self.peers.exit(site, threads)

    def finish(self) -> None:
        if self.finished:
            return
        self.finished = True
        self.barriers.finish()
        self.tiles.finish()
        self.duplicates.finish()
        for place in self.peers.finish(self.operations, self.causes.told, self.causes.racing):
            self.causes.drop_consequences(place)
