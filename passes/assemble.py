"""PTX to machine code by ptxas, whose notes become diagnostics at the author's lines."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from fa4dsl.passes.target import Target
from fa4dsl.passes.tools import find_tool
from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, Frame, Location, diagnostic, fail


@dataclass(frozen=True)
class Assembly:
    """What ptxas made of one kernel. Sizes in bytes; spills are bytes stored and loaded a thread."""

    cubin: bytes
    registers: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    stack: int = 0
    shared: int = 0
    barriers: int = 0
    diagnostics: tuple[Diagnostic, ...] = field(default=())
    log: str = ""


@cache
def ptxas_version() -> str:
    """ptxas' version, such as "13.0.88", for cache keys; "" where there is none."""
    tool = find_tool("ptxas")
    if tool is None:
        return ""
    text = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"V(\d+(?:\.\d+)+)", text)
    return match[1] if match else "unknown"


def assemble(ptx: str, target: Target, kernel: str, place: Location | None = None) -> Assembly:
    """Assembles PTX for `target`. `kernel` names the entry for messages, `place` is where it is defined.

    Raises C050 where there is no ptxas, C051 where it refuses the PTX, C052 where it ignores setmaxnreg, C055 where it runs
    too long or fails for another reason. Spills (C053), wgmma that waits (C054) and other remarks (C058) are reported in `diagnostics`.
    """
    tool = find_tool("ptxas")
    if tool is None:
        fail("C050", place)
    try:
        with tempfile.TemporaryDirectory(prefix="fa4dsl-") as folder:
            source, output = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
            source.write_text(ptx)
            command = [str(tool), f"-arch={target.chip}", "-O3", "-v", "-lineinfo", str(source), "-o", str(output)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
            log = done.stdout + done.stderr
            if done.returncode:
                _refuse(log, ptx, kernel, place)
            cubin = output.read_bytes()
    except (OSError, subprocess.TimeoutExpired) as error:
        # No such program, no room for its files, or no end.
        fail("C055", place, kernel=kernel, reason=str(error))
    return _report(cubin, log, ptx, kernel, place)


def _refuse(log: str, ptx: str, kernel: str, place: Location | None) -> None:
    """C051 for what the PTX says, at its line where ptxas names one; C055 for anything else."""
    found = re.findall(r"(?:line (\d+); *|^ptxas )(?:error|fatal)\s*:\s*(.*)", log, re.MULTILINE)
    found = [(number, problem.strip()) for number, problem in found if number or problem.startswith(("Entry function", "Unresolved"))]
    if not found:
        fail("C055", place, kernel=kernel, reason=log.strip().splitlines()[0] if log.strip() else "ptxas failed without a word")
    number, problem = found[0]
    lines = ptx.splitlines()
    words = [f"in: {lines[int(number) - 1].strip().rstrip(';')}"] if number and int(number) <= len(lines) else []
    if len(found) > 1:
        words.append(f"{len(found)} errors in all")
    at = source_of(ptx, int(number)) if number else None
    fail("C051", at or place, kernel=kernel, problem=problem, where=f" ({'; '.join(words)})" if words else "")


def source_of(ptx: str, line: int) -> Location | None:
    """The author's position of a PTX line: the last `.loc` before it with a line number."""
    lines = ptx.splitlines()
    files = {int(number): name for number, name in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', ptx, re.MULTILINE)}
    for text in reversed(lines[:line]):
        match = re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", text)
        if match and int(match[2]) and int(match[1]) in files:
            return Location(files[int(match[1])], int(match[2]), int(match[3]))
    return None


def _number(pattern: str, log: str) -> int:
    return sum(int(value) for value in re.findall(pattern, log))


def _report(cubin: bytes, log: str, ptx: str, kernel: str, place: Location | None) -> Assembly:
    stores, loads = _number(r"(\d+) bytes spill stores", log), _number(r"(\d+) bytes spill loads", log)
    found: list[Diagnostic] = []
    if "setmaxnreg' ignored" in log or ("setmaxnreg" in log and "ignored" in log):
        line = next((line for line in log.splitlines() if "setmaxnreg" in line), "")
        fail("C052", *_at(ptx, "setmaxnreg", place), kernel=kernel, reason=line.partition("ignored")[2].strip("; .") or line.strip())
    if stores or loads:
        registers = _number(r"Used (\d+) registers", log)
        found.append(diagnostic("C053", place, kernel=kernel, stores=stores, loads=loads, registers=registers))
    for line, remark in _remarks(log):
        said = remark.partition(" in function")[0].partition(" in the function")[0].strip(". ")
        at_line = line or (found_line[1] if (found_line := re.search(r"line (\d+)", said)) else "")
        source = source_of(ptx, int(at_line)) if at_line else None
        if source:
            # The frame shows the author's line; that of the PTX means nothing to them.
            said = re.sub(r" (?:in )?(?:around |at )?line \d+", "", said)
        frames = [Frame(source)] if source else _at(ptx, "wgmma" if "wgmma" in said else ".entry", place)
        if "wgmma" in said.lower() or "gmma" in said.lower():
            found.append(diagnostic("C054", *frames, kernel=kernel, reason=said))
        else:
            found.append(diagnostic("C058", *frames, kernel=kernel, remark=said))
    return Assembly(
        cubin=cubin,
        registers=_number(r"Used (\d+) registers", log),
        spill_stores=stores,
        spill_loads=loads,
        stack=_number(r"(\d+) bytes stack frame", log),
        shared=_number(r"(\d+) bytes smem", log),
        barriers=_number(r"used (\d+) barriers", log),
        diagnostics=tuple(_unique(found)),
        log=log,
    )


def _remarks(log: str) -> list[tuple[str, str]]:
    """PTX line ("" where none is named) and words of each warning, and of the notes that carry a code or tell of an unknown stack."""
    warning = r"^ptxas\s+(?:.*line (\d+);\s*)?warning\s*:\s*(.*)$"
    note = r"^ptxas\s+info()\s*:\s*(\(C\d+\).*|.*Stack size.*)$"
    return re.findall(warning, log, re.MULTILINE) + re.findall(note, log, re.MULTILINE)


def _unique(found: list[Diagnostic]) -> list[Diagnostic]:
    return list({str(item): item for item in found}.values())


def _at(ptx: str, word: str, place: Location | None) -> list[Frame]:
    """The author's line of the first instruction with `word`, then the kernel's."""
    for number, text in enumerate(ptx.splitlines(), 1):
        if word in text:
            source = source_of(ptx, number)
            if source is not None:
                return [Frame(source), *([Frame(place, "the kernel")] if place else [])]
    return [Frame(place)] if place else []


def disassemble(cubin: bytes) -> str:
    """SASS of machine code, by nvdisasm or cuobjdump. C056 where neither is there."""
    for name, arguments in (("nvdisasm", ["-g", "-c"]), ("cuobjdump", ["-sass"])):
        tool = find_tool(name)
        if tool is None:
            continue
        with tempfile.TemporaryDirectory(prefix="fa4dsl-") as folder:
            path = Path(folder, "kernel.cubin")
            path.write_bytes(cubin)
            done = subprocess.run([str(tool), *arguments, str(path)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
    raise Fa4dslError(diagnostic("C056"))
