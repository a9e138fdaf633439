"""``fa4dsl profile KERNEL``: one simulated run as counts, pictures and a trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fa4dsl.cli.kernels import LIBRARY, Settings, set_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.simulator.check.report import Report


@dataclass(frozen=True)
class Profiled:
    """A run with what its page shows beside it."""

    report: Report
    cubin: bytes | None = None


@click.command(short_help="Run a kernel in the simulator and draw what it did.")
@click.argument("kernel")
@click.option(
    "--schedule",
    default="late",
    show_default=True,
    metavar="NAME",
    help="eager, late, random or adversarial; random:3 gives the seed too. With late, copies stay in flight until somebody waits.",
)
@set_option("Compile-time argument of the kernel; of a library kernel, also the size of its problem.")
@click.option(
    "--launch",
    "launch_file",
    type=click.Path(path_type=Path),
    metavar="LAUNCH.json",
    help="Grid and arrays; needed unless KERNEL is in the library.",
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), metavar="OUT.html", help="Write pictures and tables as one page.")
@click.option(
    "--trace", "trace_file", type=click.Path(dir_okay=False, path_type=Path), metavar="OUT.json", help="Write a trace for ui.perfetto.dev."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: verdict, findings and counts.")
def command(
    kernel: str, schedule: str, settings: Settings, launch_file: Path | None, html: Path | None, trace_file: Path | None, as_json: bool
) -> int:
    """Run a kernel in the simulator and draw what it did.

    KERNEL is a library name, FILE.py:NAME or FILE.ptx. Counts bank conflicts and sectors by line, bytes and instructions by role,
    traffic between CTAs, waits by barrier. The page (--html) shows roles over time, shared memory over time, the counts, and
    source, PTX and SASS side by side; it loads nothing from elsewhere.

    \b
    Exit status: 0 clean, 1 findings, 2 not runnable or with something that is not modelled.
    """
    from fa4dsl.cli.app import UNUSABLE
    from fa4dsl.cli.console import print_diagnostics
    from fa4dsl.cli.reports import read_schedule
    from fa4dsl.runtime.diagnostics import Fa4dslError

    name, seed = read_schedule(schedule)
    if name == "exhaustive":
        raise click.BadParameter("exhaustive is many runs; a profile is of one.", param_hint="--schedule")
    if kernel not in LIBRARY and launch_file is None:
        raise click.UsageError(f"{kernel} needs --launch LAUNCH.json, which says on what to run it (docs/simulator.md).")
    try:
        profiled = _run(kernel, launch_file, settings, name, seed, as_json)
    except Fa4dslError as error:
        print_diagnostics(error.diagnostics)
        return UNUSABLE
    report = profiled.report
    if report.timeline is not None:
        if html is not None:
            _write(html, lambda: _page(profiled))
        if trace_file is not None:
            _write(trace_file, lambda: _trace(report))
    return _show(report, as_json, [path for path in (html, trace_file) if path is not None and report.timeline is not None])


def _run(kernel: str, launch_file: Path | None, settings: Settings, schedule: str, seed: int, quiet: bool) -> Profiled:
    from fa4dsl.cli.progress import progress_bar
    from fa4dsl.cli.reports import read_ptx, sources_beside
    from fa4dsl.runtime.simulator.run import simulate

    options: dict[str, Any] = {"schedule": schedule, "seed": seed, "trace": True}
    with progress_bar(f"{kernel}, {schedule}:{seed}", wanted=not quiet) as progress:
        if launch_file is None:
            return _library(kernel, settings, schedule, seed, progress)
        from fa4dsl.runtime.simulator.launch import load_launch

        launch = load_launch(launch_file)
        if kernel.endswith(".ptx"):
            file = Path(kernel)
            ptx = read_ptx(file)
            report = simulate(ptx, launch, progress=progress, sources=sources_beside(file, ptx), name=kernel, **options)
            return Profiled(report)
        from fa4dsl.cli.kernels import bind, find_kernel

        artifact: Artifact = bind(find_kernel(kernel), settings.single()).artifact
        manifest = artifact.manifest
        launch = replace(
            launch,
            kernel=manifest.entry,
            block=manifest.block,
            cluster=manifest.cluster,
            dynamic_shared_bytes=manifest.dynamic_shared_bytes,
        )
        report = simulate(artifact.ptx, launch, progress=progress, manifest=manifest, name=f"{manifest.name}.ptx", **options)
        return Profiled(report, artifact.cubin)


def _library(kernel: str, settings: Settings, schedule: str, seed: int, progress: Any) -> Profiled:
    from fa4dsl.cli.library_runs import simulate_library
    from fa4dsl.runtime.simulator.recording import recording

    with recording() as reports:
        simulate_library(kernel, settings.single(), schedule, seed, progress)
    return Profiled(reports[-1])


def _page(profiled: Profiled) -> str:
    from fa4dsl.passes.assemble import disassemble
    from fa4dsl.runtime.diagnostics import Fa4dslError
    from fa4dsl.runtime.simulator.render.page import page

    sass = ""
    if profiled.cubin is not None:
        try:
            sass = disassemble(profiled.cubin)
        except Fa4dslError:
            sass = ""  # no disassembler on this machine: the page does without
    return page(profiled.report, sass)


def _trace(report: Report) -> str:
    import json

    from fa4dsl.runtime.simulator.render.perfetto import perfetto

    return json.dumps(perfetto(report.timeline, report.kernel), separators=(",", ":"))


def _write(path: Path, text: Callable[[], str]) -> None:
    try:
        path.write_text(text(), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}") from None


def _show(report: Report, as_json: bool, written: list[Path]) -> int:
    from fa4dsl.cli.console import console, print_json
    from fa4dsl.cli.profile_terminal import print_profile
    from fa4dsl.cli.reports import STATUS, show_printed

    show_printed(report, as_json)
    if as_json:
        measures = report.measures.as_dict() if report.measures is not None else None
        timeline = report.timeline
        facts = {"steps": timeline.steps, "cut": timeline.cut} if timeline is not None else {}
        print_json(report.to_dict() | facts | {"measures": measures})
        return STATUS[report.verdict]
    out = console()
    report.print(out)
    if report.measures is not None:
        out.print()
        print_profile(out, report)
    for path in written:
        out.print(f"\nwritten: {path}")
    return STATUS[report.verdict]
