"""The compiler's catalogue: each failing example raises its code, each fixed one compiles to PTX."""

from __future__ import annotations

import pytest

from fa4dsl.passes.pipeline import run_pipeline
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.diagnostics.catalogue.compiler import ENTRIES

PIPELINE = "fa4-verify,place-shared-memory,insert-proxy-fences,lower-fa4,fa4-to-llvm,emit-ptx"
ENTRIES_HERE = [entry for entry in ENTRIES if entry.code < "C100" and entry.failing]


@pytest.mark.parametrize("entry", ENTRIES_HERE, ids=lambda entry: entry.code)
def test_failing_example(entry: object) -> None:
    with pytest.raises(Fa4dslError) as caught:
        run_pipeline(entry.failing, PIPELINE)
    assert caught.value.code == entry.code


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES_HERE if entry.fixed], ids=lambda entry: entry.code)
def test_fixed_example(entry: object) -> None:
    if "fa4.kernel" in entry.fixed:
        assert ".visible .entry kernel" in run_pipeline(entry.fixed, PIPELINE)
    else:
        assert run_pipeline(entry.fixed, "fa4-verify").startswith("module")
