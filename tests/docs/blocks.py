"""The fenced blocks of the project's Markdown pages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```([\w-]*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARKER = re.compile(r"<!-- ci: (\w+) -->\n$")


@dataclass(frozen=True)
class Block:
    """One fenced block. `marker` names the step of .ci/run that executes it, where there is one."""

    page: Path
    line: int
    language: str
    text: str
    marker: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        marker = MARKER.search(text[: match.start()])
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, match[1], match[2], marker[1] if marker else ""))
    return found


ALL_BLOCKS = [block for page in PAGES for block in blocks(page)]


@dataclass(frozen=True)
class Command:
    """A command of a console block and the output written under it; `...` in the output stands for any text."""

    block: Block
    command: str
    output: str

    def __str__(self) -> str:
        return f"{self.block}: {self.command}"


def commands(block: Block) -> list[Command]:
    """The commands of a block, each line that starts with `$ `, joined over trailing backslashes."""
    found: list[Command] = []
    for chunk in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = chunk.splitlines()
        count = next(index for index, line in enumerate(lines) if not line.endswith("\\")) + 1
        found.append(Command(block, "\n".join(lines[:count]), "\n".join(lines[count:]).strip()))
    return found


def matches(pattern: str, text: str) -> bool:
    """Whether `text` is `pattern`, where `...` stands for anything and runs of blanks are alike."""
    words = [re.escape(" ".join(part.split())).replace(r"\ ", r"\s+") for part in pattern.split("...")]
    return re.fullmatch(r"\s*" + r".*?".join(r"\s*" + word + r"\s*" for word in words) + r"\s*", text, re.DOTALL) is not None
