"""The checks as passes of the pipeline: errors are raised together, warnings warned of, notes kept to `run_checks`."""

from __future__ import annotations

import warnings

import pytest
from checking.reports import context
from checking.rings import Ring

from fa4dsl.passes.checks.inventory import Inventory, kernel_functions
from fa4dsl.passes.checks.resources import lifetimes
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.pipeline import CompileOptions, compile_module
from fa4dsl.passes.registry import PASSES, run_passes
from fa4dsl.runtime.diagnostics import CATALOGUE, Fa4dslError, Fa4dslWarning
from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m

NAMES = ("check-resources", "check-tma", "check-protocol")


def test_they_are_registered_and_say_what_they_do() -> None:
    assert all(name in PASSES and PASSES[name].summary for name in NAMES)


@pytest.mark.parametrize(("name", "code"), [("check-protocol", "C100"), ("check-resources", "C143"), ("check-tma", "C166")])
def test_errors_are_raised(name: str, code: str) -> None:
    with pytest.raises(Fa4dslError) as caught:
        run_passes(parse(CATALOGUE[code].failing, context()), [name])
    assert caught.value.code == code


def test_all_errors_of_a_kernel_together() -> None:
    with pytest.raises(Fa4dslError) as caught:
        run_passes(parse(Ring(drop="start_barrier").text(), context()), ["check-protocol"])
    assert {item.fields["barrier"] for item in caught.value.diagnostics} == {"full", "empty"}


def test_warnings_are_warned_of() -> None:
    module = parse(CATALOGUE["C126"].failing, context())
    with pytest.warns(Fa4dslWarning, match="C126"):
        run_passes(module, ["check-protocol"])


def test_warnings_as_errors() -> None:
    module = parse(CATALOGUE["C126"].failing, context())
    with warnings.catch_warnings(), pytest.raises(Fa4dslError, match="C126"):
        warnings.simplefilter("error", Fa4dslWarning)
        run_passes(module, ["check-protocol"])


@pytest.mark.parametrize("code", ["C119", "C130", "C131", "C132", "C133"])
def test_notes_stop_nothing(code: str) -> None:
    run_passes(parse(CATALOGUE[code].failing, context()), ["check-protocol"])


def test_the_pipeline_checks_before_it_lowers() -> None:
    with pytest.raises(Fa4dslError) as caught:
        compile_module(parse(Ring(extra_bytes=16).text(), context()), CompileOptions(assemble=False))
    assert caught.value.code == "C101"


def test_a_correct_ring_compiles_in_silence() -> None:
    done = compile_module(parse(Ring(4, 2, matrix=True).text(), context()), CompileOptions(assemble=False))
    assert [item.code for item in done.diagnostics] == []


def test_lifetimes_of_overlays() -> None:
    module = parse(CATALOGUE["C144"].fixed, context())
    (function,) = kernel_functions(module)
    rows = {item.name: item for item in lifetimes(Inventory(function))}
    assert rows["output"].overlay == "scores"
    assert rows["scores"].last < rows["output"].first


def test_two_kernels_of_a_module_are_both_checked() -> None:
    first, second = CATALOGUE["C100"].failing, CATALOGUE["C103"].failing.replace("@kernel(", "@other(")
    body = second.split("@kernels {\n", 1)[1]
    text = first.rsplit("} }", 1)[0] + body
    with pytest.raises(Fa4dslError) as caught:
        run_passes(parse(text, context()), ["check-protocol"])
    assert [item.code for item in caught.value.diagnostics] == ["C100", "C103"]


def test_nothing_to_check() -> None:
    run_passes(parse(m.kernel(), context()), list(NAMES))
    run_passes(parse("module {\n}\n", context()), list(NAMES))
