"""Diagnostics of the runtime floor, each subject in a module of its own."""

from fa4dsl.runtime.diagnostics.catalogue import runtime_arguments, runtime_artifacts, runtime_launch, runtime_tensor_maps
from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    *runtime_artifacts.ENTRIES,
    *runtime_tensor_maps.ENTRIES,
    *runtime_arguments.ENTRIES,
    *runtime_launch.ENTRIES,
)
