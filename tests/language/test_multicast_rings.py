"""Rings that a cluster fills by multicast: counts, bytes and masks, numbers and verdicts in the simulator, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fa4dsl import Fa4dslError, Pointer, TensorMap, block, cluster, elect, f32, i32, kernel, pipeline, role, thread

TILE = (4, 32)
"""Rows that one CTA loads of a tile, and columns."""


@kernel(cluster=lambda shape: shape)
def grid_sums(a: TensorMap, b: TensorMap, c: TensorMap, out: Pointer[f32], tiles: i32, *, shape: tuple[int, int]) -> None:
    """`a` is shared along x, `b` along y, `c` is each CTA's own: each adds up what its slot holds, weighted by place."""
    x, y, rank = cluster.block_index("x"), cluster.block_index("y"), cluster.rank()
    parts = {"a": (f32, (shape[0], *TILE)), "b": (f32, (shape[1], *TILE)), "c": (f32, TILE)}
    ring = pipeline(stages=2, slot=parts, multicast=True)
    cluster.sync()
    with role("load", warps=1), elect():
        for tile in range(tiles):
            with ring.fill() as slot:
                # Row of CTAs y: the tile's part x comes from CTA x. Column of CTAs x: part y comes from CTA y.
                a.load(slot.a.part(x), (tile, y, x * TILE[0], 0), multicast="x")
                b.load(slot.b.part(y), (tile, x, y * TILE[0], 0), multicast="y")
                c.load(slot.c, (tile, rank, 0, 0))
    with role("add", warps=1):
        lane = thread.index() - 32
        total = f32(0)
        for _ in range(tiles):
            with ring.use() as slot:
                for row in range(TILE[0]):
                    for part in range(shape[0]):
                        total += slot.a[part, row, lane]
                    for part in range(shape[1]):
                        total += slot.b[part, row, lane]
                    total += slot.c[row, lane]
        out[(block.index("y") * shape[0] + block.index("x")) * 32 + lane] = total
    cluster.sync()


@pytest.mark.parametrize("schedule", ["late", "eager", "random"])
@pytest.mark.parametrize("shape", [(2, 2), (4, 1), (2, 3)])
def test_a_cluster_of_two_axes(shape: tuple[int, int], schedule: str) -> None:
    columns, rows = shape
    random = np.random.default_rng(1)
    tiles = 5
    a = random.integers(-8, 8, (tiles, rows, columns * TILE[0], 32)).astype(np.float32)
    b = random.integers(-8, 8, (tiles, columns, rows * TILE[0], 32)).astype(np.float32)
    c = random.integers(-8, 8, (tiles, rows * columns, *TILE)).astype(np.float32)
    out = np.zeros((rows, columns, 32), np.float32)
    bound = grid_sums.bind(shape=shape)
    (report,) = bound.check((columns, rows), [a, b, c, out, tiles], schedules=[schedule], seed=3)
    assert report.verdict == "clean", report.text()
    sums = a.sum(axis=(0, 2))[:, None] + b.sum(axis=(0, 2))[None] + c.sum(axis=(0, 2)).reshape(rows, columns, 32)
    assert (out == sums).all()


def test_counts_and_bytes() -> None:
    """The empty barrier takes a warp of each CTA of the cluster, the full one the bytes that all senders bring."""
    text = grid_sums.bind(shape=(2, 3)).stages["fenced"]
    assert "arrivals = 6 : i64, count = 2 : i64, fa4.offset" in text and 'name = "ring.empty", scope = "cluster"' in text
    size = TILE[0] * TILE[1] * 4
    assert f"arith.constant {(2 + 3 + 1) * size} : i32" in text
    # One fence for the release, where the reading lanes meet.
    assert text.count("fence_proxy_async") == 1


def broken(body: str, cluster_size: int = 2, multicast: str = "True") -> str:
    """The problem that L080 reports of a ring whose fill is `body`."""
    names: dict[str, Any] = {}
    lines = [
        "from fa4dsl import *",
        f"@kernel(cluster={cluster_size})",
        "def example(m: TensorMap, n: i32):",
        f"    ring = pipeline(stages=2, slot={{'a': (f32, (2, 4, 32))}}, multicast={multicast})",
        "    cluster.sync()",
        "    with role('load', warps=1), elect():",
        "        with ring.fill() as slot:",
        f"            {body}",
        "    with role('use', warps=1):",
        "        with ring.use() as slot:",
        "            slot.a[0, 0, 0]",
    ]
    import linecache

    text = "\n".join(lines) + "\n"
    file = f"<example {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)
    with pytest.raises(Fa4dslError) as caught:
        names["example"].bind().trace()
    assert caught.value.code == "L080"
    return caught.value.diagnostics[0].message


def test_what_is_refused() -> None:
    assert "needs a cluster" in broken("m.load(slot.a.part(0), (0, 0), multicast='cluster')", cluster_size=1)
    assert "multicast=True" in broken("m.load(slot.a.part(0), (0, 0), multicast='cluster')", multicast="False")
    assert "mask of ranks" in broken("m.load(slot.a.part(0), (0, 0), multicast=3)")
    assert "in a ring the group is" in broken("m.load(slot.a.part(0), (0, 0), multicast='row')")
