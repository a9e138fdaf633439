"""Every form of every instruction that sm_90a has, as far as the tables of `forms` go: ptxas takes it, and it runs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from simulator.forms import arithmetic_forms, matrix_forms, memory_forms, sheet, synchronisation_forms, tensor_forms

from fa4dsl.passes.tools import find_tool
from fa4dsl.runtime.ptx.requirements import requirement, target_serves
from fa4dsl.runtime.simulator.run import simulate

TABLES = {
    name: sheet.forms(table)
    for module in (arithmetic_forms, memory_forms, synchronisation_forms, matrix_forms, tensor_forms)
    for name, table in module.TABLES.items()
}
THREADS = {"lone copies": 1, "im2col": 1, "barriers": 128, "wgmma": 128, "sparse wgmma": 128}
"""How many threads execute a table's forms, where not one warp."""


@pytest.fixture(scope="module")
def text() -> str:
    """One file with a kernel for each table."""
    return sheet.HEAD + "".join(sheet.kernel(lines, name.replace(" ", "_")) for name, lines in TABLES.items())


def refusals(text: str, folder: Path) -> list[str]:
    tool = find_tool("ptxas")
    assert tool is not None
    (folder / "forms.ptx").write_text(text)
    run = subprocess.run([tool, "-O0", "-arch=sm_90a", folder / "forms.ptx", "-o", folder / "out"], capture_output=True, text=True)
    lines = text.splitlines()
    return [
        f"{line} {lines[int(line.split('line ')[1].split(';')[0]) - 1]}"
        for line in run.stderr.splitlines()
        if "error" in line and "line " in line
    ]


def test_ptxas_takes_every_form(text: str, tmp_path: Path) -> None:
    assert not refusals(text, tmp_path)
    assert sum(map(len, TABLES.values())) > 3900


@pytest.mark.parametrize("name", TABLES)
def test_every_form_runs(name: str, text: str) -> None:
    report = simulate(sheet.HEAD + sheet.kernel(TABLES[name]), sheet.launch(threads=THREADS.get(name, 32)), check=False, name="forms.ptx")
    # S105: a bulk copy to the own CTA, which needs no cluster here
    assert report.verdict == "clean" or {finding.diagnostic.code for finding in report.findings} == {"S105"}, report.text()


NOT_SEEN = re.compile(
    r";|%|b128|\], [12]$|_, \[bar\], r5|^fence\.(acquire|release)\.(cta|gpu|sys)|^v(add|sub|avrg|absdiff|min|max|set|mad|shl|shr)"
)
"""Forms of several instructions; demands of operands, which are not looked at; and what ptxas 13.0 and later ones judge differently."""


@pytest.mark.parametrize("target", ["sm_70", "sm_80", "sm_89", "sm_90"])
def test_ptxas_agrees_about_targets(target: str, tmp_path: Path) -> None:
    """What the file's target lacks: ptxas refuses just these instructions."""
    lines = sorted({line for table in TABLES.values() for line in table if not NOT_SEEN.search(line)})
    tool = find_tool("ptxas")
    assert tool is not None
    text = sheet.bare([f"{line};" for line in lines], target)
    file = tmp_path / "targets.ptx"
    file.write_text(text)
    run = subprocess.run([tool, "-O0", "-arch=sm_90a", file, "-o", tmp_path / "out"], capture_output=True, text=True)
    first = text.splitlines().index(f"{lines[0]};") + 1
    refused = {lines[int(line.split("line ")[1].split(";")[0]) - first] for line in run.stderr.splitlines() if "; error" in line}
    assert refused == {line for line in lines if not target_serves(target, requirement(line.split(" ")[0]))}
