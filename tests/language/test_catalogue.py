"""Every language diagnostic: its failing example raises it, at the right place; its fixed example compiles to valid IR."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

from fa4dsl.runtime.diagnostics import CATALOGUE, Fa4dslError

CODES = sorted(code for code in CATALOGUE if code.startswith("L"))
UNDER_THE_CARET = {
    "L003": "cuont",
    "L004": "value",
    "L005": "try:",
    "L006": "block.snyc",
    "L007": "128 // (2 - 2)",
    "L008": "n",
    "L009": "n[0]",
    "L010": "x[1] * n",
    "L011": "n",
    "L012": "5000000000",
    "L013": "x.load(0, width=4) + x.load(4, width=2)",
    "L014": "n / 2",
    "L015": "x[1] % x[2]",
    "L016": "x[0]",
    "L017": "f32",
    "L018": "pair[0]",
    "L019": "items[0]",
    "L020": "helper(x[1], x[2])",
    "L021": "n",
    "L022": "4",
    "L023": "values[0, 0, 0]",
    "L024": "n",
    "L025": "a, b",
    "L026": "n(1)",
    "L027": "helper(x[1])",
    "L028": "again(value + 1)",
    "L029": "n",
    "L030": "n > 0",
    "L031": "n > 0",
    "L032": "value > 0",
    "L040": "thread.count() == 256",
    "L041": "n > 0",
    "L042": "return",
    "L044": "static_range(100000)",
    "L045": "0",
    "L046": "True",
    "L047": '"w"',
    "L048": '"256B"',
    "L049": '"gpu"',
    "L050": "mbarrier(1)",
    "L051": "block.sync()",
    "L052": 'role("inner", warps=1)',
    "L053": 'role("load", warps=2)',
    "L054": 'role("b", warps=2, first_warp=1)',
    "L055": 'role("a", warps=8)',
    "L056": "100",
    "L057": "4",
    "L060": "3",
    "L061": "flags[0]",
    "L062": "n",
    "L063": "x[0]",
    "L064": "x[0]",
    "L068": "a",
    "L069": "a.T",
    "L070": "stage.on(1)",
    "L071": "2",
    "L072": "stage.as_(f64)",
    "L073": "stage.reshape(8, 4)",
    "L074": "4",
    "L075": "1.5",
    "L076": "stage[0]",
    "L078": "shared(bf16, (64, 128), swizzle=swizzle128)",
    "L079": "a",
    "L080": "ring.fill()",
    "L081": "done.on(1)",
    "L082": "full.arrive()",
    "L083": "0",
    "L084": "done.on(1).wait()",
    "L085": "done.wait()",
    "L086": "full[n & 1].wait()",
    "L087": "named_barrier(64)",
    "L088": "48",
    "L089": "n > 0",
    "L090": "t",
    "L091": "x.load(b, (8, 0), done)",
    "L093": "(0, 0, 0, 0, 0, 0)",
    "L094": "x.load(t, (0, 0))",
    "L095": "box",
    "L099": "registers(f32, Rows(4))",
    "L100": "x[0]",
    "L101": '"relased"',
    "L102": "12",
    "L103": '"cg"',
    "L110": "n",
}
"""What the caret underlines in the failing example; codes that are not about one expression are left out."""


def run(tmp_path: Path, text: str) -> None:
    ast.parse(text)
    file = tmp_path / "example.py"
    file.write_text(text, encoding="utf-8")
    runpy.run_path(str(file))


@pytest.mark.parametrize("code", CODES)
def test_failing_example_raises_its_code(code: str, tmp_path: Path) -> None:
    assert CATALOGUE[code].failing, f"{code} has no failing example"
    with pytest.raises(Fa4dslError) as caught:
        run(tmp_path, CATALOGUE[code].failing)
    assert caught.value.code == code, str(caught.value)
    assert "{" not in caught.value.diagnostic.message.replace("{shape}", "")
    if code in UNDER_THE_CARET:
        place = caught.value.diagnostic.frames[0].location
        line = CATALOGUE[code].failing.splitlines()[place.line - 1]
        assert place.file == str(tmp_path / "example.py")
        assert line[place.column - 1 : place.end_column - 1 if place.end_column else None] == UNDER_THE_CARET[code], str(caught.value)


@pytest.mark.parametrize("code", [code for code in CODES if CATALOGUE[code].fixed])
def test_fixed_example_compiles(code: str, tmp_path: Path) -> None:
    run(tmp_path, CATALOGUE[code].fixed)


def test_every_code_about_an_expression_has_its_caret_checked() -> None:
    about_functions = {
        "L001",
        "L002",
        "L033",
        "L034",
        "L035",
        "L036",
        "L037",
        "L038",
        "L039",
        "L043",
        "L058",
        "L059",
        "L065",
        "L066",
        "L067",
        "L092",
    }
    # L2..: configurations of the library's kernels, refused when they are made.
    about_functions |= {code for code in CODES if code.startswith("L2")}
    assert set(CODES) == set(UNDER_THE_CARET) | about_functions | {"L096", "L097"}
