"""``fa4dsl run splitk-decode``: decode attention over sequences of any lengths."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from fa4dsl.cli.run_options import counted, device_option, json_option, run_and_show, schedule_option, seed_option

if TYPE_CHECKING:
    from fa4dsl.kernels.run_splitk_decode import DecodeRun

FEW = 6
"""Sequences whose lengths are all named."""


def read_lengths(_: click.Context, __: click.Parameter, given: str) -> tuple[int, ...]:
    """The callback of ``--lengths 4096,77``."""
    parts = [part.strip() for part in given.split(",")]
    wrong = next((part for part in parts if not re.fullmatch(r"[0-9]{1,20}", part)), None)
    if wrong is not None:
        raise click.BadParameter(
            f"{wrong!r} is no number of keys; give one of 0 or more for each sequence, parted by commas, as in 4096,77."
        )
    return tuple(map(int, parts))


@click.command(short_help="Decode attention, its keys split over a cluster.")
@device_option
@click.option(
    "--lengths",
    default="1000,77",
    show_default=True,
    metavar="KEYS,KEYS",
    callback=read_lengths,
    help="Keys of each sequence, 0 or more, parted by commas.",
)
@click.option("--key-heads", default=1, show_default=True, type=int, help="Heads of keys and values.")
@click.option("--group", default=8, show_default=True, type=int, help="G: query heads of a key head.")
@click.option("--queries", default=1, show_default=True, type=int, help="New tokens of a sequence; with G and D at most 4,096 elements.")
@click.option("--depth", default=128, show_default=True, type=int, help="D: 64, 128 or 256.")
@click.option(
    "--partitions", default=0, show_default=True, type=int, help="P: CTAs of a cluster, 1 to 16; 0: by the table of measurements."
)
@click.option("--clusters", default=0, show_default=True, type=int, help="Clusters that share a key head; 0: by the table.")
@click.option(
    "--stages", default=0, show_default=True, type=int, help="Tiles of keys and of values in shared memory at a time; 0: by the table."
)
@click.option(
    "--page", default=0, show_default=True, type=int, help="Rows of a page of the KV cache, a multiple of 64; 0: keys in one piece."
)
@click.option("--cache", default="bf16", show_default=True, help="Element type of keys and values: bf16 or e4m3.")
@click.option("--lse", is_flag=True, help="Write the log of the sum of exponentials too.")
@seed_option
@schedule_option
@json_option
def command(device: str, seed: int, schedule: str, as_json: bool, **options: Any) -> int:
    """Attend to random keys of one or more sequences, one new token or a few each, and compare with a float64 reference.

    In the simulator every access and barrier is checked too. Exit status 0 only if the result is right and nothing was found.
    """
    from fa4dsl.kernels.run_splitk_decode import run_splitk_decode

    run = partial(run_splitk_decode, **options)
    return run_and_show("splitk-decode", run, _facts, device=device, seed=seed, schedule=schedule, as_json=as_json)


def _facts(run: DecodeRun) -> dict[str, str]:
    config = run.config
    heads = f"{counted(run.key_heads, 'key head')} of {counted(config.group, 'query head')}"
    cache = f"{config.cache} in pages of {config.page} rows in any order" if config.page else f"{config.cache} keys in one piece"
    heads += f", {config.queries} queries" if config.queries > 1 else ""
    return {
        "variant": f"P={config.partitions}, {counted(config.clusters, 'cluster')}, {counted(config.stages, 'stage')}: {run.choice.reason}",
        "options": ", ".join([cache, *(["LSE"] if config.lse else [])]),
        "cluster": f"{' x '.join(map(str, run.cluster))}, grid {' x '.join(map(str, run.grid))}",
        "problem": f"{_sequences(run.lengths)}, {heads}, D={config.depth}, seed {run.seed}",
    }


def _sequences(lengths: tuple[int, ...]) -> str:
    """How many sequences of which lengths."""
    if len(lengths) > FEW:
        keys = f"{min(lengths)} to {max(lengths)} keys"
    elif len(lengths) > 1:
        keys = f"{', '.join(map(str, lengths[:-1]))} and {lengths[-1]} keys"
    else:
        keys = counted(lengths[0], "key")
    return f"{counted(len(lengths), 'sequence')} of {keys}"
