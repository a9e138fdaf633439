"""``fa4dsl simulate FILE.ptx [--launch LAUNCH.json]``: runs any sm_90a PTX on arrays and says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Run a PTX file in the simulator and check it.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE.ptx")
@click.option(
    "--launch",
    "launch_file",
    type=click.Path(path_type=Path),
    metavar="LAUNCH.json",
    help="Which kernel, how many threads, which arrays; by default what the file's own lines `// launch:` say.",
)
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Write each output as DIR/NAME.npy.")
@click.option(
    "--schedule",
    default="eager",
    show_default=True,
    metavar="NAME",
    help="eager, late, random, adversarial or exhaustive; random:3 gives the seed too.",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the schedule.")
@click.option("--strict", is_flag=True, help="Count reviews (disputed or unusual, such as memory read before it was written) as errors.")
@click.option("--measure", is_flag=True, help="Count bytes by memory space, bank conflicts by line, and waits.")
@click.option("--print-threads", is_flag=True, help="Put the block and thread in front of what printf prints.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object; what printf prints goes to standard error.")
def command(
    file: Path,
    launch_file: Path | None,
    output: Path | None,
    schedule: str,
    seed: int,
    strict: bool,
    measure: bool,
    print_threads: bool,
    as_json: bool,
) -> int:
    """Run a PTX file in the simulator and check it: races, missing fences, hangs, lifetimes.

    Any sm_90a PTX will do, from this project, nvcc or Triton. LAUNCH.json is described in docs/simulator.md; its text may also stand in the
    PTX file, in lines that start with `// launch:`.

    \b
    Exit status: 0 clean, 1 findings, 2 not runnable or with something that is not modelled.
    """
    from fa4dsl.cli.app import UNUSABLE
    from fa4dsl.cli.console import print_diagnostics, print_json
    from fa4dsl.cli.progress import progress_bar
    from fa4dsl.cli.reports import read_ptx, read_schedule, show_printed, show_report, sources_beside
    from fa4dsl.runtime.diagnostics import Fa4dslError
    from fa4dsl.runtime.simulator.launch import launch_in_comments, load_launch, save_outputs
    from fa4dsl.runtime.simulator.run import simulate

    name, seed = read_schedule(schedule, seed)
    try:
        ptx = read_ptx(file)
        launch = load_launch(launch_file) if launch_file is not None else launch_in_comments(ptx, file)
        if launch is None:
            raise click.UsageError(
                f"{file} has no lines `// launch:`: give --launch LAUNCH.json, which says on what to run it (docs/simulator.md)."
            )
        with progress_bar(file.name, wanted=not as_json) as progress:
            report = simulate(
                ptx,
                launch,
                schedule=name,
                seed=seed,
                progress=progress,
                sources=sources_beside(file, ptx),
                measure=measure,
                strict=strict,
                name=str(file),
            )
        show_printed(report, as_json, print_threads)
        if output is not None:
            save_outputs(launch, output)
    except Fa4dslError as error:
        # What cannot be run has no verdict but this one, so that whoever reads the JSON gets an object in any case.
        if as_json:
            findings = [{"kind": "not-runnable", **item.as_dict()} for item in error.diagnostics]
            print_json({"verdict": "incomplete", "findings": findings, "schedule": name, "seconds": 0.0})
        else:
            print_diagnostics(error.diagnostics)
        return UNUSABLE
    return show_report(report, as_json)
