"""Every code of the checks: its failing example reports it and nothing else, its fixed one nothing at all."""

from __future__ import annotations

import pytest
from checking.reports import codes, reports

from fa4dsl.runtime.diagnostics import Entry
from fa4dsl.runtime.diagnostics.catalogue import checks

IDS = [entry.code for entry in checks.ENTRIES]


@pytest.mark.parametrize("entry", checks.ENTRIES, ids=IDS)
def test_failing(entry: Entry) -> None:
    found = reports(entry.failing)
    assert [item.code for item in found] == [entry.code]
    assert found[0].severity == entry.severity
    assert found[0].frames, "a report without a place"
    assert "{" not in found[0].message + found[0].mend


@pytest.mark.parametrize("entry", checks.ENTRIES, ids=IDS)
def test_fixed(entry: Entry) -> None:
    assert codes(entry.fixed) == []
