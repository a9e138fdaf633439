"""The simulator's part of the catalogue: each failing example is reported with its code, at the lines that are at fault; each fixed one is clean."""

from __future__ import annotations

import runpy
import subprocess
from pathlib import Path

import pytest

from fa4dsl.passes.tools import find_tool
from fa4dsl.runtime.diagnostics import CATALOGUE, Diagnostic, Fa4dslError
from fa4dsl.runtime.diagnostics.page import example_kind
from fa4dsl.runtime.simulator.launch import launch_in_comments
from fa4dsl.runtime.simulator.run import simulate

CODES = sorted(code for code in CATALOGUE if code.startswith("S"))
SCHEDULES = (("eager", 0), ("late", 0), ("random", 1))
"""What PTX examples are run under; those in Python name theirs."""
NOT_PTX = {"S001", "S002", "S004", "S005", "S061", "S062"}
"""Failing examples that ptxas refuses too: the fault is that they are no valid PTX for sm_90a."""
NO_LINE = {
    "S008": "the launch is at fault; the kernel is named",
    "S009": "the launch is at fault; the file is named",
    "S103": "an argument of check() is at fault; the message names it",
}

AT_FAULT: dict[str, tuple[str, ...]] = {
    "S001": ("ret;",),
    "S002": (".address_size 32",),
    "S003": ("tex.1d",),
    "S004": ("add.u32 %sum, %thread;",),
    "S005": ("[tiles]",),
    "S006": ('"kernel": "copy"',),
    "S007": (".visible .entry k(",),
    "S010": ("x[i] = 2.0 * x[i]",),
    "S011": ("x.load(first + 1, width=4)",),
    "S012": ("target.store(tile, (row, 0))",),
    "S013": ("trap;",),
    "S014": ("_, [full+8];",),
    "S015": ("[done], %arrivals;",),
    "S016": ("mine.on(rank + step)",),
    "S017": ("bar.sync 1, 96;", "bar.arrive 1, 64;"),
    "S018": ("0x0000ffff",),
    "S020": ("tile[i] = x[i]", "y[i] = tile[63 - i]"),
    "S021": ("tile[i, thread.index()] = 1.0", "target.store(", "block.sync()"),
    "S022": ("total += tile[row", "matrix.load(tile"),
    "S023": ('order="release", scope="cta"', 'order="acquire", scope="gpu"'),
    "S024": ("bulk_load(", "2.0 * tile["),
    "S025": ("wgmma(a, b.T", "a[i // 64, i % 64, 0] = 0.0"),
    "S026": ("found[0] = i",),
    "S027": ("row[i] = x[i]", "row[i ^ 1]"),
    "S028": ("copy_async(tile", "tile[63 - i]"),
    "S029": ("%value, [slot];", "[%remote], [slot]", "// .release.cta by default", ".acquire.cluster"),
    "S030": ("// has the peer started?",),
    "S031": ("// does the peer still run?", "ret;"),
    "S032": ("bulk_store(y, tile)",),
    "S033": ("[%to], [source]", "ret;"),
    "S034": ("mbarrier.init", "st.shared.u32 [memory+64]"),
    "S035": ("[tile+64], [%x+64]", "_, [full], 64;"),
    "S036": ("mbarrier.init", "mbarrier.arrive"),
    "S037": ("mbarrier.inval", "mbarrier.arrive"),
    "S038": ("[met], 1;", "[met], 2;"),
    "S039": ("mbarrier.try_wait", "mbarrier.inval"),
    "S040": ("// the next phase",),
    "S041": ("// warps 0 and 1", "// warps 2 and 3"),
    "S042": ("[met], 3;", "[met], 2;"),
    "S043": ("tensormap.replace", "[%copy, {0, 0}]"),
    "S044": ("[memory+512]",),
    "S045": ("[tile], [%map", "wgmma.mma_async"),
    "S046": ("mine[i] = x", "mine.on(1 - rank)", 'order="relaxed"'),
    "S047": ("wgmma.mma_async", "add.f32 %d0"),
    "S048": ("wgmma.mma_async",),
    "S049": ("// of two phases ago",),
    "S050": ("[full+8], 0;",),
    "S051": ("mbarrier.try_wait", "// expects, but does not arrive"),
    "S052": ("loaded.wait()", "loaded.arrive(bytes=bytes)", "bulk_load("),
    "S053": ("met.wait()", "met.arrive()", "mbarrier(64)"),
    "S054": ("setmaxnreg.inc",),
    "S055": ("ready.sync()",),
    "S056": ("[empty], 0;", "[full], 0;"),
    "S057": ("barrier.cluster.wait",),
    "S060": ("mma.sp",),
    "S061": ("elect.sync",),
    "S062": ("mbarrier.arrive.relaxed",),
    "S063": ("alloca",),
    "S064": ("multimem.red",),
    "S065": ("call free",),
    "S066": ("st.global.u32 [%mine], %thread", "ld.global.nc"),
    "S100": ("setmaxnreg.inc",),
    "S101": ("y[i] = row[i]",),
    "S102": ("call log_value",),
    "S105": ("[%to], [source]",),
    "S106": ("shfl.sync.down", "ret;"),
    "S107": ("cp.reduce.async.bulk",),
}
"""Parts of the lines of the failing example that its report must name."""


def reports(example: str, folder: Path, schedule: str = "", seed: int = 0) -> tuple[Diagnostic, ...]:
    """What the example is told: by an exception, or by the report of its run."""
    ptx = example_kind(example) == "ptx"
    file = folder / ("example.ptx" if ptx else "example.py")
    file.write_text(example, encoding="utf-8")
    try:
        if not ptx:
            runpy.run_path(str(file))
            return ()
        launch = launch_in_comments(example, file)
        assert launch is not None, "a PTX example says how it is launched"
        report = simulate(example, launch, schedule=schedule, seed=seed, name=str(file))
    except Fa4dslError as error:
        return error.diagnostics
    assert bool(report.findings) == (report.verdict != "clean"), report.text()
    return tuple(finding.diagnostic for finding in report.findings)


def runs(example: str) -> tuple[tuple[str, int], ...]:
    return SCHEDULES if example_kind(example) == "ptx" else (("", 0),)


@pytest.mark.parametrize("code", CODES)
def test_failing_example(code: str, tmp_path: Path) -> None:
    example = CATALOGUE[code].failing
    assert example, f"{code} has no failing example"
    for schedule, seed in runs(example):
        found = reports(example, tmp_path, schedule, seed)
        told = "\n\n".join(map(str, found))
        assert {item.code for item in found} == {code}, f"{schedule}: {told or 'nothing is reported'}"
        lines = example.splitlines()
        frames = [frame.location for item in found for frame in item.frames]
        named = [lines[place.line - 1] for place in frames if place.line and Path(place.file).parent == tmp_path]
        for part in AT_FAULT.get(code, ()):
            assert sum(part in line for line in lines) >= 1, f"{part!r} is not in the example"
            assert any(part in line for line in named), f"{part!r} is not named\n{told}"
        assert all(item.message and item.mend and "{" not in item.mend for item in found)


@pytest.mark.parametrize("code", CODES)
def test_fixed_example(code: str, tmp_path: Path) -> None:
    example = CATALOGUE[code].fixed
    assert example, f"{code} has no fixed example"
    for schedule, seed in runs(example):
        found = reports(example, tmp_path, schedule, seed)
        assert not found, f"{schedule}: " + "\n\n".join(map(str, found))


def test_every_example_is_checked_for_its_line() -> None:
    assert set(CODES) == AT_FAULT.keys() | NO_LINE.keys()
    assert not AT_FAULT.keys() & NO_LINE.keys()


@pytest.mark.parametrize("code", CODES)
def test_twin_differs_little(code: str) -> None:
    """The fixed example is the failing one but for its mend: a few lines."""
    failing, fixed = (set(map(str.strip, text.splitlines())) for text in (CATALOGUE[code].failing, CATALOGUE[code].fixed))
    assert len(failing - fixed) <= 3
    assert len(fixed - failing) <= 3
    assert len(CATALOGUE[code].fixed.splitlines()) <= 45


@pytest.mark.parametrize("code", [code for code in CODES if example_kind(CATALOGUE[code].failing) == "ptx"])
def test_ptx_is_accepted_by_ptxas(code: str, tmp_path: Path) -> None:
    tool = find_tool("ptxas")
    assert tool is not None
    for name in ("failing", "fixed"):
        file = tmp_path / f"{name}.ptx"
        file.write_text(getattr(CATALOGUE[code], name), encoding="utf-8")
        # -c: a function without a body here may stand in another file (S102)
        run = subprocess.run([tool, "-c", "-O0", "-arch=sm_90a", file, "-o", tmp_path / "out"], capture_output=True, text=True)
        refused = name == "failing" and code in NOT_PTX
        assert (run.returncode != 0) == refused, run.stderr
