"""Drives the checker by hand: a few lines of events stand for a kernel. Every call makes an instruction at a line of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Instruction, SourcePlace
from fa4dsl.runtime.simulator.check.checker import HappensBefore
from fa4dsl.runtime.simulator.events import Geometry, Range

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.events import Token

STRIDE = 1 << 16
TILE, BAR, OTHER = 0, 4096, 8192


class Drive:
    def __init__(self, ctas: int = 1, threads: int = 64, strict: bool = False) -> None:
        self.per = threads
        self.check = HappensBefore(Geometry(ctas, threads, ctas, STRIDE, STRIDE, 1 << 20), strict=strict)
        self.last = 0
        self.named: dict[int, Instruction] = {}

    def site(self, mnemonic: str, line: int | None = None) -> Instruction:
        self.last = line or self.last + 1
        if self.last not in self.named:
            self.named[self.last] = Instruction(mnemonic, (), None, False, self.last, SourcePlace("k.cu", self.last))
        return self.named[self.last]

    def threads(self, cta: int = 0, lanes: Any = None) -> np.ndarray[Any, Any]:
        return cta * self.per + np.asarray(range(self.per) if lanes is None else lanes, np.int64)

    def memory(
        self, mnemonic: str, access: str, lanes: Any = None, cta: int = 0, target: int | None = None, base: int = TILE, **words: Any
    ) -> int:
        """Each thread its own word of `base` in CTA `target` (default own); `word` moves all to one word."""
        threads = self.threads(cta, lanes)
        where = cta if target is None else target
        word = words.pop("word", None)
        index = threads % self.per if word is None else np.full(len(threads), word)
        addresses = where * STRIDE + base + 4 * index
        site = self.site(mnemonic, words.pop("line", None))
        self.check.access(
            site,
            threads,
            words.pop("space", "shared"),
            addresses,
            4,
            access,
            words.pop("order", "weak"),
            words.pop("scope", "cta"),
            target is not None,
            **words,
        )
        return self.last

    def st(self, *arguments: Any, **words: Any) -> int:
        return self.memory("st.shared.u32", "write", *arguments, **words)

    def ld(self, *arguments: Any, **words: Any) -> int:
        return self.memory("ld.shared.u32", "read", *arguments, **words)

    def bar(self, lanes: Any = None, cta: int = 0) -> None:
        site = self.site("bar.sync")
        token = self.check.release(site, self.threads(cta, lanes), "cta")
        self.check.join(site, self.threads(cta, lanes), [token], "cta")

    def cluster(self, ctas: int, order: str = "release") -> None:
        tokens = []
        arrive = self.site(f"barrier.cluster.arrive.{order}")
        wait = self.site("barrier.cluster.wait.acquire")
        for cta in range(ctas):
            tokens.append(self.check.release(arrive, self.threads(cta), "cluster", order))
        for cta in range(ctas):
            self.check.join(wait, self.threads(cta), tokens, "cluster")

    def init(self, lanes: Any = (0,), cta: int = 0) -> None:
        self.barrier("init", lanes, cta)

    def barrier(self, operation: str, lanes: Any = (0,), cta: int = 0, target: int | None = None) -> Instruction:
        site = self.site(f"mbarrier.{operation}.b64")
        threads = self.threads(cta, lanes)
        where = cta if target is None else target
        self.check.mbarrier_access(site, threads, np.full(len(threads), where * STRIDE + BAR), operation, target is not None)
        return site

    def arrive(self, lanes: Any = (0,), cta: int = 0, scope: str = "cta", target: int | None = None, order: str = "release") -> Token:
        site = self.barrier("arrive", lanes, cta, target)
        return self.check.release(site, self.threads(cta, lanes), scope, order)

    def wait(self, tokens: list[Token], lanes: Any = None, cta: int = 0, scope: str = "cta", order: str = "acquire") -> None:
        site = self.barrier("try_wait", range(self.per) if lanes is None else lanes, cta)
        self.check.join(site, self.threads(cta, lanes), tokens, scope, order)

    def proxy_fence(self, lanes: Any = None, space: str = "shared::cta", cta: int = 0) -> None:
        self.check.proxy_fence(self.site(f"fence.proxy.async.{space}"), self.threads(cta, lanes), space)

    def tile(self, cta: int = 0, base: int = TILE) -> Range:
        return Range("shared", np.array([cta * STRIDE + base], np.int64), 4 * self.per)

    def out(self, length: int | None = None) -> Range:
        return Range("global", np.array([0], np.int64), length or 4 * self.per)

    def load(self, cta: int = 0, targets: tuple[int, ...] | None = None, thread: int = 0) -> int:
        writes = [self.tile(target) for target in (targets or (cta,))]
        return self.check.async_begin(
            self.site("cp.async.bulk.shared::cluster.global"), cta * self.per + thread, "bulk_load", [self.out()], writes
        )

    def store(self, thread: int = 0, cta: int = 0) -> int:
        return self.check.async_begin(
            self.site("cp.async.bulk.global.shared::cta"), cta * self.per + thread, "bulk_store", [self.tile(cta)], [self.out()]
        )

    def group_wait(self, operation: int, lanes: Any = (0,), read: bool = False) -> None:
        self.check.async_waited(self.site("cp.async.bulk.wait_group"), self.threads(0, lanes), [operation], read)

    def end(self, ctas: int = 1) -> list[str]:
        """Ends the grid; codes of the findings, without repetition."""
        for cta in range(ctas):
            self.check.thread_exit(self.site("ret"), self.threads(cta))
        self.check.finish()
        return self.codes()

    def codes(self) -> list[str]:
        return sorted({finding.diagnostic.code for finding in self.check.findings.listed()})
