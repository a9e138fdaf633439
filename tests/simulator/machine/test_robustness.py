"""Spoiled instructions are refused with a catalogue error or run to a defined end; Python errors never come through."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest

from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.ptx.instruction import Address, Immediate, Instruction, Negated, Operand, Pair, Register, Sink, Special, Symbol, Vector
from fa4dsl.runtime.ptx.parser import parse
from fa4dsl.runtime.simulator.build import Build
from fa4dsl.runtime.simulator.decoder import Decoder
from fa4dsl.runtime.simulator.launch import Launch, ScalarArgument
from fa4dsl.runtime.simulator.schedule import make_schedule

CORPUS = Path(__file__).parent.parent / "corpus" / "hardware"
REPLACEMENTS: tuple[Operand, ...] = (
    Register("%zp"),
    Register("%zh"),
    Register("%zr"),
    Register("%zd"),
    Immediate(3, "integer"),
    Immediate(0x3F800000, "f32"),
    Immediate(0x4338000000000000, "f64"),
    Sink(),
    Special("%tid.x"),
    Special("%clock64"),
    Symbol("nowhere"),
    Vector((Register("%zr"), Register("%zr"))),
    Vector(()),
    Pair(Register("%zr"), Register("%zp")),
    Address(Register("%zr")),
    Address(Register("%zd"), 4),
    Address(Symbol("nowhere")),
    Negated(Register("%zp")),
    Negated(Register("%zr")),
    Address(Register("%zd"), 0, (Register("%zr"),)),
)
WORDS = ("u32", "f32", "sync", "shared", "v4", "b64", "x4", "global", "relaxed", "tile", "aligned", "cluster")
VALUES = (0, 1, 1040, 0x1000000100, 0x7E00000440, 0xFFFFFFFF)


def spoiled(instruction: Instruction, rng: random.Random) -> Instruction:
    operands = list(instruction.operands)
    choice = rng.random()
    if choice < 0.25 and operands:
        operands.pop(rng.randrange(len(operands)))
    elif choice < 0.8 and operands:
        operands[rng.randrange(len(operands))] = rng.choice(REPLACEMENTS)
    elif choice < 0.9:
        operands.insert(rng.randrange(len(operands) + 1), rng.choice(REPLACEMENTS))
    else:
        rng.shuffle(operands)
    words = instruction.mnemonic.split(".")
    if rng.random() < 0.3:
        if rng.random() < 0.5 and len(words) > 1:
            words.pop(rng.randrange(1, len(words)))
        else:
            words.insert(rng.randrange(1, len(words) + 1), rng.choice(WORDS))
    return dataclasses.replace(instruction, operands=tuple(operands), mnemonic=".".join(words))


@pytest.mark.parametrize("case", sorted(path.parent.name for path in CORPUS.glob("*/launch.json")))
def test_spoiled_instructions(case: str) -> None:
    rng = random.Random(case)
    module = parse((CORPUS / case / "kernel.ptx").read_text())
    function = next(item for item in module.functions.values() if item.entry)
    cluster = (*function.directives.get("reqnctapercluster", (1,)), 1, 1)[:3]
    launch = Launch(
        function.name,
        cluster,
        (32, 1, 1),
        cluster,
        1024,
        {"b": np.zeros(1 << 16, np.uint8)},
        [ScalarArgument(0, item.size) for item in function.parameters],
    )
    build = Build(module, launch, make_schedule("eager", 0), 1000, lambda geometry, build: None)
    machine = build.machine
    decoder = Decoder(machine, module, build.storage, machine.program)
    decoder.bases, decoder.function = build.storage.function_addresses, function
    function.registers.update({"%zp": "pred", "%zh": "b16", "%zr": "b32", "%zd": "b64"})
    refused = 0
    for instruction in function.instructions[:: max(len(function.instructions) // 120, 1)]:
        machine.start_wave()
        for row in decoder.registers.values():
            if row.dtype != np.bool_:
                row[:] = rng.choice(VALUES) & ((1 << 8 * row.dtype.itemsize) - 1)
        with np.errstate(all="ignore"):
            try:
                step = decoder.decode(spoiled(instruction, rng))
                if step.straight is not None:
                    step.straight(slice(0, 32))
                elif step.control is not None:
                    step.control(slice(0, 32), 3)
            except Fa4dslError:
                refused += 1
    assert refused > 5
