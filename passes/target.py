"""Compilation targets as data. Passes ask a target what it has; none of them looks at its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fa4dsl.passes.locations import operation_frames
from fa4dsl.runtime.diagnostics import Frame, Location, fail

if TYPE_CHECKING:
    from mlir import ir

DEFAULT = "sm_90a"


@dataclass(frozen=True)
class Target:
    """What a GPU architecture has. Sizes in bytes. Source: PTX ISA and the CUDA programming guide's table of compute capabilities."""

    name: str
    """What the author writes and the manifest holds, such as "sm_90a"."""
    chip: str
    """LLVM's and ptxas' name."""
    ptx_version: int
    """PTX ISA version times ten, such as 86 for 8.6."""
    shared_bytes_per_block: int
    """The most dynamic shared memory that a block can opt in to."""
    registers_per_sm: int = 65536
    registers_per_thread: int = 255
    register_step: int = 8
    """Register counts per thread are rounded to this in allocation and in setmaxnreg."""
    minimum_role_registers: int = 24
    maximum_role_registers: int = 256
    threads_per_block: int = 1024
    warp_size: int = 32
    warpgroup_warps: int = 4
    named_barriers: int = 16
    portable_cluster: int = 8
    largest_cluster: int = 16
    """Needs the non-portable attribute at launch."""
    shared_alignment: int = 1024
    """Alignment of the start of dynamic shared memory where a kernel has no static shared memory."""
    has_clusters: bool = True
    has_tma: bool = True
    has_wgmma: bool = True
    has_setmaxnreg: bool = True
    has_tcgen05: bool = False
    has_three_input_max: bool = False
    triple: str = "nvptx64-nvidia-cuda"

    @property
    def features(self) -> str:
        """LLVM's feature string."""
        return f"+ptx{self.ptx_version}"


REQUIREMENTS: dict[str, str] = {
    "wgmma": "has_wgmma",
    "set_max_registers": "has_setmaxnreg",
    "tma": "has_tma",
    "tensor_map": "has_tma",
    "bulk": "has_tma",
    "cluster": "has_clusters",
    "peer_address": "has_clusters",
    "store_async": "has_clusters",
}
"""Features that operations need, by the first words of their names."""


def lacking(operation: str, target: Target) -> str:
    """The feature that operation `fa4.<operation>` needs and `target` has not, such as "wgmma"; "" where nothing is missing."""
    for prefix, feature in REQUIREMENTS.items():
        if operation.startswith(prefix) and not getattr(target, feature):
            return feature.removeprefix("has_")
    return ""


TARGETS: dict[str, Target] = {
    "sm_90a": Target(name="sm_90a", chip="sm_90a", ptx_version=86, shared_bytes_per_block=227 * 1024),
    "sm_100a": Target(
        name="sm_100a",
        chip="sm_100a",
        ptx_version=86,
        shared_bytes_per_block=227 * 1024,
        has_wgmma=False,
        has_tcgen05=True,
        has_three_input_max=True,
    ),
}


def target_named(name: str, *frames: Frame | Location | None) -> Target:
    """The target of that name; C014, at the given places, where there is none."""
    if name not in TARGETS:
        fail("C014", *frames, target=name, known=", ".join(TARGETS))
    return TARGETS[name]


def target_of(module: ir.Module) -> Target:
    """The target that a module names: `#nvvm.target<chip = ...>` on its gpu.module, else the default."""
    for operation in module.body:
        inner = operation.operation
        if inner.name == "gpu.module" and "targets" in inner.attributes:
            found = re.search(r'chip = "([^"]*)"', str(inner.attributes["targets"]))
            # MLIR does not print the chip that is its own default.
            return target_named(found[1] if found else "sm_50", *operation_frames(inner))
    return TARGETS[DEFAULT]
