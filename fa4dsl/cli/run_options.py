"""What the commands of ``fa4dsl run`` have in common: where and in which order to run, and how the result is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fa4dsl.kernels.kernel_run import KernelRun

Run = TypeVar("Run", bound="KernelRun")

device_option = click.option(
    "--device",
    type=click.Choice(["auto", "sim", "cuda"]),
    default="auto",
    show_default=True,
    help="auto: a Hopper GPU if there is one, else the simulator.",
)
seed_option = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the inputs, and of a schedule that takes one."
)
schedule_option = click.option(
    "--schedule", default="eager", show_default=True, metavar="NAME", help="The simulator's order: eager, late, random or adversarial."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def run_and_show(
    kernel: str,
    run: Callable[..., Run],
    facts: Callable[[Run], Mapping[str, str]],
    *,
    device: str,
    seed: int,
    schedule: str,
    as_json: bool,
) -> int:
    """Runs a kernel, prints what it showed, with `facts` about the kernel and its problem, and gives the command's exit status."""
    from fa4dsl.cli.app import WRONG
    from fa4dsl.cli.console import print_json
    from fa4dsl.cli.progress import progress_bar
    from fa4dsl.cli.reports import read_schedule

    name, schedule_seed = read_schedule(schedule, seed)
    if schedule_seed != seed:
        raise click.BadParameter("give the seed with --seed: it is the inputs' too.", param_hint="--schedule")
    names = {"sim": "simulator"}
    with progress_bar(kernel, wanted=not as_json) as progress:
        found = run(device=names.get(device, device), seed=seed, schedule=name, progress=progress)
    if as_json:
        print_json(found.as_dict())
    else:
        _show(found, facts(found), chosen=device == "auto")
    return 0 if found.ok else WRONG


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _show(run: KernelRun, facts: Mapping[str, Any], chosen: bool) -> None:
    from fa4dsl.cli.console import console, print_facts
    from fa4dsl.runtime.diagnostics.terminal import styled

    why = " (no Hopper GPU here)" if chosen and run.device == "simulator" else ""
    right = "WRONG" if run.worst_share > 1 or not run.neighbours_untouched else "right numbers, but see the findings"
    print_facts(
        {
            "kernel": run.kernel,
            "device": f"{run.device}{why}",
            **facts,
            "error": f"{run.max_abs_error:.3g} at most; the worst element reaches {100 * run.worst_share:.0f}% of its bound, {run.tolerance:.3g}",
            "time": f"{run.seconds:.3g} s, after {run.compile_seconds:.3g} s of compiling",
            "verdict": styled(run.verdict),
            "result": "right" if run.ok else right,
        }
    )
    if run.report is not None and run.report.verdict != "clean":
        run.report.print(console())
