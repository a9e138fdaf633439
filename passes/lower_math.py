"""lower-math: the hardware's approximations, conversions and byte permutes, and the refusal of math that PTX has no instruction for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.kernel import walk
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.rewriting import Rewriter, raw_type, rewrite
from fa4dsl.runtime.diagnostics import Fa4dslError, diagnostic

if TYPE_CHECKING:
    from mlir import ir

SUPPORTED_MATH = frozenset(
    "math." + name
    for name in (
        [
            "absf",
            "absi",
            "ceil",
            "copysign",
            "ctlz",
            "ctpop",
            "cttz",
            "floor",
            "fma",
            "round",
            "roundeven",
            "rsqrt",
            "sqrt",
            "trunc",
            "isnan",
            "isinf",
            "isfinite",
            "isnormal",
        ]
    )
)
"""Operations of the math dialect that the upstream passes and LLVM turn into PTX of the stated accuracy, without a library."""

_WORDS = {"exp2": "ex2", "log2": "lg2", "rcp": "rcp", "rsqrt": "rsqrt", "sqrt": "sqrt", "tanh": "tanh", "sin": "sin", "cos": "cos"}


def lower_math(module: ir.Module) -> None:
    """Raises C023 for operations of the math dialect outside `SUPPORTED_MATH`: LLVM would call a library that is not there."""
    refused = [item for item in walk(module.operation) if item.name.startswith("math.") and item.name not in SUPPORTED_MATH]
    if refused:
        known = ", ".join(sorted(SUPPORTED_MATH))
        raise Fa4dslError(*(diagnostic("C023", *operation_frames(item), operation=item.name, known=known) for item in refused))
    rewrite(module, _RULES)


def _approximate(rewriter: Rewriter) -> None:
    flush = ".ftz" if rewriter.attribute("ftz") else ""
    text = f"{_WORDS[rewriter.attribute('function')]}.approx{flush}.f32 $0, $1;"
    rewriter.replace(rewriter.ptx(text, list(rewriter.operation.operands), ["f32"], pure=True))


def _convert(rewriter: Rewriter) -> None:
    """PTX's packing conversions take the upper element first; the dialect's operands come lowest first."""
    to = rewriter.attribute("to")
    result = str(rewriter.operation.results[0].type)
    operands = [rewriter.raw(value) for value in reversed(list(rewriter.operation.operands))]
    names = ", ".join(f"${i + 1}" for i in range(len(operands)))
    (made,) = rewriter.ptx(f"cvt.{to} $0, {names};", operands, [raw_type(result)], pure=True)
    rewriter.replace([rewriter.cooked(made, result)])


def _byte_permute(rewriter: Rewriter) -> None:
    rewriter.replace(rewriter.ptx("prmt.b32 $0, $1, $2, $3;", list(rewriter.operation.operands), ["i32"], pure=True))


_RULES = {"approximate": _approximate, "convert": _convert, "byte_permute": _byte_permute}
