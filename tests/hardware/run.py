"""The differential test of the simulator against a GPU: prepare programs, run them on a GPU, compare the outputs.

    python -m hardware.run prepare FOLDER --programs 14000 --seed 2    # generate; no GPU needed
    python -m hardware.run build FOLDER                                # assemble, which shows what ptxas rejects; `run` does it when needed
    python -m hardware.run run FOLDER                                  # on a machine with a Hopper GPU
    python -m hardware.run compare FOLDER                              # simulate, compare bit for bit, print a table
    python -m hardware.run record FOLDER DATA --programs 400           # keep some programs and their outputs as test data

with `tests` and the package on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hardware.assemble import MODULE, assemble_all
from hardware.compare import assembler, compare, compare_all, operand_values, shrink, table
from hardware.device import read_outputs, run_all
from hardware.generate import CLASSES, generate, generate_kind
from hardware.program import read_programs, write_programs
from hardware.questions import questions
from hardware.simulate import run_program

PARTS = 4


def prepare(folder: Path, programs: int, seed: int, kinds: list[str], open_points: bool = False) -> None:
    """Writes programs.xz. `open_points`: the questions instead, each in a module of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    if open_points:
        made = questions()
    elif kinds:
        made = [generate_kind(kinds[index % len(kinds)], seed, index) for index in range(programs)]
    else:
        made = [generate(seed, index) for index in range(programs)]
    write_programs(folder / "programs.xz", made)
    (folder / "modules.json").unlink(missing_ok=True)
    print(f"{len(made)} programs, {time.monotonic() - started:.0f} s")


def build(folder: Path) -> None:
    """Assembles the programs: cubins.xz and modules.json. Those that ptxas rejects are named and left out."""
    started = time.monotonic()
    programs = read_programs(folder / "programs.xz")
    modules, rejected = assemble_all(programs, size=1 if programs[0].kind == "question" else MODULE)
    table_of, at = [], 0
    for cubin, entries in modules:
        table_of.append([at, len(cubin), [program.name for program in entries]])
        at += len(cubin)
    (folder / "cubins.bin").write_bytes(b"".join(cubin for cubin, _ in modules))
    (folder / "modules.json").write_text(json.dumps(table_of))
    print(f"{len(programs)} programs in {len(modules)} modules, {len(rejected)} rejected by ptxas, {time.monotonic() - started:.0f} s")
    for name, reason in list(rejected.items())[:20]:
        print(f"  {name}: {reason}")


def run(folder: Path, output: Path) -> None:
    """Runs all programs; writes outputs.N.z and failures.json to `output`."""
    output.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    if not (folder / "modules.json").exists():
        build(folder)
    raw = folder / "outputs.raw"
    raw.unlink(missing_ok=True)
    failures = run_all(folder, raw)
    data = raw.read_bytes()
    size = -(-len(data) // PARTS)
    for part in range(PARTS):
        (output / f"outputs.{part}.z").write_bytes(zlib.compress(data[part * size : (part + 1) * size], 6))
    (output / "failures.json").write_text(json.dumps(failures))
    print(
        f"{len(read_outputs(raw))} programs ran, {len(failures)} failed, {time.monotonic() - started:.1f} s, {len(data) / 1e6:.1f} MB of outputs"
    )
    for name, reason in list(failures.items())[:20]:
        print(f"  {name}: {reason}")


def outputs_of(folder: Path) -> dict[str, bytes]:
    """The GPU's outputs by program, gathered from the parts in `folder`."""
    raw = folder / "outputs.raw"
    raw.write_bytes(b"".join(zlib.decompress((folder / f"outputs.{part}.z").read_bytes()) for part in range(PARTS)))
    return read_outputs(raw)


def report(folder: Path, outputs: Path, workers: int | None, kinds: list[str], limit: int, show_all: bool) -> int:
    """Prints the table; exit status 1 when something differs for another reason than a change that ptxas makes."""
    started = time.monotonic()
    hardware = outputs_of(outputs)
    programs = [program for program in read_programs(folder / "programs.xz") if not kinds or program.kind in kinds]
    items = [(program, hardware[program.name]) for program in programs if program.name in hardware]
    text, differences = table(compare_all(items, workers))
    print(text)
    print(f"{time.monotonic() - started:.0f} s; {sum(program.name not in hardware for program in programs)} programs without output")
    shown: dict[str, int] = {}
    unexplained = [item for item in differences if not assembler(item)]
    for item in differences if show_all else unexplained:
        shown[item.program.kind] = shown.get(item.program.kind, 0) + 1
        if shown[item.program.kind] > limit:
            continue
        print("\n" + item.text())
        values = operand_values(item, hardware[item.program.name])
        if values:
            print(f"    operands {values}")
        shorter = shrink(item, hardware[item.program.name])
        path = folder / f"different.{item.program.name}.ptx"
        path.write_text(shorter.text())
        print(f"    {len(shorter.body)} of {len(item.program.body)} lines: {path}")
    return 1 if unexplained else 0


def answers(folder: Path, outputs: Path) -> None:
    """Prints what the GPU answered to each question, beside what the simulator says where that differs."""
    hardware, failures = outputs_of(outputs), json.loads((outputs / "failures.json").read_text())
    for program in read_programs(folder / "programs.xz"):
        if program.name in failures:
            print(f"{program.name}: {failures[program.name]}")
            continue
        simulated = run_program(program)
        for saved in program.saved:
            theirs, ours = (
                np.frombuffer(data, np.uint8)[saved.offset : saved.offset + saved.size * saved.count].view(f"u{saved.size}")
                for data in (hardware[program.name], simulated.output.tobytes())
            )
            same = np.array_equal(theirs, ours)
            print(
                f"{program.name}: {saved.what}: {_brief(theirs)}{'' if same else f'   SIMULATOR {_brief(ours)} {simulated.complaint[:100]}'}"
            )


def _brief(values: Any) -> str:
    """One value when all are equal, else the first of the runs."""
    runs = [f"{int(values[0]):#x}"]
    for before, value in pairwise(values):
        if before != value:
            runs.append(f"{int(value):#x}")
    return " ".join(runs[:12]) + (" ..." if len(runs) > 12 else "")


def record(folder: Path, outputs: Path, data: Path, count: int) -> None:
    """Keeps programs and what the GPU gave as test data: of the questions every byte, of random programs digests of `count` of them."""
    from hardware.recorded import choose, write

    programs, hardware = read_programs(folder / "programs.xz"), outputs_of(outputs)
    if programs[0].kind == "question":
        kept = [program for program in programs if program.name in hardware and not program.name.startswith(("q_try_wait", "q_fault"))]
        write(data, kept, hardware, whole=True)
    else:
        kept = [program for program in choose(programs, hardware, count) if compare(program, hardware[program.name]) is None]
        write(data, kept, hardware)
    print(f"{len(kept)} programs, {data.stat().st_size} bytes: {data}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("prepare", "build", "run", "compare", "record", "answers"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "prepare":
            command.add_argument("--seed", type=int, default=1)
            command.add_argument("--questions", action="store_true", help="the open points of the ISA instead of random programs")
        if name == "record":
            command.add_argument("data", type=Path)
        if name in ("prepare", "record"):
            command.add_argument("--programs", type=int, default=14000)
        if name in ("prepare", "compare"):
            command.add_argument("--kinds", default="", help=f"comma-separated, of {', '.join(CLASSES)}")
        if name != "prepare":
            command.add_argument("--outputs", type=Path, help="folder of the GPU's outputs; default FOLDER")
        if name == "compare":
            command.add_argument("--workers", type=int)
            command.add_argument("--show", type=int, default=3, help="differences shown for each class")
            command.add_argument("--all", action="store_true", help="show also the differences that ptxas explains")
    options = parser.parse_args()
    kinds = [kind for kind in getattr(options, "kinds", "").split(",") if kind]
    if options.command == "prepare":
        prepare(options.folder, options.programs, options.seed, kinds, options.questions)
        return 0
    if options.command == "build":
        build(options.folder)
        return 0
    outputs = options.outputs or options.folder
    if options.command == "run":
        run(options.folder, outputs)
        return 0
    if options.command == "answers":
        answers(options.folder, outputs)
        return 0
    if options.command == "record":
        record(options.folder, outputs, options.data, options.programs)
        return 0
    return report(options.folder, outputs, options.workers, kinds, options.show, options.all)


if __name__ == "__main__":
    raise SystemExit(main())
