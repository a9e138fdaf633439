"""Every operation of the dialect, in every instruction form, becomes PTX that ptxas takes."""

from __future__ import annotations

import re

from dialect_samples import Sample, kernel, samples

from fa4dsl.passes.assemble import assemble, source_of
from fa4dsl.passes.dialect.definition import new_context
from fa4dsl.passes.dialect.table import OPERATIONS
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.pipeline import CompileOptions, compile_module
from fa4dsl.passes.target import target_named
from fa4dsl.runtime.diagnostics import Fa4dslError


def test_every_operation_has_a_sample() -> None:
    assert {sample.operation for sample in samples()} == {operation.name for operation in OPERATIONS}


def test_every_form_assembles() -> None:
    """All forms go through the pipeline alone; their PTX is assembled in batches (one module with many entries), as ptxas starts slowly."""
    context = new_context()
    refused: list[str] = []
    entries: list[tuple[Sample, str]] = []
    for sample in samples():
        try:
            compiled = compile_module(parse(kernel(sample), context), CompileOptions(assemble=False))
            entries.append((sample, compiled.artifact.ptx))
        except Fa4dslError as error:
            refused.append(f"{sample.label}: {error}")
    assert not refused, "\n".join(refused)
    wanted = {operation.name: operation.ptx for operation in OPERATIONS}
    silent = {"shared_alloc", "mbarrier_alloc", "inline_ptx", "approximate"}
    for sample, ptx in entries:
        word = re.split(r"[ .;{|]", wanted[sample.operation].strip())[0]
        assert sample.operation in silent or not word or word in ptx, sample.label
    text = _merged([ptx for _, ptx in entries])
    assembly = assemble(text, target_named("sm_90a"), "every operation")
    assert assembly.cubin[:4] == b"\x7fELF"


def _merged(modules: list[str]) -> str:
    """One PTX module with an entry for each: the header once, entries and parameters renamed."""
    bodies = []
    for number, text in enumerate(modules):
        body = text[text.index(".visible .entry") :]
        body = "\n".join(line for line in body.splitlines() if not re.match(r"\s*\.(loc|file|section)\b", line))
        bodies.append(re.sub(r"\bkernel\b|\bkernel_param", lambda match, n=number: match[0].replace("kernel", f"kernel{n}"), body))
    head = modules[0][: modules[0].index(".visible .entry")]
    if "fa4_shared" not in head:
        head += ".extern .shared .align 1024 .b8 fa4_shared[];\n"
    return head + "\n".join(bodies)


def test_a_line_of_ptx_leads_to_its_source() -> None:
    context = new_context()
    text = kernel(Sample("block_sync"))
    ptx = compile_module(parse(text, context), CompileOptions(assemble=False)).artifact.ptx
    line = next(number for number, content in enumerate(ptx.splitlines(), 1) if "bar.sync" in content)
    place = source_of(ptx, line)
    assert place is not None
    assert "fa4.block_sync" in text.splitlines()[place.line - 1]
