"""check-protocol: follows every thread of a cluster through its barriers and copies, and reports what cannot end well.

Arrivals against declared counts, expected against copied bytes, parities, initialisation, both ends of rings, named and cluster barriers,
scopes, a peer's lifetime, slots released or filled too early. What only the run decides is a note, never an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.checks import explain
from fa4dsl.passes.checks.events import Doubt, Event
from fa4dsl.passes.checks.execute import Execution, TooLong
from fa4dsl.passes.checks.findings import Finding, Findings
from fa4dsl.passes.checks.inventory import kernel_functions
from fa4dsl.passes.checks.lanes import Launch
from fa4dsl.passes.checks.machine import Machine
from fa4dsl.passes.checks.parties import parties
from fa4dsl.passes.checks.program import Node, Program, read_program
from fa4dsl.passes.checks.reporting import report
from fa4dsl.passes.checks.who import check_collectives, check_events
from fa4dsl.passes.checks.worlds import Choice, World
from fa4dsl.passes.kernel import symbol_name
from fa4dsl.passes.locations import operation_frames
from fa4dsl.runtime.diagnostics import CATALOGUE, Diagnostic, diagnostic

if TYPE_CHECKING:
    from mlir import ir

MOST_PARTIES = 600
"""Groups of threads with a history of their own; a kernel with more is the simulator's."""


@dataclass
class _Run:
    choice: Choice
    world: World
    findings: dict[tuple[str, int], Finding]
    reached: set[int]
    doubts: dict[str, Doubt]
    events: list[Event]


def check_protocol(module: ir.Module) -> list[Diagnostic]:
    """The findings of every kernel in the module: errors, warnings and notes of the catalogue, C100 to C139."""
    return follow(module)[0]


def protocol_pass(module: ir.Module) -> None:
    """Raises C100 to C128 for what is an error; warns of C126."""
    report(check_protocol(module))


def follow(module: ir.Module) -> tuple[list[Diagnostic], dict[str, list[Event]]]:
    """The findings, and by kernel the events of the first run."""
    found: list[Diagnostic] = []
    events: dict[str, list[Event]] = {}
    for function in kernel_functions(module):
        program = read_program(function)
        if program is not None:
            diagnostics, events[program.info.entry] = _check(program)
            found += diagnostics
    return found, events


def _check(program: Program) -> tuple[list[Diagnostic], list[Event]]:
    launch = Launch.of(program.info)
    counts = [int(node.attribute("count", 1)) for node in program.allocations.values() if node.name == "fa4.mbarrier_alloc"]
    # Once round the largest ring and two slots more: every slot is met fresh, and some again with the parity flipped.
    deep = min(max(counts, default=1) + 2, 18)
    period = 2 * lcm(*counts)
    try:
        runs = [_run(program, launch, Choice(deep), period)]
        for choice in _more(runs[0].world, deep):
            runs.append(_run(program, launch, choice, period))
    except TooLong:
        return [diagnostic("C132", *operation_frames(program.function), kernel=symbol_name(program.function))], []
    return _verdicts(program, runs, deep), runs[0].events


def _more(world: World, deep: int) -> list[Choice]:
    """The choices worth trying after the first run: other trip counts, other truths."""
    choices: list[Choice] = []
    if world.conditions:
        choices.append(Choice(deep, False))
        if world.conditions > 1:
            choices += [Choice(deep, True, frozenset({position})) for position in range(min(world.conditions, 4))]
    if world.loops:
        choices += [Choice(trips) for trips in (1, 0)]
    return choices


def _run(program: Program, launch: Launch, choice: Choice, period: int = 0) -> _Run:
    """One run. Long loops are shortened at first (`period`); a fault that then shows is looked for again in the whole run."""
    world = World(choice, period=period)
    execution = Execution(program, launch, world)
    execution.run()
    _inline(execution)
    findings = Findings()
    found = parties(launch, execution.events)
    if len(found) > MOST_PARTIES:
        raise TooLong
    check_events(program, launch, execution.events, found, findings)
    check_collectives(launch, execution.collectives, findings)
    partial = any(code in ("C122", "C123") for code, _ in findings.found)
    barriers = {event.barrier for event in execution.events if event.kind == "wait"}
    # The other order shows faults of whoever runs ahead; one long run is enough for it.
    both = len(barriers) > 1 and choice.trips > 1
    for reverse in (False, True) if both else (False,):
        if partial:
            break
        trial = Findings()
        machine = Machine(program, launch, [party.again(len(found)) for party in found], execution.doubts, trial, reverse)
        machine.run()
        if not machine.stopped and machine.blocked:
            explain.stopped(machine)
        findings.found |= trial.found
        if trial:
            break
    if findings and world.left_out:
        return _run(program, launch, choice)
    return _Run(choice, world, findings.found, execution.reached, execution.doubts, execution.events)


def _inline(execution: Execution) -> None:
    """Barriers that the author's own PTX may use cannot be followed."""
    text = execution.program.inline_text
    if not text:
        return
    node = execution.program.body.nodes[0]
    for word, subject in (
        ("barrier.cluster", "cluster"),
        ("bar.", "block"),
        ("bar.", "named"),
        ("barrier.sync", "block"),
        ("barrier.sync", "named"),
    ):
        if word in text.replace("mbarrier.", ""):
            execution.doubt(subject, node, "inline PTX may take part in it")


def _verdicts(program: Program, runs: list[_Run], deep: int) -> list[Diagnostic]:
    """Errors that every run shows which reaches their place; notes for the rest."""
    diagnostics: list[Diagnostic] = []
    told: set[tuple[str, int]] = set()
    deep_runs = [run for run in runs if run.choice.trips == deep]
    for run in runs:
        for key, finding in run.findings.items():
            if key in told:
                continue
            told.add(key)
            if run.choice.trips == deep:
                there = [other for other in deep_runs if finding.site.number in other.reached]
                if all(key in other.findings for other in there) or CATALOGUE[finding.code].severity == "review":
                    diagnostics.append(_told(finding))
                    continue
                silent = next(other for other in there if key not in other.findings)
                differs = _difference(run, silent)
                diagnostics.append(_conditional(finding, differs))
            elif not any(code == finding.code for code, _ in told - {key}):
                diagnostics.append(_by_trips(finding, run))
    diagnostics += _doubts(program, runs)
    errors = [item for item in diagnostics if item.severity == "error"]
    rest = [item for item in diagnostics if item.severity != "error" and not (errors and item.code in ("C130", "C131"))]
    return errors + rest


def _frames(places: tuple[tuple[Node, str], ...]) -> list[Any]:
    return [frame for node, label in places for frame in operation_frames(node.operation, label)]


def _told(finding: Finding) -> Diagnostic:
    return diagnostic(finding.code, *_frames(finding.places), notes=finding.notes, **finding.fields)


def _difference(run: _Run, other: _Run) -> list[Node]:
    """The conditions that the two runs decided differently."""
    nodes = run.world.unknown_conditions or other.world.unknown_conditions
    return list({node.number: node for node in nodes}.values())[:2]


def _conditional(finding: Finding, conditions: list[Node]) -> Diagnostic:
    message = CATALOGUE[finding.code].message.format(**finding.fields)
    frames = _frames((*finding.places, *((node, "depends on this") for node in conditions)))
    return diagnostic("C131", *frames, problem=message, reported=finding.code)


def _by_trips(finding: Finding, run: _Run) -> Diagnostic:
    message = CATALOGUE[finding.code].message.format(**finding.fields)
    loops = list({node.number: node for node in run.world.unknown_loops}.values())[:1]
    frames = _frames((*finding.places, *((node, "this loop") for node in loops)))
    return diagnostic("C130", *frames, times=run.choice.words(), problem=message, reported=finding.code)


_SUBJECTS = {"block": "the CTA barrier", "cluster": "the cluster barrier", "named": "the named barriers"}


def _doubts(program: Program, runs: list[_Run]) -> list[Diagnostic]:
    first: dict[str, Doubt] = {}
    for run in runs:
        for name, doubt in run.doubts.items():
            first.setdefault(name, doubt)
    found = []
    for name, doubt in first.items():
        places: tuple[tuple[Node, str], ...] = ((doubt.node, ""),)
        if doubt.cause is not None:
            places = (*places, (doubt.cause, "known only at run time"))
        subject = _SUBJECTS.get(name, f"barrier {name!r}")
        found.append(diagnostic("C133", *_frames(places), subject=subject, reason=doubt.reason))
    return found
