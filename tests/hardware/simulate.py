"""A program in the simulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hardware.program import Program

from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.dtypes import find_dtype
from fa4dsl.runtime.simulator.launch import Argument, Launch, PointerArgument, TensorMapArgument
from fa4dsl.runtime.simulator.run import simulate
from fa4dsl.runtime.tensor_map import TensorMapDescription


@dataclass
class Outcome:
    """The bytes of o, and what the simulator had to say ("" when it found nothing)."""

    output: np.ndarray[Any, np.dtype[np.uint8]]
    complaint: str


def description(entry: dict[str, Any]) -> TensorMapDescription:
    """A program's tensor map as the runtime's record."""
    found = find_dtype(entry["dtype"])
    assert found is not None
    return TensorMapDescription(
        dtype=found.name,
        sizes=tuple(entry["sizes"]),
        strides_bytes=tuple(entry["strides_bytes"]),
        box=tuple(entry["box"]),
        element_strides=tuple(entry["element_strides"]),
        swizzle=entry["swizzle"],
        oob_fill=entry["oob_fill"],
    )


def run_program(program: Program, check: bool | None = None, schedule: str = "eager") -> Outcome:
    """Simulates a program. A verdict other than "clean" is a complaint; without checks, one of "error" or "incomplete"."""
    buffers = {"x": program.input().copy(), "o": program.output()}
    arguments: list[Argument] = [PointerArgument("x"), PointerArgument("o")]
    arguments += [TensorMapArgument(description(entry), entry["buffer"], entry["offset"]) for entry in program.maps]
    launch = Launch(
        program.name, (program.cluster, 1, 1), (program.block, 1, 1), (program.cluster, 1, 1), program.dynamic, buffers, arguments
    )
    check = program.check if check is None else check
    try:
        report = simulate(program.text(), launch, check=check, schedule=schedule, step_limit=2_000_000)
    except Fa4dslError as error:
        return Outcome(buffers["o"], f"{error.code}: {error}")
    found = [finding for finding in report.findings if check or finding.diagnostic.severity == "error"]
    complaint = "" if not found else f"{report.verdict}: {found[0].diagnostic.code} {found[0].diagnostic.message}"
    if not complaint and report.verdict == "incomplete":
        complaint = "incomplete"
    return Outcome(buffers["o"], complaint)
