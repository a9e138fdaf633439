"""``fa4dsl check KERNEL --schedules ...``: one verdict over several schedules."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fa4dsl.cli.kernels import LIBRARY, Settings, set_option

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.check.report import Report


@click.command(short_help="Check a kernel under several schedules.")
@click.argument("kernel")
@click.option(
    "--schedules",
    default="eager,late,random:0,random:1",
    show_default=True,
    metavar="LIST",
    help="Schedules parted by commas; random:3 and adversarial:3 give a seed.",
)
@click.option(
    "--launch",
    "launch_file",
    type=click.Path(path_type=Path),
    metavar="LAUNCH.json",
    help="Grid and arrays; needed unless KERNEL is in the library.",
)
@set_option("Compile-time argument of the kernel; of a library kernel, also the size of its problem.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(kernel: str, schedules: str, launch_file: Path | None, settings: Settings, as_json: bool) -> int:
    """Run a kernel in the simulator under several schedules and print one verdict.

    KERNEL is a library name, FILE.py:NAME or FILE.ptx. A schedule decides in which order threads run and when asynchronous copies
    land; a report names the one that replays it.

    \b
    Exit status: 0 clean, 1 findings, 2 not runnable or with something that is not modelled.
    """
    from fa4dsl.cli.app import UNUSABLE
    from fa4dsl.cli.console import print_diagnostics
    from fa4dsl.cli.reports import read_schedule, show_report
    from fa4dsl.runtime.diagnostics import Fa4dslError
    from fa4dsl.runtime.simulator.check.report import merge

    chosen = [read_schedule(item) for item in schedules.split(",") if item.strip()]
    if not chosen:
        raise click.BadParameter("give at least one.", param_hint="--schedules")
    if kernel not in LIBRARY and launch_file is None:
        raise click.UsageError(f"{kernel} needs --launch LAUNCH.json, which says on what to run it (docs/simulator.md).")
    try:
        reports = [_run(kernel, launch_file, settings, name, seed, as_json) for name, seed in chosen]
    except Fa4dslError as error:
        print_diagnostics(error.diagnostics)
        return UNUSABLE
    return show_report(merge(reports), as_json)


def _run(kernel: str, launch_file: Path | None, settings: Settings, schedule: str, seed: int, as_json: bool) -> Report:
    from fa4dsl.cli.progress import progress_bar
    from fa4dsl.cli.reports import read_ptx

    with progress_bar(f"{kernel}, {schedule}:{seed}", wanted=not as_json) as progress:
        if launch_file is None:
            from fa4dsl.cli.library_runs import simulate_library

            report: Report = simulate_library(kernel, settings.single(), schedule, seed, progress).report
            return report
        from fa4dsl.runtime.simulator.launch import load_launch
        from fa4dsl.runtime.simulator.run import simulate

        launch = load_launch(launch_file)
        if kernel.endswith(".ptx"):
            return simulate(read_ptx(Path(kernel)), launch, schedule=schedule, seed=seed, progress=progress, name=kernel)
        from fa4dsl.cli.kernels import bind, find_kernel

        artifact = bind(find_kernel(kernel), settings.single()).artifact
        manifest = artifact.manifest
        launch = replace(
            launch,
            kernel=manifest.entry,
            block=manifest.block,
            cluster=manifest.cluster,
            dynamic_shared_bytes=manifest.dynamic_shared_bytes,
        )
        return simulate(artifact.ptx, launch, schedule=schedule, seed=seed, progress=progress, manifest=manifest)
