"""The ground floor: artifacts, diagnostics, tensor maps and the two devices. Imports neither MLIR nor the language.

`load` reads an artifact, `artifact[grid](*arguments)` runs it on a GPU or on the simulator (`runtime.launch` holds the function with all options),
`tiled` and `ragged` describe tensor maps. Names are loaded on first use,
so that importing the package costs nothing and touches no driver.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fa4dsl.runtime.arguments_arrays import ArrayView, reinterpreted
    from fa4dsl.runtime.artifact import Artifact, select
    from fa4dsl.runtime.artifact_container import load, load_all, save
    from fa4dsl.runtime.cuda.occupancy import Occupancy, max_cluster, occupancy
    from fa4dsl.runtime.cuda.unload import unload_collected
    from fa4dsl.runtime.launch import LaunchResult
    from fa4dsl.runtime.manifest import Manifest
    from fa4dsl.runtime.tensor_map import TensorMap, TensorMapDescription, ragged, tiled, wrapped
    from fa4dsl.runtime.wait_records import dump_waits

_HOMES = {
    "ArrayView": "arguments_arrays",
    "Artifact": "artifact",
    "LaunchResult": "launch",
    "Manifest": "manifest",
    "Occupancy": "cuda.occupancy",
    "TensorMap": "tensor_map",
    "TensorMapDescription": "tensor_map",
    "dump_waits": "wait_records",
    "load": "artifact_container",
    "load_all": "artifact_container",
    "max_cluster": "cuda.occupancy",
    "occupancy": "cuda.occupancy",
    "ragged": "tensor_map",
    "reinterpreted": "arguments_arrays",
    "save": "artifact_container",
    "select": "artifact",
    "tiled": "tensor_map",
    "unload_collected": "cuda.unload",
    "wrapped": "tensor_map",
}

__all__ = [
    "ArrayView",
    "Artifact",
    "LaunchResult",
    "Manifest",
    "Occupancy",
    "TensorMap",
    "TensorMapDescription",
    "dump_waits",
    "load",
    "load_all",
    "max_cluster",
    "occupancy",
    "ragged",
    "reinterpreted",
    "save",
    "select",
    "tiled",
    "unload_collected",
    "wrapped",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
