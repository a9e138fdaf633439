"""lower-clusters: peers' shared memory, remote arrives, asynchronous stores to peers and the cluster barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.dialect.rules import bits_of
from fa4dsl.passes.rewriting import Rewriter, rewrite

if TYPE_CHECKING:
    from mlir import ir


def lower_clusters(module: ir.Module) -> None:
    rewrite(module, _RULES)


def _peer_address(rewriter: Rewriter) -> None:
    rewriter.replace([rewriter.peer(*rewriter.operation.operands)])


def _remote_barrier(rewriter: Rewriter, first: int = 0) -> ir.Value:
    barrier, index, rank = list(rewriter.operation.operands)[first : first + 3]
    return rewriter.peer(rewriter.mbarrier_address(barrier, index), rank)


def _arrive(rewriter: Rewriter) -> None:
    order, scope = rewriter.attribute("order"), rewriter.attribute("scope")
    count = rewriter.attribute("count")
    rewriter.ptx(f"mbarrier.arrive.{order}.{scope}.shared::cluster.b64 _, [$0], {count};", [_remote_barrier(rewriter)])
    rewriter.replace()


def _arrive_expect(rewriter: Rewriter) -> None:
    order, scope = rewriter.attribute("order"), rewriter.attribute("scope")
    text = f"mbarrier.arrive.expect_tx.{order}.{scope}.shared::cluster.b64 _, [$0], $1;"
    rewriter.ptx(text, [_remote_barrier(rewriter), rewriter.operation.operands[3]])
    rewriter.replace()


def _cluster_arrive(rewriter: Rewriter) -> None:
    rewriter.ptx(f"barrier.cluster.arrive.{rewriter.attribute('order')}.aligned;")
    rewriter.replace()


def _cluster_wait(rewriter: Rewriter) -> None:
    rewriter.ptx(f"barrier.cluster.wait.{rewriter.attribute('order')}.aligned;")
    rewriter.replace()


def _store_async(rewriter: Rewriter) -> None:
    value, array, offset, _, _, rank = rewriter.operation.operands
    target = rewriter.peer(rewriter.shared_address(array, offset), rank)
    barrier = _remote_barrier(rewriter, 3)
    words = bits_of(str(value.type)) // 32
    if words == 1:
        parts = [rewriter.bitcast(value, "i32")]
    else:
        whole = rewriter.bitcast(value, f"vector<{words}xi32>")
        parts = [rewriter.value("llvm.extractelement", [whole, rewriter.constant(i)], "i32") for i in range(words)]
    form = f".v{words}" if words > 1 else ""
    listed = ", ".join(f"${i + 1}" for i in range(words))
    stored = f"{{{listed}}}" if words > 1 else listed
    rewriter.ptx(
        f"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes{form}.b32 [$0], {stored}, [${words + 1}];",
        [target, *parts, barrier],
    )
    rewriter.replace()


_RULES = {
    "peer_address": _peer_address,
    "mbarrier_arrive_remote": _arrive,
    "mbarrier_arrive_expect_tx_remote": _arrive_expect,
    "cluster_arrive": _cluster_arrive,
    "cluster_wait": _cluster_wait,
    "store_async": _store_async,
}
