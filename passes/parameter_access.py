"""What a kernel does with the memory behind its parameters: which tensor maps it only loads from, and how aligned pointers must be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fa4dsl.passes.kernel import KernelInfo
from fa4dsl.passes.pointer_alignment import pointer_alignments
from fa4dsl.runtime.dtypes import DTYPES

if TYPE_CHECKING:
    from mlir import ir

    from fa4dsl.runtime.manifest import Parameter

LOADING = ("fa4.tma_load", "fa4.tma_load_multicast", "fa4.tensor_map_prefetch")


def with_needs(function: ir.Operation) -> tuple[Parameter, ...]:
    """The parameters of a kernel of the fa4 dialect; the access of a tensor map that is only loaded from is "in", and pointers have the
    alignment that vector accesses need; a pointer that is not touched is marked.

    So a map's array may be read-only, numpy arrays behind it are not copied back, and what TMA stores do to the end of a row (R037) concerns
    it not.
    """
    arguments = function.regions[0].blocks[0].arguments
    alignments = pointer_alignments(function)
    found = []
    for number, parameter in enumerate(KernelInfo.of(function).parameters):
        if parameter.kind == "tensor_map" and _only_loaded(arguments[number]):
            parameter = replace(parameter, access="in")
        elif parameter.kind == "pointer" and not list(arguments[number].uses):
            parameter = replace(parameter, used=False)
        elif parameter.kind == "pointer" and alignments.get(number, 0) > max(parameter.alignment, DTYPES[parameter.dtype].size):
            parameter = replace(parameter, alignment=alignments[number])
        found.append(parameter)
    return tuple(found)


def _only_loaded(argument: ir.Value) -> bool:
    uses = [use.owner.operation.name for use in argument.uses]
    return bool(uses) and all(name in LOADING for name in uses)
