"""FA4Config reproduces every derived number of the kernel it describes, and refuses in words what that kernel cannot do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fa4dsl.kernels.fa4_config import CARVEOUT, FA4Config
from fa4dsl.runtime.diagnostics import Fa4dslError

# depth, page: padded, BN, TMEM columns, qk stages, slots, one ring, smem_used (None where it is not stated), Q bytes, stage need, barriers
TABLE = [
    (64, 128, 64, 128, 384, 1, 13, True, 230_716, 16 << 10, 34_816, 39),
    (64, 0, 64, 192, 512, 1, 8, False, None, 16 << 10, 34_816, None),
    (72, 128, 128, 128, 512, 2, 6, False, 230_652, 32 << 10, 67_584, 31),
    (80, 128, 128, 128, 512, 2, 6, False, 230_652, 32 << 10, 67_584, 31),
    (96, 128, 128, 128, 512, 2, 6, False, 230_652, 32 << 10, 67_584, 31),
    (128, 128, 128, 128, 512, 2, 6, False, 230_652, 32 << 10, 67_584, 31),
    (192, 128, 192, 64, 512, 1, 7, True, 222_428, 48 << 10, 100_352, 27),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"D{row[0]}-page{row[1]}")
def test_table(row: tuple[int, ...]) -> None:
    depth, page, padded, keys, columns, stages, slots, shared, used, q_bytes, stage, barriers = row
    config = FA4Config(depth, page_size=page).with_splitk(8)
    assert config.refusals() == []
    assert config.padded_qk_depth == config.padded_ov_depth == padded
    assert config.bn == keys
    assert config.tmem_used == columns
    assert config.num_qk_stages == stages
    assert (config.kv_slots, config.use_shared_kv) == (slots, shared)
    assert config.num_kv_stages == (slots if shared else slots // 2)
    assert config.q_bytes == q_bytes
    assert config.stage_bytes == stage
    if used is not None:
        assert config.smem_used == used
        assert config.barriers == barriers
    assert config.smem_used <= CARVEOUT
    assert config.stage_bytes <= config.q_bytes + config.kv_bytes
    assert config.publish_arrivals == 128 * 8


def test_depth_256_has_no_tile() -> None:
    config = FA4Config(256)
    assert config.bn == 0
    assert not config.supported()
    assert "tensor memory leaves 0 keys" in config.refusals()[0]


def test_tensor_memory_layout() -> None:
    config = FA4Config(128)
    assert [config.tmem_s0, config.tmem_s1, config.tmem_o0, config.tmem_o1] == [0, 128, 256, 384]
    assert (config.tmem_p0, config.tmem_p1) == (config.tmem_s0, config.tmem_s1)
    assert replace(config, single_o=True, page_size=0).bn == 192


def test_publish_barrier_only_where_it_is_split() -> None:
    assert FA4Config(128).with_splitk(2).barriers == FA4Config(128).barriers + 1
    assert FA4Config(128).with_splitk(2).smem_used == FA4Config(128).smem_used + 8


def test_variants() -> None:
    config = FA4Config(128, num_q_heads=64, num_kv_heads=8)
    assert (config.num_q, config.fuse_gqa, config.fused_group, config.positions) == (1, True, 8, 16)
    assert config.with_splitk(16).cluster_size() == 16
    two = config.with_splitk(4).with_num_q(2)
    assert (two.bm, two.num_q, two.splitk_partitions, two.mma_m) == (256, 2, 1, 128)
    assert two.with_num_q(1).bm == 128
    assert replace(two, pair_cta=True).cluster_size() == 2
    assert [config.with_bm(bm).m_pack for bm in (32, 64, 128, 256)] == [4, 2, 1, 1]
    assert config.with_bm(64).bn == 256
    assert not FA4Config(128, num_q_heads=6, num_kv_heads=2).fuse_gqa  # 128 rows are no multiple of 3 heads
    assert not replace(config, is_mla=True).fuse_gqa
    assert config.swizzle_mode == "128B"
    assert FA4Config(128, qkv_dtype="e4m3").swizzle_mode == "64B"
    assert FA4Config(128, qkv_dtype="e4m3").mma_k == 32


def test_rope_and_scales_take_memory() -> None:
    plain = FA4Config(192, ov_depth=128, nope_depth=128, is_mla=True)
    apart = replace(plain, rope_dtype="bf16")
    assert apart.rope_slot_bytes == apart.bn * 64 * 2
    assert apart.slot_bytes == apart.bn * 128 * 2
    scaled = FA4Config(128, scale_dtype="f32")
    assert (scaled.kv_slots, scaled.use_shared_kv, scaled.barriers) == (5, True, 22)  # the scales cost a slot
    assert scaled.smem_used == 6 * 32768 + 1024 + 4 * (128 + 128 * 5) + 8 * 22 + 4


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (FA4Config(128, bm=96), "32, 64, 128 or 256 rows"),
        (FA4Config(48), "outside 64 to 256"),
        (FA4Config(128).with_splitk(3), "3 partitions"),
        (FA4Config(128, bm=256, splitk_partitions=2), "two query tiles"),
        (FA4Config(128, pair_cta=True), "paired CTAs"),
        (FA4Config(128, page_size=8), "no multiple of an instruction's depth"),
        (FA4Config(128, num_q_heads=5, num_kv_heads=2), "cannot be shared out"),
        (FA4Config(512), "tensor memory leaves"),
    ],
)
def test_refusals_in_words(config: FA4Config, words: str) -> None:
    assert not config.supported()
    assert any(words in reason for reason in config.refusals())
    with pytest.raises(Fa4dslError) as caught:
        config.require()
    assert caught.value.code == "L210"
    assert words in str(caught.value)


def test_combine_of_a_kernel() -> None:
    combine = FA4Config(96, num_q_heads=8, num_kv_heads=2).with_splitk(4).combine(output="f16")
    assert (combine.partitions, combine.depth, combine.rows, combine.group, combine.output) == (4, 96, 128, 4, "f16")
    with pytest.raises(Fa4dslError):
        FA4Config(96).combine()
