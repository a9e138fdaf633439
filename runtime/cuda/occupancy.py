"""How much of a GPU a kernel fills, as the driver answers it; never a table."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from fa4dsl.runtime.cuda.device import current_context
from fa4dsl.runtime.cuda.fit import active_clusters, blocks_per_sm, largest_cluster, make_room
from fa4dsl.runtime.cuda.kernel import load_kernel, loading
from fa4dsl.runtime.launch import make_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.cuda.kernel import LoadedKernel
    from fa4dsl.runtime.launch import LaunchOptions


@dataclass(frozen=True)
class Occupancy:
    """What can be resident at once."""

    sms: int
    ctas_per_sm: int
    """Ignoring clusters."""
    cluster: tuple[int, int, int]
    clusters: int
    """Whole clusters resident on the GPU; without a cluster the CTAs."""
    registers: int
    local_bytes: int
    """Spilled or indexed per-thread memory, bytes a thread."""
    shared_bytes: int
    """Of one CTA, dynamic and static."""

    @property
    def ctas(self) -> int:
        """CTAs resident on the GPU."""
        return self.clusters * prod(self.cluster)


def occupancy(
    artifact: Artifact,
    *,
    cluster: int | Sequence[int] | None = None,
    dynamic_shared_bytes: int | None = None,
    device: int | None = None,
) -> Occupancy:
    """Asks the driver (cuOccupancyMaxActiveClusters and ...BlocksPerMultiprocessor). Loads the kernel. Raises R062 to R064 and R068 to R076."""
    options = make_options(artifact, cluster, dynamic_shared_bytes)
    with loading:
        kernel = load_kernel(artifact, device)
        return _occupancy(kernel, options)


def _occupancy(kernel: LoadedKernel, options: LaunchOptions) -> Occupancy:
    with current_context(kernel.gpu):
        make_room(kernel, options)
        per_sm = blocks_per_sm(kernel, options)
        clusters = active_clusters(kernel, options.cluster, options) if prod(options.cluster) > 1 else per_sm * kernel.gpu.sms
    shared = options.dynamic_shared_bytes + kernel.static_shared_bytes
    return Occupancy(kernel.gpu.sms, per_sm, options.cluster, clusters, kernel.registers, kernel.local_bytes, shared)


def max_cluster(artifact: Artifact, *, dynamic_shared_bytes: int | None = None, device: int | None = None) -> int:
    """CTAs in the largest cluster that a GPU runs of this kernel, non-portable sizes included. Raises R063, R064 and R068 to R076."""
    options = make_options(artifact, None, dynamic_shared_bytes)
    with loading:
        kernel = load_kernel(artifact, device)
        with current_context(kernel.gpu):
            make_room(kernel, options)
            return largest_cluster(kernel, options)
