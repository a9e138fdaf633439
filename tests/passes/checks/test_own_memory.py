"""Loads whose value decides a branch: of this CTA's own memory they are no access to a peer, of a peer's they are one."""

from __future__ import annotations

import numpy as np
import pytest

from fa4dsl import Pointer, block, cluster, i32, kernel, shared, shuffle_xor, thread, vote_any
from fa4dsl.runtime.diagnostics import Fa4dslError


@kernel(cluster=2, threads=64)
def decided_by_own(x: Pointer[i32], n: i32):
    stage = shared(i32, (2, 64))
    cluster.arrive("relaxed")
    stage[0, thread.index()] = x[thread.index()]
    block.sync()
    value = i32(0)
    for turn in range(n):
        word = stage[turn % 2, 63 - thread.index()]
        if vote_any(word > 5):  # who shuffles depends on it
            value += shuffle_xor(word, 1)
    cluster.wait()
    x[thread.index()] = value


@kernel(cluster=2, threads=64)
def decided_by_peer(x: Pointer[i32], n: i32):
    stage = shared(i32, (2, 64))
    cluster.arrive("relaxed")
    stage[0, thread.index()] = x[thread.index()]
    block.sync()
    value = i32(0)
    for turn in range(n):
        word = stage.on(1 - cluster.rank())[turn % 2, 63 - thread.index()]  # the peer may not have started
        if vote_any(word > 5):
            value += shuffle_xor(word, 1)
    cluster.wait()
    x[thread.index()] = value


def test_own_memory_is_no_peers() -> None:
    x = np.arange(64, dtype=np.int32)
    result = decided_by_own.launch(1 * 2, (x, 1), device="simulator")
    assert "C120" not in str(result.report.text())


def test_a_peers_is() -> None:
    with pytest.raises(Fa4dslError) as caught:
        decided_by_peer.compile()
    assert caught.value.code == "C120" and "stage" in str(caught.value)
