"""``fa4dsl run KERNEL``: a kernel of the library on random inputs, against its float64 reference. Each kernel has options of its own."""

from __future__ import annotations

import click

from fa4dsl.cli import run_splitk_combine, run_splitk_decode
from fa4dsl.cli.kernels import LIBRARY, suggestion, wrong_kernel


class LibraryKernels(click.Group):
    """One subcommand for each kernel of the library. Its options may also stand in front of its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            raise click.UsageError(f"Missing KERNEL; the library has: {', '.join(LIBRARY)}.", ctx)
        place = next((place for place, word in enumerate(args) if word in self.commands), 0)
        return super().parse_args(ctx, [args[place], *args[:place], *args[place + 1 :]])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.commands:
            wrong_kernel(f"{name!r} is not in the library, which has: {', '.join(LIBRARY)}.{suggestion(name, LIBRARY)}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LibraryKernels, short_help="Run a library kernel and check its result.", options_metavar="", subcommand_metavar="KERNEL [OPTIONS]"
)
def command() -> None:
    """Run a library kernel on random inputs and compare it with a float64 reference.

    In the simulator every access and barrier is checked too. Exit status 0 only if the result is right and nothing was found.
    """


command.add_command(run_splitk_combine.command, "splitk-combine")
command.add_command(run_splitk_decode.command, "splitk-decode")
