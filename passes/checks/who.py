"""Checks that need one event alone: who executes it, and at which scope."""

from __future__ import annotations

import numpy

from fa4dsl.passes.checks.events import Event
from fa4dsl.passes.checks.findings import Findings
from fa4dsl.passes.checks.lanes import Launch, Mask
from fa4dsl.passes.checks.parties import Party
from fa4dsl.passes.checks.program import Node, Program
from fa4dsl.passes.checks.values import uniform

_WARPS = ("block", "named", "named_arrive", "cluster_arrive", "cluster_wait", "elect")
_WARPGROUPS = ("wgmma", "wgmma_commit", "wgmma_wait", "registers")


WHOLE_WARP = (-1, 0xFFFFFFFF)
"""A member mask of all lanes."""


def check_collectives(launch: Launch, collectives: dict[Node, list[Mask]], findings: Findings) -> None:
    """Shuffles, votes, matrix operations in a branch that splits a warp: all name the whole warp in their mask."""
    for node, masks in collectives.items():
        for mask in masks:
            part = launch.partial(mask, 1)
            if part is not None:
                name = node.name.removeprefix("fa4.")
                findings.add("C122", node, operation=name, group=f"warp {part[0]}", present=part[1], size=32)
                break


def check_events(program: Program, launch: Launch, events: list[Event], found: list[Party], findings: Findings) -> None:
    """Partial warps and warpgroups, copies issued by many threads, scopes too narrow for a cluster."""
    for event in events:
        if event.kind in _WARPS or event.kind in _WARPGROUPS or (event.kind == "warp" and uniform(event.number) in WHOLE_WARP):
            _whole(program, launch, event, findings)
            if event.kind == "elect":
                _elected(program, launch, event, findings)
        elif event.kind in ("copy", "store"):
            _one_thread(program, launch, event, findings)
    if launch.ranks > 1:
        _scopes(program, launch, events, found, findings)


def _whole(program: Program, launch: Launch, event: Event, findings: Findings) -> None:
    if event.mask is launch.full:
        return
    warps = 4 if event.kind in _WARPGROUPS else 1
    part = launch.partial(event.mask, warps)
    if part is not None:
        first, present = part
        group = f"warp {first}" if warps == 1 else f"the warpgroup of warps {first} to {first + 3}"
        name = event.node.name.removeprefix("fa4.")
        code = "C122" if warps == 1 else "C123"
        findings.add(code, event.node, operation=name, group=group, present=present, size=32 * warps)


def _elected(program: Program, launch: Launch, event: Event, findings: Findings) -> None:
    """The one warp whose lane is meant must come, and no leaders of other warpgroups that would wait to be meant too."""
    wanted = event.node.attribute("warp", None)
    if wanted is None or event.mask is launch.full:
        return
    role = next((role for role, _ in program.roles if role.first_warp <= wanted < role.first_warp + role.warps), None)
    everyone = set(range(role.first_warp, role.first_warp + role.warps)) if role is not None else set(range(launch.warps))
    for rank in range(launch.ranks):
        threads = slice(rank * launch.threads, (rank + 1) * launch.threads)
        coming = set(launch.warp[threads][event.mask[threads]].tolist())
        if not coming or coming >= everyone:
            continue
        words = {"wanted": wanted, "coming": f"warp {min(coming)}" if len(coming) == 1 else "warps " + ", ".join(map(str, sorted(coming)))}
        if wanted not in coming:
            findings.add("C129", event.node, **words)
            return
        if any(other // 4 != wanted // 4 for other in coming):
            findings.add("C134", event.node, **words)
            return


def _one_thread(program: Program, launch: Launch, event: Event, findings: Findings) -> None:
    if event.node.name == "fa4.store_async":
        return
    threads = int(event.mask[: launch.threads].sum()) or int(event.mask.sum())
    if threads > 1 and uniform(event.offset) is not None:
        who = launch.words(event.mask, program.roles)
        findings.add("C126", event.node, operation=event.node.name.removeprefix("fa4."), who=who, threads=threads)


def _scopes(program: Program, launch: Launch, events: list[Event], found: list[Party], findings: Findings) -> None:
    remote: dict[str, Event] = {}
    narrow: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == "arrive" and event.rank is not None:
            other = event.rank != launch.rank
            if bool(numpy.any(numpy.broadcast_to(other, launch.lanes)[event.mask])):
                remote.setdefault(event.barrier, event)
                if event.node.attribute("scope") == "cta":
                    narrow.setdefault(event.barrier, []).append(event)
    for name, arrivals in narrow.items():
        places = {event.node.number: (event.node, "") for event in arrivals}
        findings.add("C127", arrivals[0].node, *places.values(), barrier=name, who=launch.words(arrivals[0].mask, program.roles))
    for event in events:
        if event.kind == "wait" and event.barrier in remote and event.node.attribute("scope") == "cta":
            arrival = remote[event.barrier]
            data = _remote_data(event, arrival, found)
            if data is not None:
                findings.add(
                    "C128", event.node, (event.node, "waits at CTA scope"), (arrival.node, "a peer arrives"), (data.node, "the peer's data"),
                    barrier=event.barrier,
                )  # fmt: skip


def _remote_data(wait: Event, arrival: Event, found: list[Party]) -> Event | None:
    """An ordinary access to a peer's memory which the wait orders: a store before the arrival, or an access after the wait."""
    for party in found:
        steps = party.steps
        if arrival in steps:
            for event in steps[: steps.index(arrival)]:
                if event.kind == "touch" and "load" not in event.node.name:
                    return event
        if wait in steps:
            for event in steps[steps.index(wait) :]:
                if event.kind == "touch":
                    return event
    return None
