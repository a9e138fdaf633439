"""FA4Config: the shape of FlashAttention-4's kernel on sm_100, and what follows from it: tiles, tensor memory, stages, shared memory, barriers.

The combine is written for a kernel of this shape: it overlays the dead Q, K and V buffers (`stage_bytes`), counts `publish_arrivals`, and takes its
bands from `partitions`. Sizes are in bytes, depths in elements of a head.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any, Literal

from fa4dsl.runtime.diagnostics import fail

Element = Literal["bf16", "f16", "e4m3", "e5m2", "f32"]
Swizzle = Literal["none", "32B", "64B", "128B"]

ELEMENT_BYTES = {"bf16": 2, "f16": 2, "e4m3": 1, "e5m2": 1, "f32": 4, "e8m0": 1}
SWIZZLE_BYTES = {"none": 16, "32B": 32, "64B": 64, "128B": 128}
CARVEOUT = 232448
"""Dynamic shared memory that a CTA may ask for: 228 KiB of the SM less 1 KiB."""
TENSOR_MEMORY_COLUMNS = 512
CORRECTION_BYTES = 256 * 4
"""One f32 for each thread of both softmax warpgroups."""
MAXSUM_BYTES = 256 * 2 * 4
"""(maximum, sum) for each of them."""
PARTITIONS = (1, 2, 4, 6, 8, 10, 16)
P_STAGES = 2
"""Stages in which P is handed to the second product, `num_pv_stages`."""


def align_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def align_down(value: int, unit: int) -> int:
    return value // unit * unit


@dataclass(frozen=True)
class FA4Config:
    """One configuration. Give the problem; everything else is derived."""

    qk_depth: int
    """Columns of Q and K."""
    ov_depth: int = 0
    """Columns of V and O; 0: as many as Q's."""
    nope_depth: int = 0
    """Columns of K without rotary embedding, of multi-head latent attention; 0: all."""
    num_q_heads: int = 1
    num_kv_heads: int = 1
    qkv_dtype: Element = "bf16"
    rope_dtype: Element | None = None
    """Type of the rotary columns where they are kept apart; None: as the others."""
    scale_dtype: str | None = None
    """Type of per-token scales of Q and K; None: there are none."""
    bm: int = 128
    """Rows of the tile: 256 two query tiles (2Q), 128 one (1Q), 64 and 32 packed tensor memory (WS)."""
    page_size: int = 128
    """Keys of a page of the cache; 0: not paged."""
    splitk_partitions: int = 1
    """P."""
    is_mla: bool = False
    pair_cta: bool = False
    """Two CTAs share a product (cta_group::2)."""
    single_o: bool = False
    """One accumulator of O for both query tiles."""
    dynamic_cluster_dim: bool = False
    """The cluster's width is given at launch only."""

    # --- depths and tiles

    @property
    def element_bytes(self) -> int:
        return ELEMENT_BYTES[self.qkv_dtype]

    @property
    def swizzle_mode(self) -> Swizzle:
        """Of Q, K and V in shared memory. The *output's* mode is the store's own and comes from `CombineConfig`."""
        return "64B" if self.element_bytes == 1 else "128B"

    @property
    def swizzle_elements(self) -> int:
        """Columns of a swizzled panel."""
        return SWIZZLE_BYTES[self.swizzle_mode] // self.element_bytes

    @property
    def depth_of_output(self) -> int:
        return self.ov_depth or self.qk_depth

    @property
    def depth_without_rope(self) -> int:
        return self.nope_depth or self.qk_depth

    @property
    def padded_qk_depth(self) -> int:
        return align_up(self.qk_depth, self.swizzle_elements)

    @property
    def padded_ov_depth(self) -> int:
        return align_up(self.depth_of_output, self.swizzle_elements)

    @property
    def padded_nope_depth(self) -> int:
        return align_up(self.depth_without_rope, self.swizzle_elements)

    @property
    def mma_k(self) -> int:
        """Depth of one matrix instruction."""
        return 32 // self.element_bytes

    @property
    def mma_m(self) -> int:
        """Rows of one matrix instruction."""
        return {256: 256 if self.pair_cta else 128, 128: 128, 64: 64, 32: 32}.get(self.bm, 0)

    @property
    def m_pack(self) -> int:
        """Row bands of tensor memory that a narrow tile is packed into."""
        return {64: 2, 32: 4}.get(self.bm, 1)

    @property
    def use_ws(self) -> bool:
        return self.m_pack > 1

    @property
    def num_q(self) -> int:
        """Query tiles of a CTA."""
        return 2 if self.bm == 256 else 1

    @property
    def bn(self) -> int:
        """Keys of a tile: what tensor memory leaves beside O, and then such that pages and tiles fit each other."""
        widest = max(self.padded_nope_depth, self.padded_ov_depth)
        columns = (TENSOR_MEMORY_COLUMNS - widest) // 2 if self.single_o else 256 - widest
        keys = min(256, align_down(max(columns, 0) * self.m_pack, self.mma_k))
        if keys and self.page_size and keys % self.page_size and self.page_size % keys:
            keys = 1 << (keys.bit_length() - 1)
        return keys

    @property
    def group(self) -> int:
        """Query heads of a key head."""
        return self.num_q_heads // self.num_kv_heads

    @property
    def fuse_gqa(self) -> bool:
        """Whether the heads of a group are rows of one tile."""
        return self.group > 1 and self.mma_m > 0 and self.mma_m % self.group == 0 and not self.is_mla

    @property
    def fused_group(self) -> int:
        """Heads in a tile: the store's `group`."""
        return self.group if self.fuse_gqa else 1

    @property
    def positions(self) -> int:
        """Sequence positions of a tile."""
        return self.bm // self.fused_group

    # --- tensor memory, columns

    @property
    def tmem_s0(self) -> int:
        return 0

    @property
    def tmem_s1(self) -> int:
        return self.bn // self.m_pack

    @property
    def tmem_o0(self) -> int:
        return 2 * self.bn // self.m_pack

    @property
    def tmem_o1(self) -> int:
        return self.tmem_o0 if self.single_o else self.tmem_o0 + self.padded_ov_depth

    @property
    def tmem_p0(self) -> int:
        """P takes the place of S."""
        return self.tmem_s0

    @property
    def tmem_p1(self) -> int:
        return self.tmem_s1

    @property
    def tmem_used(self) -> int:
        return self.tmem_o1 + self.padded_ov_depth

    # --- shared memory and stages

    @property
    def q_bytes(self) -> int:
        return self.bm * self.padded_qk_depth * self.element_bytes

    @property
    def slot_bytes(self) -> int:
        """One slot of a ring: a tile of K or of V."""
        separate = self.rope_dtype is not None and self.nope_depth > 0
        key_columns = self.padded_nope_depth if separate else self.padded_qk_depth
        return self.bn * max(key_columns, self.padded_ov_depth) * self.element_bytes

    @property
    def rope_slot_bytes(self) -> int:
        """The rotary columns of a tile of K, where they are kept apart."""
        if self.rope_dtype is None or not self.nope_depth:
            return 0
        return self.bn * (self.qk_depth - self.nope_depth) * ELEMENT_BYTES[self.rope_dtype]

    @property
    def num_qk_stages(self) -> int:
        """Parts in which Q·K is issued; 1 where K and V share a ring."""
        return 1 if self.use_shared_kv else self._qk_parts

    @property
    def _qk_parts(self) -> int:
        return gcd(self.padded_qk_depth // self.swizzle_elements, self.padded_qk_depth // self.mma_k)

    def _plan(self) -> tuple[int, bool]:
        """Slots that fit, and whether one ring holds K and V: an odd number cannot be halved."""
        if self.bn == 0:
            return 0, False
        most = (CARVEOUT - self.q_bytes) // self.slot_bytes
        for slots in range(max(most, 0), 0, -1):
            shared = bool(slots % 2)
            if self._bytes(slots, shared) <= CARVEOUT:
                return slots, shared
        return 0, False

    @property
    def kv_slots(self) -> int:
        """Slots of both rings together."""
        return self._plan()[0]

    @property
    def use_shared_kv(self) -> bool:
        """One ring for K and V."""
        return self._plan()[1]

    @property
    def num_kv_stages(self) -> int:
        slots, shared = self._plan()
        return slots if shared else slots // 2

    @property
    def num_pv_stages(self) -> int:
        return P_STAGES

    @property
    def bk0(self) -> int:
        """Depth of a part of Q·K."""
        return self.padded_qk_depth // self.num_qk_stages

    @property
    def bk1(self) -> int:
        """Depth of P·V: the keys of a tile."""
        return self.bn

    @property
    def kv_bytes(self) -> int:
        return self.kv_slots * self.slot_bytes

    def _barriers(self, slots: int, shared: bool) -> int:
        qk, stages = (1, slots) if shared else (self._qk_parts, slots // 2)
        softmax = 2 * P_STAGES + 4 + 2  # S consumed; C produced and consumed, twice; S produced, twice
        rings = 2 * qk * stages + (0 if shared else 2 * stages)
        second_query = qk if self.num_q == 2 else 0
        publish = 1 if self.num_q == 1 and self.splitk_partitions > 1 else 0
        return softmax + rings + second_query + 2 + publish

    @property
    def barriers(self) -> int:
        """mbarriers: S, C, K, V, O, and with split-K the one that publishes."""
        return self._barriers(*self._plan())

    def _bytes(self, slots: int, shared: bool) -> int:
        stages = slots if shared else slots // 2
        scales = 0
        if self.scale_dtype is not None:
            scales = ELEMENT_BYTES[self.scale_dtype] * (self.bm + self.bn * stages)
        rope = self.rope_slot_bytes * stages
        return self.q_bytes + slots * self.slot_bytes + rope + CORRECTION_BYTES + scales + 8 * self._barriers(slots, shared) + 4

    @property
    def smem_used(self) -> int:
        """Dynamic shared memory: Q, the rings, rotary columns, correction, scales, barriers, and the word that holds the tensor memory's address."""
        return self._bytes(*self._plan())

    @property
    def stage_bytes(self) -> int:
        """What the split-K combine overlays on Q, K and V: f32 partial results and (maximum, sum)."""
        return self.bm * self.padded_ov_depth * 4 + MAXSUM_BYTES

    @property
    def publish_arrivals(self) -> int:
        """Arrivals of the barrier that publishes: each row's thread of each CTA."""
        return self.bm * self.splitk_partitions

    def cluster_size(self) -> int:
        return (2 if self.pair_cta else 1) * self.splitk_partitions

    # --- variants

    def with_splitk(self, partitions: int) -> FA4Config:
        """The same problem in P partitions."""
        return replace(self, splitk_partitions=partitions)

    def with_num_q(self, num_q: int) -> FA4Config:
        """The same problem with one or two query tiles in a CTA; two cannot be split."""
        return replace(self, bm=128 * num_q, splitk_partitions=self.splitk_partitions if num_q == 1 else 1)

    def with_bm(self, bm: int) -> FA4Config:
        return replace(self, bm=bm)

    # --- legality

    def refusals(self) -> list[str]:
        """Why the kernel cannot run so; empty where it can."""
        found: list[str] = []

        def need(condition: bool, words: str) -> None:
            if not condition:
                found.append(words)

        if self.bm not in (32, 64, 128, 256):
            return [f"a tile has 32, 64, 128 or 256 rows, not {self.bm}"]
        if self.num_kv_heads < 1 or self.num_q_heads % self.num_kv_heads:
            return [f"{self.num_q_heads} query heads cannot be shared out over {self.num_kv_heads} key heads"]
        need(self.bn >= 64, f"tensor memory leaves {self.bn} keys for a tile beside two O of {self.padded_ov_depth} columns; 64 are needed")
        need(self.num_kv_stages >= 2, f"only {self.num_kv_stages} stages of K and V fit in shared memory; 2 are needed")
        need(self.tmem_used <= TENSOR_MEMORY_COLUMNS, f"S and O take {self.tmem_used} columns of tensor memory; there are 512")
        need(self.smem_used <= CARVEOUT, f"the layout takes {self.smem_used} bytes of shared memory; a CTA has {CARVEOUT}")
        if 0 < self.page_size < self.bn:
            need(
                self.page_size % self.mma_k == 0, f"pages of {self.page_size} keys are no multiple of an instruction's depth, {self.mma_k}"
            )
        partitions = self.splitk_partitions
        need(partitions in PARTITIONS, f"{partitions} partitions are not among {', '.join(map(str, PARTITIONS))}")
        if self.num_q != 1:
            need(partitions == 1, f"two query tiles cannot be split over {partitions} partitions; use a tile of 128 rows")
        else:
            need(64 <= self.qk_depth <= 256, f"a depth of {self.qk_depth} is outside 64 to 256")
            need(not self.pair_cta, "paired CTAs need two query tiles (a tile of 256 rows)")
        if partitions > 1 and not found:
            room = self.q_bytes + self.kv_bytes
            need(self.stage_bytes <= room, f"the combine stages {self.stage_bytes} bytes, but Q, K and V leave {room}")
        return found

    def supported(self) -> bool:
        """Whether the kernel can run so."""
        return not self.refusals()

    def require(self) -> FA4Config:
        """This configuration, or L210 with every reason why it cannot run."""
        found = self.refusals()
        if found:
            fail("L210", depth=self.qk_depth, reasons="; ".join(found))
        return self

    def combine(self, **options: Any) -> Any:
        """The `CombineConfig` of this kernel's epilogue. Raises L210 where the kernel cannot run or is not split."""
        from fa4dsl.kernels.combine_config import CombineConfig

        self.require()
        if self.splitk_partitions == 1 or self.use_ws:
            fail("L210", depth=self.qk_depth, reasons="it has one partition, or packed tensor memory: nothing for this combine")
        fields = {"partitions": self.splitk_partitions, "depth": self.depth_of_output, "rows": self.bm, "group": self.fused_group}
        return CombineConfig(**(fields | options))
