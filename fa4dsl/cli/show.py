"""``fa4dsl show KERNEL --stage ...``: a kernel as the compiler sees it, at any stage."""

from __future__ import annotations

import click

from fa4dsl.cli.kernels import Settings, set_option

STAGES = ("fa4", "placed", "fenced", "nvvm", "llvm-dialect", "llvm", "ptx", "sass")
LANGUAGES = {"llvm": "llvm", "ptx": "ptx", "sass": "text"}
"""What a stage is highlighted as; the others are MLIR."""


@click.command(short_help="Print a kernel at a stage of the compiler.")
@click.argument("kernel")
@click.option(
    "--stage", type=click.Choice(STAGES), default="ptx", show_default=True, help="From the language's own dialect to machine code."
)
@set_option("Compile-time argument of the kernel.")
@click.option("--locations", is_flag=True, help="Source locations in MLIR stages; with them the text can be fed to opt without loss.")
def command(kernel: str, stage: str, settings: Settings, locations: bool) -> None:
    """Print a kernel at a stage of the compiler.

    \b
    fa4           as the front end built it
    placed        with shared memory laid out
    fenced        with the proxy fences that the compiler inserts
    nvvm          every fa4 operation lowered
    llvm-dialect  MLIR's LLVM dialect
    llvm          LLVM IR
    ptx, sass     what runs
    """
    from fa4dsl.cli.console import print_code
    from fa4dsl.cli.kernels import bind, find_kernel

    bound = bind(find_kernel(kernel), settings.single())
    if stage == "fa4":
        # As traced, without compiling further: also a kernel that a later pass refuses can be looked at.
        print_code(str(bound.trace().module.operation.get_asm(enable_debug_info=locations)), "mlir")
        return
    stages = bound.stages
    text = stages.mlir(stage, locations) if stage not in LANGUAGES else stages[stage]
    print_code(text, LANGUAGES.get(stage, "mlir"))
