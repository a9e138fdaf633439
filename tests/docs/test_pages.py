"""Every command and snippet of README and docs/ runs and prints what the page says; links lead somewhere; generated pages are current."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs.blocks import ALL_BLOCKS, PAGES, ROOT, Block, blocks, commands, matches

CONSOLES = [block for block in ALL_BLOCKS if block.language == "console"]
SNIPPETS = [page for page in PAGES if any(block.language == "python" for block in blocks(page))]
RUN_BY_CI = [block for block in ALL_BLOCKS if block.language == "bash"]
LANGUAGES = {"text", "mlir", "ptx", "json", "console", "python", "bash"}


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """A folder to run in, with what a reader has in the checkout, so that what is written lands elsewhere."""
    for name in ("examples", "tests", "docs", "fa4dsl", "passes", "runtime", "README.md"):
        if (ROOT / name).exists():
            (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.mark.parametrize("block", CONSOLES, ids=str)
def test_commands(block: Block, workshop: Path) -> None:
    """The commands of one block, in order, in one folder."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    for command in commands(block):
        done = subprocess.run(["bash", "-c", command.command], cwd=workshop, env=environment, capture_output=True, text=True, timeout=300)
        printed = done.stdout + done.stderr
        assert done.returncode != 70 and "Traceback" not in printed, printed
        if command.output:
            assert matches(command.output, printed), f"{command}: the page says\n{command.output}\n\nthe command prints\n{printed}"
        else:
            assert done.returncode == 0, printed


@pytest.mark.parametrize("page", SNIPPETS, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets(page: Path, workshop: Path) -> None:
    """A page's Python blocks are one program, read in order."""
    program = workshop / f"{page.stem.replace('-', '_').lower()}.py"
    program.write_text("\n\n".join(block.text for block in blocks(page) if block.language == "python"), encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], cwd=workshop, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_install_commands_are_run_by_ci() -> None:
    """Blocks of plain bash install things: .ci/run executes them, by their marker, on a fresh machine."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert RUN_BY_CI, "README says how to install"
    for block in RUN_BY_CI:
        assert block.marker and f"(readme {block.marker})" in script, f"{block} is not run by .ci/run"


@pytest.mark.parametrize("block", ALL_BLOCKS, ids=str)
def test_languages_are_known(block: Block) -> None:
    assert block.language in LANGUAGES


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{target} does not exist"


def test_generated_pages_are_current() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_comparison_is_current() -> None:
    """Runs every public bug and its twin: the page says what this version finds."""
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "compare.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_readme_shows_the_example() -> None:
    snippet = next(block.text for block in blocks(ROOT / "README.md") if block.language == "python")
    kernel = snippet[snippet.index("@kernel") : snippet.index("\n\n\n", snippet.index("@kernel"))]
    assert kernel in (ROOT / "examples" / "cluster_sum.py").read_text(encoding="utf-8")


def test_the_matcher_can_fail() -> None:
    assert matches("a ... c", "a b c") and matches("x  y", "x y") and matches("a\n...\nb", "a\nq\nr\nb")
    assert not matches("a ... c", "a b d") and not matches("a", "ab") and not matches("a b", "ab")
