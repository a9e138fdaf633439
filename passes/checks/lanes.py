"""The threads of one cluster as numpy lanes: lane = rank * threads + thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from numpy.typing import NDArray

from fa4dsl.passes.kernel import KernelInfo
from fa4dsl.runtime.manifest import Role

Mask = NDArray[numpy.bool_]
Lanes = NDArray[numpy.int64]


@dataclass(eq=False)
class Launch:
    """The shape of a cluster: `ranks` CTAs of `threads` threads."""

    block: tuple[int, int, int]
    cluster: tuple[int, int, int]

    def __post_init__(self) -> None:
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.ranks = self.cluster[0] * self.cluster[1] * self.cluster[2]
        self.warps = -(-self.threads // 32)
        self.lanes = self.ranks * self.threads
        self.thread: Lanes = numpy.tile(numpy.arange(self.threads, dtype=numpy.int64), self.ranks)
        self.rank: Lanes = numpy.repeat(numpy.arange(self.ranks, dtype=numpy.int64), self.threads)
        self.warp: Lanes = self.thread // 32
        self.full: Mask = numpy.ones(self.lanes, dtype=numpy.bool_)

    @classmethod
    def of(cls, info: KernelInfo) -> Launch:
        return cls(info.block, info.cluster)

    def index(self, what: str) -> int | Lanes | None:
        """A special register's value, where the launch shape decides it."""
        name, _, axis = what.partition(".")
        position = "xyz".find(axis) if axis else 0
        if name == "thread":
            return _axis(self.thread, self.block, position)
        if name == "block_dim":
            return self.block[position]
        if what == "cluster.rank":
            return self.rank if self.ranks > 1 else 0
        if what == "cluster.size":
            return self.ranks
        if name == "cluster_block":
            return _axis(self.rank, self.cluster, position)
        if name == "lane":
            return self.thread % 32
        if name == "warp":
            return self.warp
        return None

    def role(self, role: Role) -> Mask:
        return (self.warp >= role.first_warp) & (self.warp < role.first_warp + role.warps)

    def first_of_warp(self, mask: Mask) -> Mask:
        """The lowest lane of `mask` in each warp."""
        key = self.rank * self.warps + self.warp
        chosen = numpy.flatnonzero(mask)
        elected = numpy.zeros(self.lanes, dtype=numpy.bool_)
        if len(chosen):
            _, first = numpy.unique(key[chosen], return_index=True)
            elected[chosen[first]] = True
        return elected

    def partial(self, mask: Mask, warps: int) -> tuple[int, int] | None:
        """(first warp, threads present) of the first group of `warps` warps that `mask` covers only in part, or None."""
        group = 32 * warps
        if mask.all():
            return None
        starts = numpy.arange(0, self.threads, group)
        sizes = numpy.minimum(group, self.threads - starts)
        present = numpy.add.reduceat(mask.reshape(self.ranks, self.threads), starts, axis=1, dtype=numpy.int64)
        short = numpy.argwhere((present != 0) & (present != sizes))
        if not len(short):
            return None
        rank, number = short[0]
        return int(starts[number]) // 32, int(present[rank, number])

    def words(self, mask: Mask, roles: Sequence[tuple[Role, Any]]) -> str:
        """Who a set of threads is, in the author's terms: "all 128 threads of role 'consumer'"."""
        ranks = numpy.unique(self.rank[mask])
        if not len(ranks):
            return "no thread"
        counts = [int(mask[rank * self.threads : (rank + 1) * self.threads].sum()) for rank in ranks]
        part = mask[ranks[0] * self.threads : (ranks[0] + 1) * self.threads]
        where = ""
        if self.ranks > 1:
            some = "CTA " if len(ranks) == 1 else "CTAs "
            where = " of every CTA" if len(ranks) == self.ranks else f" of {some}{', '.join(map(str, ranks.tolist()))}"
            if len(set(counts)) > 1:
                return f"{sum(counts)} threads of {len(ranks)} CTAs"
        threads = numpy.flatnonzero(part)
        count = len(threads)
        inside = next(
            (role for role, _ in roles if role.first_warp * 32 <= threads[0] and threads[-1] < (role.first_warp + role.warps) * 32), None
        )
        if count == self.threads:
            return f"all {count} threads{where}"
        size = inside.warps * 32 if inside else 0
        of = f" of role {inside.name!r}" if inside else ""
        if inside and count == size:
            return f"all {count} threads{of}{where}"
        if count == 1:
            return f"thread {int(threads[0])}{of}{where}"
        if int(threads[-1]) - int(threads[0]) + 1 == count:
            return f"threads {int(threads[0])} to {int(threads[-1])}{of}{where}"
        return f"{count} threads{of}{where}"


def _axis(linear: Lanes, sizes: tuple[int, int, int], axis: int) -> int | Lanes:
    if sizes[axis] == 1:
        return 0
    divisor = 1
    for size in sizes[:axis]:
        divisor *= size
    return (linear // divisor) % sizes[axis]
