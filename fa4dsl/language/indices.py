"""Where a thread is: `thread`, `lane`, `warp`, `block`, `grid`, `cluster`. All indices are i32, from 0."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from fa4dsl.frontend.arguments import between, one_of, whole
from fa4dsl.frontend.arithmetic import compare
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, as_value, constant, is_number
from fa4dsl.language.blocks import ConditionalBlock
from fa4dsl.types import i32

Axis = Annotated[Literal["x", "y", "z"], one_of("x", "y", "z", code="L047")]
_AXES = ("x", "y", "z")


def special(what: str) -> i32:
    """A special register of the table's `index` operation."""
    return cast("i32", Value(current().fa4("index", [], {"what": what}).result, i32, nonnegative=True))


def _axis(axis: Any) -> str:
    return str(axis)


def _only(index: Any, number: Any, words: str) -> ConditionalBlock:
    wanted = constant(number, i32) if is_number(number) else as_value(number, i32)
    return ConditionalBlock(lambda: compare("==", index, wanted), words)


class Thread:
    """The threads of a CTA."""

    def index(self, axis: Axis = "x") -> i32:
        """This thread's index in the CTA along `axis`: %tid."""
        return special(f"thread.{_axis(axis)}")

    def count(self) -> int:
        """Threads of a CTA, known at compile time."""
        return current().threads

    def __call__(self, number: Annotated[int | Value, whole(0, 1023)]) -> ConditionalBlock:
        """``with thread(0):`` only that thread executes the block."""
        return _only(self.index(), number, f"`with thread({number if is_number(number) else '...'})`")


class Lane:
    """The lanes of a warp."""

    def index(self) -> i32:
        """This thread's lane, 0..31: %laneid."""
        return special("lane")


class Warp:
    """The warps of a CTA."""

    def index(self) -> i32:
        """This thread's warp, thread / 32; the same register in all lanes, so branches on it do not diverge."""
        return special("warp")

    def sync(self, mask: Annotated[int, between(1, 0xFFFFFFFF)] = 0xFFFFFFFF) -> None:
        """The lanes of `mask` meet, and see each other's earlier accesses: bar.warp.sync."""
        signed = mask - (1 << 32) if mask >= 1 << 31 else mask
        current().fa4("warp_sync", [constant(signed, i32).ir])

    def __call__(self, number: Annotated[int | Value, whole(0, 31)]) -> ConditionalBlock:
        """``with warp(0):`` only that warp of the CTA executes the block."""
        return _only(self.index(), number, f"`with warp({number if is_number(number) else '...'})`")


class Block:
    """The CTA."""

    def index(self, axis: Axis = "x") -> i32:
        """This CTA's index in the grid along `axis`: %ctaid."""
        return special(f"block.{_axis(axis)}")

    def dim(self, axis: Axis = "x") -> int:
        """Threads of a CTA along `axis`, known at compile time."""
        return current().block[_AXES.index(_axis(axis))]

    def sync(self) -> None:
        """All threads of the CTA meet, and see each other's earlier accesses: bar.sync 0. Executed by all threads of the CTA."""
        trace = current()
        if trace.role is not None:
            trace.fail("L051", what="block.sync()", role=trace.role.name)
        trace.fa4("block_sync")


class Grid:
    """The grid."""

    def dim(self, axis: Axis = "x") -> i32:
        """CTAs of the grid along `axis`: %nctaid."""
        return special(f"grid_dim.{_axis(axis)}")


class Cluster:
    """The CTAs that share distributed shared memory and a barrier."""

    def rank(self) -> i32:
        """This CTA's rank in its cluster: %cluster_ctarank."""
        return special("cluster.rank")

    def size(self) -> int:
        """CTAs of a cluster, known at compile time."""
        x, y, z = current().cluster
        return x * y * z

    def index(self, axis: Axis = "x") -> i32:
        """This cluster's index in the grid along `axis`: %clusterid."""
        return special(f"cluster_id.{_axis(axis)}")

    def block_index(self, axis: Axis = "x") -> i32:
        """This CTA's index in its cluster along `axis`: %cluster_ctaid."""
        return special(f"cluster_block.{_axis(axis)}")

    def sync(self) -> None:
        """All threads of the cluster meet, and see each other's earlier accesses: barrier.cluster.arrive.release, then wait.acquire."""
        self.arrive()
        self.wait()

    def arrive(self, order: Literal["release", "relaxed"] = "release") -> None:
        """Arrives at the cluster barrier without waiting; `wait` must follow. Executed by all threads of the cluster."""
        trace = current()
        if trace.role is not None:
            trace.fail("L051", what="the cluster barrier", role=trace.role.name)
        trace.fa4("cluster_arrive", [], {"order": order})

    def wait(self) -> None:
        """Waits until all threads of the cluster have arrived: barrier.cluster.wait.acquire."""
        current().fa4("cluster_wait", [], {"order": "acquire"})


thread, lane, warp, block, grid, cluster = Thread(), Lane(), Warp(), Block(), Grid(), Cluster()
