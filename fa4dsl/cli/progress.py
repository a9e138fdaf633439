"""A progress bar on a terminal, and nothing elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(what: str, wanted: bool = True) -> Iterator[Callable[[float], None] | None]:
    """Gives a function that takes the finished fraction (0 to 1), or None where no terminal would show it."""
    from fa4dsl.cli.console import console

    out = console(stderr=True)
    if not (wanted and out.is_terminal):
        yield None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task(what, total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction)
