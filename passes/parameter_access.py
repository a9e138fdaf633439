"""What a kernel does with the memory behind each tensor map: it loads from it, or also stores to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fa4dsl.passes.kernel import KernelInfo

if TYPE_CHECKING:
    from mlir import ir

    from fa4dsl.runtime.manifest import Parameter

LOADING = ("fa4.tma_load", "fa4.tma_load_multicast", "fa4.tensor_map_prefetch")


def with_access(function: ir.Operation) -> tuple[Parameter, ...]:
    """The parameters of a kernel of the fa4 dialect; the access of a tensor map that is only loaded from is "in".

    So a map's array may be read-only, numpy arrays behind it are not copied back, and what TMA stores do to the end of a row (R037) concerns
    it not.
    """
    parameters = KernelInfo.of(function).parameters
    arguments = function.regions[0].blocks[0].arguments
    return tuple(
        replace(parameter, access="in") if parameter.kind == "tensor_map" and _only_loaded(argument) else parameter
        for parameter, argument in zip(parameters, arguments, strict=True)
    )


def _only_loaded(argument: ir.Value) -> bool:
    uses = [use.owner.operation.name for use in argument.uses]
    return bool(uses) and all(name in LOADING for name in uses)
