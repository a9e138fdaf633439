"""``fa4dsl cache info|clear``: the compiled kernels on disk."""

from __future__ import annotations

import click


@click.group(short_help="Look at the cache of compiled kernels, or clear it.")
def command() -> None:
    """Look at the cache of compiled kernels on disk, or clear it.

    FA4DSL_CACHE_DIR moves it, FA4DSL_CACHE_BYTES bounds its size (default 1 GiB).
    """


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(as_json: bool) -> None:
    """Show where the cache is, how many kernels it holds, and its size."""
    from fa4dsl.cli.console import print_facts, print_json
    from fa4dsl.runtime import cache

    found = cache.info()
    if as_json:
        print_json({name: getattr(found, name) for name in ("folder", "entries", "size", "limit", "usable")})
        return
    print_facts(
        {
            "folder": found.folder if found.usable else f"{found.folder} (cannot be written: every kernel is compiled anew)",
            "kernels": str(found.entries),
            "size": f"{found.size / 2**20:.1f} MiB of at most {found.limit / 2**20:.0f} MiB",
        }
    )


@command.command()
def clear() -> None:
    """Remove every compiled kernel from the cache."""
    from fa4dsl.runtime import cache

    before = cache.info().size
    count = cache.clear()
    click.echo(f"removed {count} {'kernel' if count == 1 else 'kernels'}, {before / 2**20:.1f} MiB")
