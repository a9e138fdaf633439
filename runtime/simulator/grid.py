"""The launch's threads: how they are numbered, and their special registers.

The machine holds the threads of one wave (as many clusters as fit at a time) in rows of `width` entries. Blocks follow each other cluster by
cluster and take `stride` entries each: the block size rounded up to whole warps; the entries behind the last thread are never live.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.layout import RANK_SHIFT, RESERVED_SHARED, round_up

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.selection import Ints, Row

Triple = tuple[int, int, int]


class Grid:
    """Geometry of a launch and of the wave being run."""

    def __init__(self, grid: Triple, block: Triple, cluster: Triple, wave_clusters: int, shared_bytes: int, explicit_cluster: bool) -> None:
        self.grid, self.block, self.cluster = grid, block, cluster
        self.threads_per_cta = block[0] * block[1] * block[2]
        self.stride = round_up(self.threads_per_cta, 32)
        self.warps_per_cta = self.stride // 32
        self.cluster_size = cluster[0] * cluster[1] * cluster[2]
        self.cluster_grid = (grid[0] // cluster[0], grid[1] // cluster[1], grid[2] // cluster[2])
        self.clusters = self.cluster_grid[0] * self.cluster_grid[1] * self.cluster_grid[2]
        self.ctas = self.clusters * self.cluster_size
        self.wave_clusters = min(wave_clusters, self.clusters)
        self.wave_ctas = self.wave_clusters * self.cluster_size
        self.width = self.wave_ctas * self.stride
        self.shared_bytes = shared_bytes
        self.shared_stride = round_up(max(shared_bytes, 16), 1024)
        self.explicit_cluster = explicit_cluster
        self.first_cluster = 0
        self.live_clusters = self.wave_clusters

        self.arange: Ints = np.arange(self.width, dtype=np.int64)
        self.cta: Ints = self.arange // self.stride
        """Block within the wave."""
        self.warp: Ints = self.arange >> 5
        self.lane: Ints = self.arange & 31
        self.local_thread: Ints = self.arange - self.cta * self.stride
        self.rank: Ints = self.cta % self.cluster_size
        self.cluster_in_wave: Ints = self.cta // self.cluster_size
        self.exists = self.local_thread < self.threads_per_cta
        self.shared_base: Ints = self.cta * self.shared_stride
        self.shared_prefix = (self.rank << RANK_SHIFT) + RESERVED_SHARED
        """Address of the first byte of the thread's own shared memory."""
        self.event_thread: Ints = np.zeros(self.width, np.int64)
        """Number over the whole launch, as the checker counts."""
        self.specials: dict[str, Row] = {}
        self._static_specials()
        self.set_wave(0)

    @property
    def first_cta(self) -> int:
        return self.first_cluster * self.cluster_size

    def set_wave(self, first_cluster: int) -> None:
        """Moves the rows to the clusters from `first_cluster` on."""
        self.first_cluster = first_cluster
        self.live_clusters = min(self.wave_clusters, self.clusters - first_cluster)
        self.event_thread[:] = (self.cta + self.first_cta) * self.threads_per_cta + self.local_thread
        cluster = self.cluster_in_wave + first_cluster
        gx, gy, _ = self.cluster_grid
        clusterid = (cluster % gx, cluster // gx % gy, cluster // (gx * gy))
        within = self._within_cluster()
        for axis in range(3):
            letter = "xyz"[axis]
            self.specials[f"%clusterid.{letter}"][:] = clusterid[axis]
            self.specials[f"%ctaid.{letter}"][:] = clusterid[axis] * self.cluster[axis] + within[axis]
        self.specials["%smid"][:] = (self.cta + self.first_cta) % 132

    def _within_cluster(self) -> tuple[Ints, Ints, Ints]:
        cx, cy, _ = self.cluster
        return self.rank % cx, self.rank // cx % cy, self.rank // (cx * cy)

    def _static_specials(self) -> None:
        bx, by, _ = self.block
        tid = (self.local_thread % bx, self.local_thread // bx % by, self.local_thread // (bx * by))
        within = self._within_cluster()

        def row(values: Ints | int) -> Row:
            return np.broadcast_to(np.asarray(values).astype(np.uint32), (self.width,))

        table = self.specials
        for axis, letter in enumerate("xyz"):
            table[f"%tid.{letter}"] = row(tid[axis])
            table[f"%ntid.{letter}"] = row(self.block[axis])
            table[f"%nctaid.{letter}"] = row(self.grid[axis])
            table[f"%nclusterid.{letter}"] = row(self.cluster_grid[axis])
            table[f"%cluster_nctaid.{letter}"] = row(self.cluster[axis])
            table[f"%cluster_ctaid.{letter}"] = row(within[axis])
            table[f"%clusterid.{letter}"] = np.zeros(self.width, np.uint32)
            table[f"%ctaid.{letter}"] = np.zeros(self.width, np.uint32)
        table["%laneid"] = row(self.lane)
        table["%warpid"] = row(self.local_thread >> 5)
        table["%nwarpid"] = row(64)
        table["%smid"] = np.zeros(self.width, np.uint32)
        table["%nsmid"] = row(132)
        table["%gridid"] = np.broadcast_to(np.uint64(1), (self.width,))
        table["%cluster_ctarank"] = row(self.rank)
        table["%cluster_nctarank"] = row(self.cluster_size)
        table["%is_explicit_cluster"] = np.broadcast_to(np.bool_(self.explicit_cluster), (self.width,))
        bit = np.uint64(1) << self.lane.astype(np.uint64)
        table["%lanemask_eq"] = row(bit.astype(np.int64))
        table["%lanemask_lt"] = row((bit - np.uint64(1)).astype(np.int64))
        table["%lanemask_le"] = row((bit * np.uint64(2) - np.uint64(1)).astype(np.int64))
        full = np.uint64(0xFFFFFFFF)
        table["%lanemask_gt"] = row((full & ~(bit * np.uint64(2) - np.uint64(1))).astype(np.int64))
        table["%lanemask_ge"] = row((full & ~(bit - np.uint64(1))).astype(np.int64))
        table["%total_smem_size"] = row(self.shared_bytes + RESERVED_SHARED)
        table["%dynamic_smem_size"] = row(0)
        table["%aggr_smem_size"] = row(self.shared_bytes + RESERVED_SHARED)
        table["%reserved_smem_offset_begin"] = row(0)
        table["%reserved_smem_offset_end"] = row(RESERVED_SHARED)
        table["%reserved_smem_offset_cap"] = row(RESERVED_SHARED)
        table["%reserved_smem_offset_0"] = row(0)
        table["%reserved_smem_offset_1"] = row(0)

    def describe(self, thread: int) -> str:
        """ "thread 5 of block (1, 0, 0)", with the cluster rank where there are clusters."""
        block = ", ".join(str(int(self.specials[f"%ctaid.{axis}"][thread])) for axis in "xyz")
        text = f"thread {int(self.local_thread[thread])} of block ({block})"
        if self.cluster_size > 1:
            text += f", cluster rank {int(self.rank[thread])}"
        return text
