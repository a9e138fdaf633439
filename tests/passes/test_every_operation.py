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


BATCH = 24


def test_every_form_assembles() -> None:
    """Batches of uses go through the pipeline in a kernel each; all kernels are assembled as one PTX module, as ptxas starts slowly."""
    context = new_context()
    every = samples()
    batches = [every[start : start + BATCH] for start in range(0, len(every), BATCH)]
    texts = [compiled(context, batch) for batch in batches]
    wanted = {operation.name: operation.ptx for operation in OPERATIONS}
    # Their tables say what they may become; the lit tests hold each form to its text.
    open_ended = {"shared_alloc", "mbarrier_alloc", "inline_ptx", "approximate"}
    for batch, ptx in zip(batches, texts, strict=True):
        for sample in batch:
            word = re.split(r"[ .;{|]", wanted[sample.operation].strip())[0]
            assert sample.operation in open_ended or not word or word in ptx, sample.label
    assembly = assemble(_merged(texts), target_named("sm_90a"), "every operation")
    assert assembly.cubin[:4] == b"\x7fELF"


def compiled(context: object, batch: list[Sample]) -> str:
    """PTX of a batch. Where it is refused, the uses are tried one by one, to name the one that is at fault."""
    try:
        return compile_module(parse(kernel(*batch), context), CompileOptions(assemble=False, checks=False)).artifact.ptx
    except Fa4dslError as error:
        if len(batch) == 1:
            raise AssertionError(f"{batch[0].label}: {error}") from error
        for sample in batch:
            compiled(context, [sample])
        raise


def _merged(modules: list[str]) -> str:
    """One PTX module with an entry for each: the header once, entries and parameters renamed."""
    bodies = []
    for number, text in enumerate(modules):
        body = text[text.index(".visible .entry") :]
        body = "\n".join(line for line in body.splitlines() if not re.match(r"\s*\.(loc|file|section)\b", line))
        constants = re.findall(r"^\.global .*;$", text, re.MULTILINE)
        body = "\n".join([*constants, body])
        body = re.sub(r"\bfa4_format", f"fa4_format{number}_", body)
        bodies.append(re.sub(r"\bkernel\b|\bkernel_param", lambda match, n=number: match[0].replace("kernel", f"kernel{n}"), body))
    head = modules[0][: modules[0].index(".visible .entry")]
    head = re.sub(r"^\.global .*;$", "", head, flags=re.MULTILINE)
    if "vprintf" not in head:
        head += ".extern .func (.param .b32 status) vprintf (.param .b64 format, .param .b64 arguments);\n"
    if "fa4_shared" not in head:
        head += ".extern .shared .align 1024 .b8 fa4_shared[];\n"
    return head + "\n".join(bodies)


def test_a_line_of_ptx_leads_to_its_source() -> None:
    context = new_context()
    text = kernel(Sample("block_sync"))
    ptx = compiled(context, [Sample("block_sync")])
    line = next(number for number, content in enumerate(ptx.splitlines(), 1) if "bar.sync" in content)
    place = source_of(ptx, line)
    assert place is not None
    assert "fa4.block_sync" in text.splitlines()[place.line - 1]
