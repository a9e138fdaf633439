"""``fa4dsl compile KERNEL -o OUT``: a kernel as an artifact, PTX or machine code."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fa4dsl.cli.kernels import Settings, debug_waits_option, set_option

if TYPE_CHECKING:
    from fa4dsl.passes.pipeline import Compilation
    from fa4dsl.runtime.manifest import Manifest


@click.command(short_help="Compile a kernel to an artifact.")
@click.argument("kernel")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="OUT",
    help="OUT.fa4 (an artifact), OUT.ptx or OUT.cubin.",
)
@set_option("Compile-time argument of the kernel; an artifact holds one variant for each value where a name is given several times.")
@debug_waits_option
@click.option("--timings", is_flag=True, help="Show the time of each stage.")
def command(kernel: str, output: Path, settings: Settings, debug_waits: bool, timings: bool) -> None:
    """Compile a kernel and write it to a file.

    An artifact holds PTX, machine code and a manifest, and is loaded by fa4dsl.runtime.load without a compiler.
    """
    from fa4dsl.cli.console import print_diagnostics
    from fa4dsl.cli.kernels import bind, find_kernel

    found = find_kernel(kernel, debug_waits)
    variants = list(settings.variants())
    if len(variants) > 1 and output.suffix in (".ptx", ".cubin"):
        raise click.UsageError(f"{output} holds one variant; write several into an artifact (OUT.fa4).")
    compilations = []
    loading = _load_compiler()
    for variant in variants:
        started = time.perf_counter()
        bound = bind(found, variant)
        compilation = bound.compilation
        compilations.append(compilation)
        # warnings have been shown as they were issued
        print_diagnostics(item for item in compilation.diagnostics if item.severity != "warning")
        _summary(compilation.artifact.manifest)
        if timings:
            _timings(compilation, time.perf_counter() - started, loading)
            loading = 0.0
    _write(output, compilations)
    click.echo(f"wrote {output} ({output.stat().st_size:,} bytes)")


def _load_compiler() -> float:
    """Seconds that importing MLIR and the passes takes, which happens once a process. Raises C002."""
    started = time.perf_counter()
    import fa4dsl.passes.pipeline  # noqa: F401
    from fa4dsl.passes.dialect.definition import require_mlir

    require_mlir()
    return time.perf_counter() - started


def _write(output: Path, compilations: list[Compilation]) -> None:
    from fa4dsl.runtime.artifact_container import save, write_atomically
    from fa4dsl.runtime.diagnostics import fail

    artifact = compilations[0].artifact
    if output.suffix not in (".ptx", ".cubin"):
        save(output, [compilation.artifact for compilation in compilations])
        return
    data = artifact.ptx.encode() if output.suffix == ".ptx" else artifact.cubin
    if data is None:
        fail("C057")
    try:
        write_atomically(output, data)
    except OSError as error:
        fail("R012", path=str(output), reason=error.strerror or str(error))


def _summary(manifest: Manifest) -> None:
    from fa4dsl.cli.console import print_facts

    threads = manifest.block[0] * manifest.block[1] * manifest.block[2]
    facts = {
        "kernel": f"{manifest.name} for {manifest.target}" + "".join(f", {name}={value}" for name, value in manifest.options.items()),
        "launch": f"{threads} threads, cluster of {' x '.join(map(str, manifest.cluster))}",
        "registers": f"{manifest.registers} a thread" + (f", {manifest.spill_bytes} bytes spilled" if manifest.spill_bytes else ""),
        "shared": f"{manifest.dynamic_shared_bytes:,} bytes",
    }
    for item in sorted(manifest.shared, key=lambda item: item.offset):
        shape = "x".join(map(str, item.shape))
        over = f", over {item.overlay}" if item.overlay else ""
        what = f"{item.arrivals} arrivals" if item.kind == "mbarrier" else f"{item.dtype}[{shape}], swizzle {item.swizzle}"
        facts[f"  {item.name}"] = f"{item.offset:>7,} .. {item.offset + item.size:,}: {what}, aligned to {item.alignment}{over}"
    print_facts(facts)


def _timings(compilation: Compilation, total: float, loading: float) -> None:
    from fa4dsl.cli.console import print_facts
    from fa4dsl.passes.pipeline import STAGES

    rows = {"load MLIR": loading} if loading else {}
    rows["trace"] = total - compilation.seconds
    for name, seconds in compilation.timings.items():
        # Passes are recorded before the stage they make, and are part of it.
        rows[name if name in (*STAGES, "assemble") else f"  {name}"] = seconds
    rows["total"] = total + loading
    print_facts({name: f"{1000 * seconds:8.1f} ms" for name, seconds in rows.items()})
