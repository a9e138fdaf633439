"""One execution of a synchronising operation by a set of threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fa4dsl.passes.checks.lanes import Mask
from fa4dsl.passes.checks.program import Node


@dataclass(eq=False)
class Event:
    """What happened, to which object, by whom. Numbers are one for all lanes or one for each lane."""

    kind: str
    """init, invalidate, arrive, wait, copy, touch, block, named, named_arrive, warp, cluster_arrive, cluster_wait, wgmma,
    wgmma_commit, wgmma_wait."""
    node: Node
    mask: Mask
    barrier: str = ""
    index: Any = 0
    rank: Any = None
    """The CTA whose memory is meant; None: the own one."""
    arrivals: int = 0
    """By each thread."""
    bytes: Any = 0
    """Expected by each thread (arrive), or moved to each destination (copy)."""
    parity: Any = 0
    multicast: Any = None
    """A copy's CTA mask."""
    array: str = ""
    offset: Any = None
    number: Any = 0
    """Of a named barrier; of wgmma groups that may stay pending."""
    threads: int = 0


@dataclass(frozen=True, eq=False)
class Doubt:
    """Why an object's protocol cannot be followed at compile time."""

    node: Node
    """The operation that could not be followed."""
    reason: str
    cause: Node | None = None
    """The condition or loop that only the run decides."""
