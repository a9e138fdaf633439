"""``fa4dsl run splitk-combine``: the combine in any of its designs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from fa4dsl.cli.run_options import counted, device_option, json_option, run_and_show, schedule_option, seed_option

if TYPE_CHECKING:
    from fa4dsl.kernels.run_splitk_combine import CombineRun


@click.command(short_help="Combine the partial results of split-K attention.")
@device_option
@click.option("--partitions", default=8, show_default=True, type=int, help="P: partial results that a cluster combines, CTAs of a cluster.")
@click.option("--depth", default=128, show_default=True, type=int, help="D: columns of the output.")
@click.option("--rows", default=128, show_default=True, type=int, help="Valid rows of each tile, 1 to 128.")
@click.option("--tiles", default=2, show_default=True, type=int, help="Tiles of rows.")
@click.option("--heads", default=1, show_default=True, type=int, help="Heads.")
@seed_option
@schedule_option
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
@json_option
def command(device: str, seed: int, schedule: str, as_json: bool, log2_maxima: bool, sink: bool, **options: Any) -> int:
    """Combine random partial results of split-K attention and compare with a float64 reference.

    In the simulator every access and barrier is checked too. Exit status 0 only if the result is right and nothing was found.
    """
    from fa4dsl.kernels.run_splitk_combine import run_splitk_combine

    run = partial(run_splitk_combine, use_fma=not (log2_maxima or sink), sink=sink, **options)
    return run_and_show("splitk-combine", run, _facts, device=device, seed=seed, schedule=schedule, as_json=as_json)


def _facts(run: CombineRun) -> dict[str, str]:
    sizes = f"{counted(run.rows, 'row')}, {counted(run.tiles, 'tile')}, {counted(run.heads, 'head')}"
    return {
        "design": f"{run.config.design}, {run.config.threads} threads: {run.choice.reason}",
        "options": _options(run),
        "cluster": f"{' x '.join(map(str, run.cluster))}, grid {' x '.join(map(str, run.grid))}",
        "problem": f"P={run.partitions}, D={run.depth}, {sizes}, seed {run.seed}",
    }


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
