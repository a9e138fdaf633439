"""``fa4dsl opt PIPELINE FILE``: any pass pipeline on a .mlir file or a kernel."""

from __future__ import annotations

import click

from fa4dsl.cli.kernels import LIBRARY, Settings, set_option


@click.command(short_help="Run compiler passes on MLIR or a kernel.")
@click.argument("pipeline", required=False, default="")
@click.argument("file", required=False, default="-", metavar="FILE.mlir|KERNEL|-")
@set_option("Compile-time argument of a KERNEL.")
@click.option("--locations", is_flag=True, help="Print source locations.")
@click.option("--list", "list_passes", is_flag=True, help="List this project's passes.")
def command(pipeline: str, file: str, settings: Settings, locations: bool, list_passes: bool) -> int:
    """Run a pass pipeline, this project's passes and MLIR's own mixed, and print the result.

    PIPELINE is passes parted by commas, such as place-shared-memory,insert-proxy-fences. lower-fa4 stands for all lowering
    passes, fa4-to-llvm for MLIR's own down to the LLVM dialect; emit-llvm or emit-ptx may come last.
    """
    if list_passes:
        from fa4dsl.passes.registry import PASSES

        for item in PASSES.values():
            click.echo(f"{item.name:<22}  {item.summary}")
        return 0
    if not pipeline:
        raise click.UsageError("Give a PIPELINE, or --list.")
    from fa4dsl.cli.app import report
    from fa4dsl.passes.separate_process import guarded
    from fa4dsl.runtime.diagnostics import fail

    def work() -> int:
        try:
            _run(pipeline, file, settings, locations)
        except Exception as error:
            return report(error)
        return 0

    if file in LIBRARY or ".py:" in file:
        _run(pipeline, file, settings, locations)
        return 0
    # Hand-written IR can end MLIR's process.
    return guarded(work, lambda reason: fail("C024", operations=file, reason=reason))


def _run(pipeline: str, file: str, settings: Settings, locations: bool) -> None:
    from fa4dsl.cli.console import print_code
    from fa4dsl.passes.opt import read_source
    from fa4dsl.passes.pipeline import run_pipeline

    language = "ptx" if pipeline.endswith("emit-ptx") else "llvm" if pipeline.endswith("emit-llvm") else "mlir"
    if file in LIBRARY or ".py:" in file:
        from fa4dsl.cli.kernels import bind, find_kernel

        traced = bind(find_kernel(file), settings.single()).trace()
        text = run_pipeline(traced.module, pipeline, file, locations)
    else:
        text = run_pipeline(read_source(file), pipeline, file, locations)
    print_code(text, language)
