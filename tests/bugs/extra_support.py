"""Cases of extra/: their launches, from a first line that describes them, and what a run has to show."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, ScalarArgument, TensorMapArgument
from fa4dsl.runtime.simulator.run import simulate
from fa4dsl.runtime.tensor_map import TensorMapDescription

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.simulator.check.report import Report

EXTRA = Path(__file__).parent / "extra"
WORDS = np.random.default_rng(6).integers(0, 1 << 20, 1024, np.uint32)
SMALL = np.random.default_rng(7)
A = SMALL.integers(-3, 4, (64, 64)).astype(np.float32)
B = SMALL.integers(-3, 4, (8, 64)).astype(np.float32)
PRODUCT = (A @ B.T).reshape(-1).view(np.uint32)


@dataclass(frozen=True)
class Case:
    """`kind` and each word of `mend` are alternatives with `|` between; `accept`: groups of lines, of each of which a report must name one."""

    name: str
    kind: str
    mend: tuple[str, ...]
    accept: tuple[frozenset[int], ...]
    review: bool
    meta: dict[str, Any]

    def __str__(self) -> str:
        return self.name


def cases() -> list[Case]:
    found = []
    for source in sorted(EXTRA.glob("*.cu")):
        lines = source.read_text(encoding="utf-8").splitlines()
        meta = json.loads(lines[0].removeprefix("// "))
        groups: dict[str, set[int]] = {}
        for number, line in enumerate(lines, 1):
            for mark in re.findall(r"// @(\d)", line):
                groups.setdefault(mark, set()).add(number)
        accept = tuple(frozenset(groups[mark]) for mark in sorted(groups))
        found.append(Case(source.stem, meta["kind"], tuple(meta.get("mend", ())), accept, meta["verdict"] == "review", meta))
    return found


def bfloat16(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bytes of small integers as bfloat16, exact."""
    return (values.view(np.uint32) >> 16).astype(np.uint16).view(np.uint8).reshape(-1).copy()


def tiled(buffer: str, sizes: tuple[int, int], box: tuple[int, int], swizzle: Any, dtype: str, item: int) -> TensorMapArgument:
    return TensorMapArgument(TensorMapDescription(dtype, sizes, (sizes[0] * item,), box, (1, 1), swizzle), buffer)


ARGUMENTS: dict[str, Callable[[], Any]] = {
    "mapA": lambda: tiled("a", (64, 64), (64, 64), "128B", "bf16", 2),
    "mapAnone": lambda: tiled("a", (64, 64), (64, 64), "none", "bf16", 2),
    "mapB": lambda: tiled("b", (64, 8), (64, 8), "128B", "bf16", 2),
    "mapIn": lambda: tiled("in", (32, 32), (32, 8), "none", "u32", 4),
    "mapOut": lambda: tiled("out", (32, 32), (32, 8), "none", "u32", 4),
    "mapA32": lambda: tiled("a", (64, 64), (64, 32), "128B", "bf16", 2),
    "mapB4": lambda: tiled("b", (64, 8), (64, 4), "128B", "bf16", 2),
    "mapA64sw": lambda: tiled("a", (64, 64), (32, 64), "64B", "bf16", 2),
    "mapB64sw": lambda: tiled("b", (64, 8), (32, 8), "64B", "bf16", 2),
    "outf": lambda: PointerArgument("out"),
}


def launch_of(case: Case, variant: str) -> Launch:
    meta = case.meta
    buffers = {
        "in": WORDS.view(np.uint8).copy(),
        "out": np.full(meta.get("out", 8192), 255, np.uint8),
        "scratch": np.zeros(meta.get("scratch", 256), np.uint8),
        "a": bfloat16(A),
        "b": bfloat16(B),
    }
    names = meta.get("fault_args", meta["args"]) if variant == "fault" else meta["args"]
    arguments: list[Any] = []
    for name in names:
        if isinstance(name, int):
            arguments.append(ScalarArgument(name, 4))
        else:
            arguments.append(ARGUMENTS[name]() if name in ARGUMENTS else PointerArgument(name))
    used = {argument.buffer for argument in arguments if not isinstance(argument, ScalarArgument)}
    buffers = {name: data for name, data in buffers.items() if name in used}
    return Launch(
        "k",
        (meta["grid"], 1, 1),
        (meta["block"], 1, 1),
        (meta["cluster"], 1, 1),
        meta.get("smem", 0),
        buffers,
        arguments,
        {"out": "uint32"} if "out" in used else {},
    )


def run(case: Case, variant: str, schedule: str, seed: int) -> tuple[Report, Launch]:
    launch = launch_of(case, variant)
    return simulate((EXTRA / f"{case.name}.{variant}.ptx").read_text(encoding="utf-8"), launch, schedule=schedule, seed=seed), launch


def expected(case: Case) -> np.ndarray[Any, Any] | None:
    """The first words of the output, from the expression in the case's first line."""
    text = case.meta.get("expected")
    if text is None:
        return None
    found = np.asarray(eval(text, {"np": np, "inp": WORDS, "mm": PRODUCT, "A": A, "B": B}))
    return found.view(np.uint32) if found.dtype == np.float32 else found.astype(np.uint32)


def complaint(report: Report, case: Case) -> str:
    """What the report of a fault lacks; empty if it is right."""
    if report.verdict not in (("review", "error") if case.review else ("error",)):
        return f"verdict {report.verdict}"
    best = "no finding"
    for finding in report.findings:
        lines = {line for _, line in finding.as_dict()["lines"]}
        lacks = []
        if case.kind != "*" and finding.kind not in case.kind.split("|"):
            lacks.append(f"kind {finding.kind}")
        lacks += [f"lines {sorted(group)}" for group in case.accept if not lines & group]
        mend = finding.diagnostic.mend
        lacks += [f"mend {words}" for words in case.mend if not any(word in mend for word in words.split("|"))]
        if not lacks:
            return ""
        best = f"{finding.diagnostic.code} {sorted(lines)}: {', '.join(lacks)}"
    return best
