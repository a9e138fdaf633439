"""Thread numbering of a launch: block, cluster, warp, lane and clock column of every thread, as arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from fa4dsl.runtime.simulator.events import Geometry, Scope

SCOPES: dict[Scope, int] = {"cta": 0, "cluster": 1, "gpu": 2, "sys": 3}
SCOPE_NAMES: tuple[Scope, ...] = ("cta", "cluster", "gpu", "sys")


class Threads:
    """Lookup tables by thread number; all int64, since they index other tables, one entry a thread of the launch."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.per_cta = geometry.threads_per_cta
        self.cluster_size = max(geometry.cluster_size, 1)
        self.per_cluster = self.per_cta * self.cluster_size
        self.count = geometry.ctas * self.per_cta
        self.wave_count = (geometry.wave_ctas or geometry.ctas) * self.per_cta
        """Threads that run at a time, at most."""
        number = np.arange(self.count, dtype=np.int64)
        inside = number % self.per_cta
        warps_per_cta = -(-self.per_cta // 32)
        self.cta: npt.NDArray[np.int64] = number // self.per_cta
        self.cluster: npt.NDArray[np.int64] = self.cta // self.cluster_size
        self.warp: npt.NDArray[np.int64] = self.cta * warps_per_cta + inside // 32
        self.lane: npt.NDArray[np.int64] = inside % 32
        self.column: npt.NDArray[np.int64] = number % self.per_cluster
        self.warps_per_cta = warps_per_cta
        self.clusters = -(-self.count // self.per_cluster) if self.count else 0

    def same_instance(self, first: int, second: int, scope: int) -> bool:
        """Whether two CTAs lie in the same instance of a scope (0 cta, 1 cluster, 2 gpu, 3 sys)."""
        if scope == 0:
            return first == second
        return scope > 1 or first // self.cluster_size == second // self.cluster_size


@lru_cache(maxsize=2)
def numbered(geometry: Geometry) -> Threads:
    """The numbering of a launch; the same one for all who ask about it."""
    return Threads(geometry)
