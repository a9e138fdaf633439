"""Constraints of inline PTX, checked before LLVM sees them: it ends the process over some that do not fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

LETTER_TYPES: dict[str, tuple[str, ...]] = {
    "b": ("i1",),
    "h": ("i16", "f16", "bf16"),
    "r": ("i32", "f32", "vector<2xf16>", "vector<2xbf16>", "vector<2xi16>", "!llvm.ptr<3>", "!llvm.ptr<7>", "!llvm.ptr<5>"),
    "l": ("i64", "f64", "!llvm.ptr", "!llvm.ptr<1>"),
    "f": ("f32",),
    "d": ("f64",),
}
"""MLIR types that each of LLVM's constraint letters holds; shared addresses are 32 bits wide."""


def constraint_problem(text: str, constraints: str, operands: Sequence[str], results: Sequence[str]) -> str:
    """What is wrong with inline PTX, or "". `operands` and `results` are MLIR types as text.

    `constraints` is LLVM's list: outputs ("=r"), inputs ("r", or the number of an output whose register it shares), clobbers ("~{memory}").
    """
    parts = [part.strip() for part in constraints.split(",")] if constraints.strip() else []
    outputs = [part for part in parts if part.startswith("=")]
    inputs = [part for part in parts if not part.startswith(("=", "~"))]
    if parts != [*outputs, *inputs, *(part for part in parts if part.startswith("~"))]:
        return "constraints stand in the order outputs (=r), inputs (r), clobbers (~{memory})"
    if len(outputs) != len(results):
        return f"{len(outputs)} output constraints for {len(results)} results"
    if len(inputs) != len(operands):
        return f"{len(inputs)} input constraints for {len(operands)} operands"
    for part, type_text in (*zip((part[1:] for part in outputs), results, strict=True), *zip(inputs, operands, strict=True)):
        if part.isdigit():
            if int(part) >= len(results) or results[int(part)] != type_text:
                return f"the tied constraint {part} of a {type_text} names no output of that type"
        elif part not in LETTER_TYPES:
            return f"there is no constraint {part!r}; there are {', '.join(LETTER_TYPES)} and the numbers of outputs"
        elif type_text not in LETTER_TYPES[part]:
            fitting = next((letter for letter, types in LETTER_TYPES.items() if type_text in types), "")
            return f"{part!r} cannot hold a {type_text}" + (f"; {fitting!r} can" if fitting else "; convert it first")
    for number in re.findall(r"(?<!\$)\$\{?(\d+)", text):
        if int(number) >= len(outputs) + len(inputs):
            return f"${number} is named, but there are {len(outputs) + len(inputs)} results and operands, counted from $0"
    return ""
