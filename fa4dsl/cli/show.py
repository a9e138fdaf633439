"""``fa4dsl show KERNEL``: a kernel as the compiler sees it, at any stage, or what it takes from the machine."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from fa4dsl.cli.kernels import Settings, debug_waits_option, set_option

if TYPE_CHECKING:
    from fa4dsl.passes.resource_map import Placed, ResourceMap

STAGES = ("fa4", "placed", "fenced", "recorded", "nvvm", "llvm-dialect", "llvm", "ptx", "sass")
LANGUAGES = {"llvm": "llvm", "ptx": "ptx", "sass": "text"}
"""What a stage is highlighted as; the others are MLIR."""
WIDEST = 140
"""Columns of the map; a narrower terminal breaks its lines rather than lose some."""


@click.command(short_help="Print a kernel at a stage of the compiler.")
@click.argument("kernel")
@click.option(
    "--stage", type=click.Choice(STAGES), default="ptx", show_default=True, help="From the language's own dialect to machine code."
)
@click.option("--map", "show_map", is_flag=True, help="Instead: the map of shared memory, with lifetimes, and the registers of the roles.")
@set_option("Compile-time argument of the kernel.")
@debug_waits_option
@click.option("--locations", is_flag=True, help="Source locations in MLIR stages; with them the text can be fed to opt without loss.")
def command(kernel: str, stage: str, show_map: bool, settings: Settings, debug_waits: bool, locations: bool) -> None:
    """Print a kernel at a stage of the compiler.

    \b
    fa4           as the front end built it
    placed        with shared memory laid out
    fenced        with the proxy fences that the compiler inserts
    recorded      with records of waits, where --debug-waits asks for them
    nvvm          every fa4 operation lowered
    llvm-dialect  MLIR's LLVM dialect
    llvm          LLVM IR
    ptx, sass     what runs
    """
    from fa4dsl.cli.console import print_code
    from fa4dsl.cli.kernels import bind, find_kernel

    bound = bind(find_kernel(kernel, debug_waits), settings.single())
    if show_map:
        from mlir import ir

        from fa4dsl.passes.resource_map import resource_map

        traced = bound.trace()
        with traced.context, ir.Location.unknown():
            _print_map(resource_map(traced.module))
        return
    if stage == "fa4":
        # As traced, without compiling further: also a kernel that a later pass refuses can be looked at.
        print_code(str(bound.trace().module.operation.get_asm(enable_debug_info=locations)), "mlir")
        return
    stages = bound.stages
    text = stages.mlir(stage, locations) if stage not in LANGUAGES else stages[stage]
    print_code(text, LANGUAGES.get(stage, "mlir"))


def _print_map(found: ResourceMap) -> None:
    from rich.table import Table

    from fa4dsl.cli.console import console

    out = console()
    out.width = max(out.width, WIDEST)
    out.print(f"[bold]{found.kernel}[/]: {found.bytes:,} of {found.capacity:,} bytes of shared memory")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("offset", "bytes", "align"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in ("name", "what", "swizzle", "overlays", "in use"):
        table.add_column(column, no_wrap=True)
    for item in found.objects:
        shared = item.object
        what = f"{shared.dtype} {' x '.join(map(str, shared.shape))}"
        if shared.kind == "mbarrier":
            count = f"{shared.shape[0]} mbarriers" if shared.shape[0] > 1 else "mbarrier"
            what = f"{count}, {shared.arrivals} arrivals, scope {shared.scope}"
        table.add_row(
            f"{shared.offset:,}",
            f"{shared.size:,}",
            str(shared.alignment),
            shared.name,
            what,
            shared.swizzle,
            shared.overlay or "",
            _lifetime(item, found.file),
        )
    out.print(table, soft_wrap=False)
    if not any(role.registers for role in found.roles):
        out.print(f"\n{found.threads} threads of at most {found.launch_registers} registers; no role has a budget of its own")
    else:
        words = f"{found.launch_registers} registers each at launch; the roles take {found.registers:,} of {found.pool:,}"
        out.print(f"\n{found.threads} threads, {words}")
    if not found.roles:
        return
    roles = Table(box=None, pad_edge=False, header_style="dim")
    roles.add_column("role", no_wrap=True)
    for column in ("warps", "threads", "registers", "change", "in all"):
        roles.add_column(column, justify="right", no_wrap=True)
    for role in found.roles:
        each = found.budget(role)
        change = each - found.launch_registers
        last = role.first_warp + role.warps - 1
        warps = f"{role.first_warp}-{last}" if role.warps > 1 else str(last)
        roles.add_row(
            role.name,
            warps,
            str(32 * role.warps),
            str(each),
            f"{change:+d}" if role.registers and change else "",
            f"{32 * role.warps * each:,}",
        )
    if found.rest:
        roles.add_row("(in no role)", "", str(found.rest), str(found.launch_registers), "", f"{found.rest * found.launch_registers:,}")
    out.print(roles, soft_wrap=False)


def _lifetime(item: Placed, file: str) -> str:
    """``lines 3 to 9``, with the file's name where that is not the kernel's own."""
    if item.first is None or item.last is None:
        return "never"
    first, last = item.first, item.last
    if first.file != last.file:
        return f"{PurePath(first.file).name}:{first.line} to {PurePath(last.file).name}:{last.line}"
    lines = f"line {first.line}" if first.line == last.line else f"lines {first.line} to {last.line}"
    return lines if first.file == file else f"{lines} of {PurePath(first.file).name}"
