"""The simulator against what an H200 gave: random programs by digest, and the ISA's open points byte for byte.

`tests/hardware` makes the programs and ran them on the GPU; docs/hardware.md says how to record anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hardware.compare import Difference, assembler
from hardware.generate import CLASSES, generate_kind
from hardware.program import Program
from hardware.recorded import digests, read, read_whole
from hardware.simulate import run_program

FOLDER = Path(__file__).parent
RANDOM = read(FOLDER / "random.xz")
QUESTIONS = read_whole(FOLDER / "questions.xz")
KINDS = sorted({program.kind for program, _ in RANDOM})


def test_every_class_is_recorded() -> None:
    assert sorted(CLASSES) == KINDS
    assert len(RANDOM) >= 150 and len(QUESTIONS) >= 90


@pytest.mark.parametrize("kind", KINDS)
def test_random_programs_give_the_bits_of_an_h200(kind: str) -> None:
    for program, recorded in RANDOM:
        if program.kind != kind:
            continue
        outcome = run_program(program)
        assert not outcome.complaint, f"{program.name}: {outcome.complaint}"
        ours = digests(program, outcome.output.tobytes())
        wrong = [saved for saved, a, b in zip(program.saved, ours, recorded, strict=False) if a != b]
        assert not wrong, f"{program.name}: {program.body[wrong[0].line].strip()} ({wrong[0].what}) differs"
        assert ours == recorded, program.name


@pytest.mark.parametrize(("program", "hardware"), QUESTIONS, ids=[program.name for program, _ in QUESTIONS])
def test_open_points_are_answered_as_by_an_h200(program: Program, hardware: bytes) -> None:
    outcome = run_program(program)
    ours, theirs = outcome.output, np.frombuffer(hardware, np.uint8)
    for saved in program.saved:
        part = slice(saved.offset, saved.offset + saved.size * saved.count)
        assert ours[part].tobytes() == theirs[part].tobytes(), (
            saved.what,
            ours[part].view(f"u{saved.size}"),
            theirs[part].view(f"u{saved.size}"),
        )


def test_programs_repeat_exactly() -> None:
    for kind in CLASSES:
        first, second = generate_kind(kind, 5, 77), generate_kind(kind, 5, 77)
        assert first.text() == second.text() and np.array_equal(first.input(), second.input())
        assert first.text() != generate_kind(kind, 5, 78).text()


@pytest.mark.parametrize("kind", sorted(CLASSES))
def test_fresh_programs_run_without_a_complaint(kind: str) -> None:
    """Every program is defined and free of races: anything the simulator says is a false alarm. The order of threads changes nothing."""
    for index in range(2):
        program = generate_kind(kind, 20, index)
        outcome = run_program(program)
        assert not outcome.complaint, f"{program.name}: {outcome.complaint}"
        other = run_program(program, schedule="late" if index else "random")
        assert not other.complaint and np.array_equal(outcome.output, other.output), program.name


def test_changes_by_the_assembler_are_recognised() -> None:
    program = generate_kind("cvt", 5, 1)
    program.body = ["\tcvt.rm.f16.bf16 %h3, %h2;", "\tcvt.rzi.s32.f16 %r15, %h3;", "\tcvt.rzi.s32.f16 %r16, %h4;"]
    assert assembler(Difference(program, 1, "%r15", 0, 0, 1, 1))
    assert not assembler(Difference(program, 2, "%r16", 0, 0, 1, 1))
