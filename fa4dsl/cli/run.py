"""``fa4dsl run KERNEL``: a kernel of the library on random inputs, against its float64 reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fa4dsl.cli.kernels import LIBRARY, suggestion, wrong_kernel

if TYPE_CHECKING:
    from fa4dsl.kernels.run_splitk_combine import CombineRun


@click.command(short_help="Run a library kernel and check its result.")
@click.argument("kernel")
@click.option(
    "--device",
    type=click.Choice(["auto", "sim", "cuda"]),
    default="auto",
    show_default=True,
    help="auto: a Hopper GPU if there is one, else the simulator.",
)
@click.option("--partitions", default=8, show_default=True, type=int, help="P: partial results that a cluster combines, CTAs of a cluster.")
@click.option("--depth", default=128, show_default=True, type=int, help="D: columns of the output.")
@click.option("--rows", default=128, show_default=True, type=int, help="Valid rows of each tile, 1 to 128.")
@click.option("--tiles", default=2, show_default=True, type=int, help="Tiles of rows.")
@click.option("--heads", default=1, show_default=True, type=int, help="Heads.")
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the inputs, and of a schedule that takes one."
)
@click.option(
    "--schedule",
    default="eager",
    show_default=True,
    metavar="NAME",
    help="The simulator's order: eager, late, random or adversarial.",
)
@click.option(
    "--design",
    type=click.Choice(["auto", "pull", "pull_wide", "push", "push_bulk"]),
    default="auto",
    show_default=True,
    help="How the CTAs exchange; auto: the fastest for the shape, by the table of measurements.",
)
@click.option("--threads", default=0, show_default=True, type=int, help="Threads of a CTA; 0: the design's own number.")
@click.option(
    "--pieces", default=0, show_default=True, type=int, help="Clusters among which a tile's rows are cut; 0: by the table, or one."
)
@click.option("--output", default="bf16", show_default=True, type=click.Choice(["bf16", "f16", "f32", "e4m3", "e5m2"]), help="Output type.")
@click.option("--group", default=1, show_default=True, type=int, help="Query heads fused into a tile; --rows are positions then.")
@click.option("--clusters", default=1, show_default=True, type=int, help="Clusters that share a tile, each with P partial results.")
@click.option("--log2-maxima", is_flag=True, help="Maxima are in log2 units (use_fma off).")
@click.option("--sink", is_flag=True, help="Fold an attention sink in; implies --log2-maxima.")
@click.option("--lse", is_flag=True, help="Write the log of the sum of exponentials too.")
@click.option(
    "--swizzle", default="none", show_default=True, type=click.Choice(["none", "32B", "64B", "128B"]), help="Of the output's blocks (pull)."
)
@click.option("--blocks-per-store", default=0, show_default=True, type=int, help="Blocks of a batched TMA store (pull); 0: none.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    kernel: str,
    device: str,
    partitions: int,
    depth: int,
    rows: int,
    tiles: int,
    heads: int,
    seed: int,
    schedule: str,
    design: str,
    threads: int,
    pieces: int,
    log2_maxima: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Run a library kernel on random inputs and compare it with a float64 reference.

    In the simulator every access and barrier is checked too. Exit status 0 only if the result is right and nothing was found.
    """
    if kernel not in LIBRARY:
        wrong_kernel(f"{kernel!r} is not in the library, which has: {', '.join(LIBRARY)}.{suggestion(kernel, LIBRARY)}")
    from fa4dsl.cli.app import WRONG
    from fa4dsl.cli.console import print_json
    from fa4dsl.cli.progress import progress_bar
    from fa4dsl.cli.reports import read_schedule
    from fa4dsl.kernels.run_splitk_combine import run_splitk_combine

    name, schedule_seed = read_schedule(schedule, seed)
    if schedule_seed != seed:
        raise click.BadParameter("give the seed with --seed: it is the inputs' too.", param_hint="--schedule")
    with progress_bar(kernel, wanted=not as_json) as progress:
        run = run_splitk_combine(
            partitions=partitions,
            depth=depth,
            rows=rows,
            tiles=tiles,
            heads=heads,
            seed=seed,
            device="simulator" if device == "sim" else "cuda" if device == "cuda" else "auto",
            progress=progress,
            schedule=name,
            design=design,
            threads=threads,
            pieces=pieces,
            use_fma=not (log2_maxima or options["sink"]),
            **options,
        )
    if as_json:
        print_json(run.as_dict())
    else:
        _show(run, chosen=device == "auto")
    return 0 if run.ok else WRONG


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def _options(run: CombineRun) -> str:
    """What else was compiled in, in words."""
    config = run.config
    words = [f"output {config.output}", f"tile of {config.rows} rows", f"maxima {'raw' if config.use_fma else 'in log2'}"]
    words += [word for word, given in (("sink", config.sink), ("LSE", config.lse)) if given]
    words += [f"{counted(config.group, 'fused head')}"] if config.group > 1 else []
    words += [f"{counted(config.clusters, 'cluster')} for a tile"] if config.clusters > 1 else []
    words += [f"rows cut into {config.pieces} pieces"] if config.pieces > 1 else []
    words += [f"swizzle {config.swizzle}"] if config.swizzle != "none" else []
    words += [f"{counted(config.blocks_per_store, 'block')} a store"] if config.blocks_per_store else []
    return ", ".join(words)


def _show(run: CombineRun, chosen: bool) -> None:
    from fa4dsl.cli.console import console, print_facts
    from fa4dsl.runtime.diagnostics.terminal import styled

    why = " (no Hopper GPU here)" if chosen and run.device == "simulator" else ""
    print_facts(
        {
            "kernel": run.kernel,
            "device": f"{run.device}{why}",
            "design": f"{run.config.design}, {run.config.threads} threads: {run.choice.reason}",
            "options": _options(run),
            "cluster": f"{' x '.join(map(str, run.cluster))}, grid {' x '.join(map(str, run.grid))}",
            "problem": f"P={run.partitions}, D={run.depth}, {counted(run.rows, 'row')}, {counted(run.tiles, 'tile')}, {counted(run.heads, 'head')}, seed {run.seed}",
            "error": f"{run.max_abs_error:.3g} at most; the worst element reaches {100 * run.worst_share:.0f}% of its bound, {run.tolerance:.3g}",
            "time": f"{run.seconds:.3g} s, after {run.compile_seconds:.3g} s of compiling",
            "verdict": styled(run.verdict),
            "result": "right"
            if run.ok
            else "WRONG"
            if run.worst_share > 1 or not run.neighbours_untouched
            else "right numbers, but see the findings",
        }
    )
    if run.report is not None and run.report.verdict != "clean":
        run.report.print(console())
