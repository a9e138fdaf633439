"""The compiler's passes by name, and pipelines that mix them with upstream ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from fa4dsl.passes.checks.protocol import protocol_pass
from fa4dsl.passes.checks.resources import resources_pass
from fa4dsl.passes.checks.tma import tma_pass
from fa4dsl.passes.insert_proxy_fences import insert_proxy_fences
from fa4dsl.passes.lower_barriers import lower_barriers
from fa4dsl.passes.lower_clusters import lower_clusters
from fa4dsl.passes.lower_kernel import lower_kernel
from fa4dsl.passes.lower_math import lower_math
from fa4dsl.passes.lower_matrix import lower_matrix
from fa4dsl.passes.lower_memory import lower_memory
from fa4dsl.passes.lower_print import lower_print
from fa4dsl.passes.lower_roles import lower_roles
from fa4dsl.passes.lower_tma import lower_tma
from fa4dsl.passes.lower_warp import lower_warp
from fa4dsl.passes.mlir_errors import mlir_errors
from fa4dsl.passes.place_shared_memory import place_shared_memory
from fa4dsl.passes.record_waits import record_waits
from fa4dsl.passes.verify import verify
from fa4dsl.runtime.diagnostics import Fa4dslError, fail

if TYPE_CHECKING:
    from mlir import ir


@dataclass(frozen=True)
class Pass:
    """A pass of this compiler: `run` rewrites a module in place."""

    name: str
    run: Callable[[ir.Module], None]

    @property
    def summary(self) -> str:
        """The first sentence of the pass' module."""
        import sys

        text = sys.modules[self.run.__module__].__doc__ or ""
        return text.partition("\n")[0].partition(": ")[2]


PASSES: dict[str, Pass] = {
    item.name: item
    for item in (
        Pass("fa4-verify", verify),
        Pass("check-resources", resources_pass),
        Pass("check-tma", tma_pass),
        Pass("check-protocol", protocol_pass),
        Pass("place-shared-memory", place_shared_memory),
        Pass("insert-proxy-fences", insert_proxy_fences),
        Pass("record-waits", record_waits),
        Pass("lower-roles", lower_roles),
        Pass("lower-barriers", lower_barriers),
        Pass("lower-clusters", lower_clusters),
        Pass("lower-tma", lower_tma),
        Pass("lower-matrix", lower_matrix),
        Pass("lower-warp", lower_warp),
        Pass("lower-print", lower_print),
        Pass("lower-math", lower_math),
        Pass("lower-memory", lower_memory),
        Pass("lower-kernel", lower_kernel),
    )
}

LOWERING = tuple(name for name in PASSES if name.startswith("lower-"))
"""The lowering passes in the pipeline's order."""

TO_LLVM = (
    "canonicalize",
    "cse",
    "convert-scf-to-cf",
    "convert-vector-to-llvm",
    "convert-math-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "convert-ub-to-llvm",
    "reconcile-unrealized-casts",
    "canonicalize",
    "cse",
    "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}",
    "gpu.module(convert-nvvm-to-llvm)",
)
"""Upstream passes from arith, math, scf and vector to the LLVM and NVVM dialects. Directives-only debug information gives `.loc`
lines without the word `debug` on `.target`, which would make a driver compile without optimisation."""

ALIASES: dict[str, tuple[str, ...]] = {"lower-fa4": LOWERING, "fa4-to-llvm": TO_LLVM}
"""Names that stand for several passes in a pipeline."""


def split_pipeline(text: str) -> list[str]:
    """The elements of a textual pipeline: commas outside brackets part them, aliases are spelt out."""
    elements: list[str] = []
    depth = start = 0
    for position, character in enumerate(text + ","):
        if character in "({[":
            depth += 1
        elif character in ")}]":
            depth -= 1
        elif character == "," and depth == 0:
            element = text[start:position].strip()
            start = position + 1
            if element:
                elements += ALIASES.get(element, (element,))
    return elements


def run_passes(module: ir.Module, names: list[str] | tuple[str, ...], timings: dict[str, float] | None = None) -> None:
    """Runs passes, ours and upstream ones, on a module in place. MLIR verifies the IR after each.

    Raises C016 for an unknown pass, C001 where MLIR refuses the IR, and whatever the passes report.
    """
    from mlir import ir
    from mlir.passmanager import PassManager

    raised: list[Fa4dslError] = []

    def hosted(item: Pass) -> Callable[[Any, Any], None]:
        def run(operation: Any, external: Any) -> None:
            try:
                item.run(_AsModule(operation))
            except Fa4dslError as error:
                # An exception must not cross MLIR's C++; it is raised again outside.
                raised.append(error)
                external.signal_pass_failure()

        return run

    with module.context, ir.Location.unknown():
        managers = []
        for name in names:
            manager = PassManager("builtin.module")
            managers.append(manager)
            ours = PASSES.get(name)
            if ours is not None:
                manager.add(hosted(ours), ours.name)
                continue
            try:
                manager.add(name)
            except ValueError as error:
                near = get_close_matches(name, (*PASSES, *ALIASES), 1)
                suggestion = f"; did you mean {near[0]}" if near else ""
                reason = str(error).partition("error: ")[2].partition("\n")[0] or str(error)
                fail("C016", name=name, suggestion=suggestion, reason=reason)
        # One manager a pass: an error then names the pass, and each has its time.
        for name, manager in zip(names, managers, strict=True):
            begun = time.perf_counter()
            with mlir_errors(module.context, f"in the pass {name}", raised):
                manager.run(module.operation)
            if timings is not None:
                timings[name] = timings.get(name, 0.0) + time.perf_counter() - begun


class _AsModule:
    """What a pass sees: the module's operation with the module's own accessors."""

    def __init__(self, operation: ir.Operation) -> None:
        self.operation = operation
        self.context = operation.context

    @property
    def body(self) -> ir.Block:
        return self.operation.regions[0].blocks[0]
