"""`simulate`: PTX and a launch in, numbers and a report out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError
from fa4dsl.runtime.ptx.module import TYPE_BYTES
from fa4dsl.runtime.ptx.parser import parse
from fa4dsl.runtime.simulator.build import Build, run_waves
from fa4dsl.runtime.simulator.check.findings import Finding
from fa4dsl.runtime.simulator.check.naming import Naming, Object, plain_name
from fa4dsl.runtime.simulator.check.numbering import numbered
from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.check.session import make_checker, make_report
from fa4dsl.runtime.simulator.machine import Stopped
from fa4dsl.runtime.simulator.recording import recorded
from fa4dsl.runtime.simulator.schedule import Choices, Schedule, make_schedule, named_schedule, next_path
from fa4dsl.runtime.simulator.timeline import build_timeline, edges_of
from fa4dsl.runtime.simulator.trace import Trace
from fa4dsl.runtime.simulator.undefined import Judge, outcome_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fa4dsl.runtime.manifest import Manifest
    from fa4dsl.runtime.ptx.module import Module
    from fa4dsl.runtime.simulator.check.checker import HappensBefore
    from fa4dsl.runtime.simulator.events import Geometry
    from fa4dsl.runtime.simulator.launch import Launch

Progress = Callable[[float], None]
"""Called now and then with the part of the grid that is done, 0 to 1."""

STEP_LIMIT = 20_000_000
"""Runs of instructions after which a kernel is stopped."""
EXHAUSTIVE_PATHS = 500
"""Paths that the exhaustive schedule follows at most."""
EXHAUSTIVE_SECONDS = 60.0

NOT_KNOWN = ("S002", "S003")
"""Codes that make a kernel "incomplete" rather than wrong: something that is not modelled."""


def simulate(
    ptx: str,
    launch: Launch,
    *,
    schedule: str | Schedule = "eager",
    seed: int = 0,
    check: bool = True,
    progress: Progress | None = None,
    sources: Mapping[str, str] | None = None,
    manifest: Manifest | None = None,
    measure: bool = False,
    trace: bool = False,
    strict: bool = False,
    name: str = "kernel.ptx",
    step_limit: int = STEP_LIMIT,
) -> Report:
    """Runs a kernel for a whole grid; the launch's buffers are changed in place.

    `schedule`: "eager", "late", "random", "adversarial", "exhaustive", or a `Schedule`; with `seed`, or a seed behind a colon ("random:3"), it replays exactly. `check` False leaves out
    the happens-before checks (hangs and faults are still found). `measure` counts bytes, bank conflicts and waits; `trace` records the run too, for pictures of it (the report's
    `timeline`; not for "exhaustive"). `manifest` gives names to shared
    objects, roles and barriers; `sources` the text of files for excerpts. `strict` makes reviews errors.

    Raises `Fa4dslError` for what cannot run at all: text that is not PTX (S001), an unknown kernel (S006), arguments or a launch that the driver
    would refuse (S007, S008), an unknown schedule (S103). An instruction that is not known makes the report "incomplete"; a fault, a race or a hang
    makes it "error".
    """
    if isinstance(schedule, str):
        schedule, seed = named_schedule(schedule, seed)
    module = parse(ptx, name)
    if schedule == "exhaustive":
        return _exhaustive(module, launch, check, sources, manifest, measure, strict, step_limit, "shfl." in ptx)
    chosen = make_schedule(schedule, seed)
    judge = Judge(module, launch, chosen, manifest) if check and "shfl." in ptx else None
    listed = recorded()
    trace = trace or listed is not None
    report = _run(module, launch, chosen, seed, check, progress, sources, manifest, measure or trace, strict, step_limit, trace, judge)
    if report.timeline is not None:
        report.timeline.ptx = ptx
    if listed is not None:
        listed.append(report)
    return report


def _run(
    module: Module,
    launch: Launch,
    schedule: Schedule,
    seed: int,
    check: bool,
    progress: Progress | None,
    sources: Mapping[str, str] | None,
    manifest: Manifest | None,
    measure: bool,
    strict: bool,
    step_limit: int,
    trace: bool = False,
    judge: Judge | None = None,
) -> Report:
    started = time.perf_counter()
    checkers: list[HappensBefore] = []
    geometries: list[Geometry] = []

    def new_checker(geometry: Geometry, build: Build) -> HappensBefore | None:
        geometries.append(geometry)
        if check:
            checkers.append(_checker(geometry, build, manifest, strict))
            return checkers[0]
        return None

    def elapsed() -> float:
        return time.perf_counter() - started

    texts = dict(manifest.sources) if manifest is not None else {}
    texts.update(sources or {})
    try:
        build = Build(module, launch, schedule, step_limit, new_checker, measure)
    except Fa4dslError as error:
        if error.code not in NOT_KNOWN:
            raise
        found = [Finding(replace(diagnostic, severity="warning"), "unsupported", incomplete=True) for diagnostic in error.diagnostics]
        return Report(found, schedule.name, seed, elapsed(), launch.kernel, [d.message for d in error.diagnostics], sources=texts)
    machine = build.machine
    if judge is not None:
        machine.undefined = judge.reads
    if manifest is not None:
        machine.pool.set_entry(manifest.registers)
    if machine.measures is not None:
        naming = machine.measures.naming = _naming(geometries[0], build, manifest)
        if trace:
            machine.trace = machine.measures.trace = Trace(machine, edges_of(naming, manifest.shared if manifest is not None else ()))
    raised: list[Diagnostic] = []
    try:
        run_waves(build, progress)
    except Stopped:
        pass
    except Fa4dslError as error:
        raised = list(error.diagnostics)
    build.write_back()
    if machine.measures is not None:
        machine.measures.finish(machine)
    timeline = None
    if machine.trace is not None and machine.measures is not None and machine.measures.naming is not None:
        machine.trace.finish()
        timeline = build_timeline(machine.trace, machine.measures.naming, manifest.shared if manifest is not None else ())
    if machine.hang is not None and not checkers:
        # it saw nothing of the run, but it explains the hang
        checkers.append(_checker(geometries[0], build, manifest, strict))
    report = make_report(
        checkers[0] if checkers else None,
        diagnostics=[*raised, *machine.findings],
        hang=machine.hang,
        schedule=schedule.name,
        seed=seed,
        seconds=elapsed(),
        kernel=launch.kernel,
        measures=machine.measures,
        sources=texts,
    )
    if judge is not None:
        report.findings += judge.findings(machine, outcome_of(launch, machine, (item.code for item in raised)), strict)
    report.timeline = timeline
    report.printed, report.not_printed = machine.output.calls, machine.output.dropped
    return report


def _checker(geometry: Geometry, build: Build, manifest: Manifest | None, strict: bool) -> HappensBefore:
    """A checker that knows the names of the kernel's arrays, roles and barriers."""
    naming = _naming(geometry, build, manifest)
    checker = make_checker(
        geometry,
        shared=naming.shared,
        buffers=naming.buffers,
        roles=naming.roles,
        named_barriers=naming.named_barriers,
        ptx_name=naming.ptx_name,
        strict=strict,
    )
    checker.barriers.recorded = manifest is not None and manifest.waits is not None
    return checker


def _naming(geometry: Geometry, build: Build, manifest: Manifest | None) -> Naming:
    """The names of the kernel's arrays, roles, barriers and buffers."""
    shared: list[Object] = []
    if manifest is not None:
        shared += Naming.objects_of(manifest.shared, build.storage.dynamic_offset)
    known = {item.name for item in shared}
    for variable, offset in build.shared_variables():
        if plain_name(variable.name) not in known:
            shared.append(Object(plain_name(variable.name), offset, variable.size, TYPE_BYTES[variable.type]))
    buffers = [
        Object(name, start, size) for name, start, size in zip(build.buffers.names, build.buffers.starts, build.buffers.sizes, strict=True)
    ]
    return Naming(
        numbered(geometry),
        max(geometry.shared_stride, 1),
        shared,
        buffers,
        manifest.roles if manifest is not None else (),
        manifest.named_barriers if manifest is not None else {},
        build.module.name,
    )


def _exhaustive(
    module: Module,
    launch: Launch,
    check: bool,
    sources: Mapping[str, str] | None,
    manifest: Manifest | None,
    measure: bool,
    strict: bool,
    step_limit: int,
    shuffles: bool,
) -> Report:
    """Follows the choices depth first until one path is not clean, all are done, or the bound is reached (then the report says so)."""
    started = time.perf_counter()
    first = {name: array.copy() for name, array in launch.buffers.items()}
    path: list[int] | None = []
    count = 0
    while True:
        for name, array in first.items():
            launch.buffers[name][:] = array
        choices = Choices(path or [])
        judge = Judge(module, launch, choices, manifest) if check and shuffles else None
        report = _run(module, launch, choices, 0, check, None, sources, manifest, measure, strict, step_limit, judge=judge)
        count += 1
        path = next_path(choices.taken)
        done = path is None
        bounded = count >= EXHAUSTIVE_PATHS or time.perf_counter() - started > EXHAUSTIVE_SECONDS
        if report.verdict != "clean" or done or bounded:
            break
    report.schedule = "exhaustive"
    report.seconds = time.perf_counter() - started
    report.runs = [f"exhaustive: {count} paths, {'all' if done else 'not all'} of them"]
    return report
