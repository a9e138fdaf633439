"""Diagnostics of the runtime floor, each subject in a module of its own, its longer examples in others."""

from fa4dsl.runtime.diagnostics.catalogue import (
    runtime_arguments,
    runtime_artifacts,
    runtime_debugging,
    runtime_examples_arguments,
    runtime_examples_artifacts,
    runtime_examples_devices,
    runtime_examples_launch,
    runtime_examples_torch,
    runtime_launch,
    runtime_tensor_maps,
)
from fa4dsl.runtime.diagnostics.catalogue.illustrated import illustrated
from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = illustrated(
    (
        *runtime_artifacts.ENTRIES,
        *runtime_tensor_maps.ENTRIES,
        *runtime_arguments.ENTRIES,
        *runtime_launch.ENTRIES,
        *runtime_debugging.ENTRIES,
    ),
    runtime_examples_artifacts.EXAMPLES,
    runtime_examples_arguments.EXAMPLES,
    runtime_examples_devices.EXAMPLES,
    runtime_examples_launch.EXAMPLES,
    runtime_examples_torch.EXAMPLES,
)
