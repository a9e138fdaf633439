"""Where the program can still go: whether an instruction may follow another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from fa4dsl.runtime.ptx.instruction import Instruction

ENDS = ("ret", "exit", "trap")
JUMPS = ("bra", "brx")


class Flow:
    """The control flow of a decoded program: `sites` by program counter, `jumps` from branches to the counters they may lead to."""

    def __init__(self, sites: Sequence[Instruction] = (), jumps: Mapping[Instruction, Sequence[int]] | None = None) -> None:
        self.sites = sites
        self.jumps = jumps or {}
        self.counters = {site: counter for counter, site in enumerate(sites)}
        self.calls = any(site.name == "call" for site in sites)

    def after(self, counter: int) -> list[int] | None:
        """Where threads may be after an instruction; None where that is not known (they call a function, or return from one)."""
        site = self.sites[counter]
        if site.name == "call" or (site.name == "ret" and self.calls):
            return None
        found = list(self.jumps.get(site, ()))
        if site.guard is not None or site.name not in (*ENDS, *JUMPS):
            found.append(counter + 1)
        return [target for target in found if target < len(self.sites)]

    def copies(self, sites: Collection[Instruction]) -> set[Instruction]:
        """These instructions and all that the compiler may have made of the same source: equal in mnemonic and line, where lines are known."""
        kinds = {(site.mnemonic, _line(site)) for site in sites}
        loose = {mnemonic for mnemonic, line in kinds if line is None}
        named = {mnemonic for mnemonic, _ in kinds}
        return {
            site
            for site in self.sites
            if (site.mnemonic, _line(site)) in kinds or site.mnemonic in (named if site.place is None else loose)
        }

    def may_reach(self, site: Instruction, targets: Collection[Instruction]) -> bool:
        """Whether a thread that goes on from `site` may come to one of `targets`; yes where it is not known."""
        start = self.counters.get(site)
        if start is None or any(target not in self.counters for target in targets):
            return True
        wanted = {self.counters[target] for target in targets}
        seen: set[int] = set()
        queue = [start]
        while queue:
            following = self.after(queue.pop())
            if following is None:
                return True
            for counter in following:
                if counter in wanted:
                    return True
                if counter not in seen:
                    seen.add(counter)
                    queue.append(counter)
        return False


def _line(site: Instruction) -> tuple[str, int] | None:
    return None if site.place is None else (site.place.file, site.place.line)
