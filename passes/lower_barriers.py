"""lower-barriers: mbarriers of the own CTA, block, named and warp barriers, and fences, to PTX with explicit order and scope.

Remote arrives and the cluster barrier are `lower-clusters`'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.passes.kernel import KernelInfo, fa4_operations, kernel_of
from fa4dsl.passes.rewriting import Rewriter, rewrite

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlir import ir


def lower_barriers(module: ir.Module) -> None:
    _lower_lifetime(module, "mbarrier_init")
    _lower_lifetime(module, "mbarrier_invalidate")
    rewrite(module, _RULES)


def _lower_lifetime(module: ir.Module, name: str) -> None:
    """Consecutive inits (or invalidations) become one block that thread 0 executes; one fence ends the inits."""
    runs: list[list[ir.Operation]] = []
    for operation in fa4_operations(module.operation, name):
        if runs and operation in runs[-1]:
            continue
        runs.append([operation])
        while (following := _next(runs[-1][-1])) is not None and following.name == f"fa4.{name}":
            runs[-1].append(following)
    for run in runs:
        rewriter = Rewriter(run[0])
        first = _is_thread_zero(rewriter)

        def body(run: list[ir.Operation] = run, rewriter: Rewriter = rewriter) -> None:
            for member in run:
                rewriter.location = member.location
                _begin_or_end(rewriter, member)
            if name == "mbarrier_init":
                # The fence also covers barriers of CTA scope: the async unit signals them through the cluster's window.
                rewriter.ptx("fence.mbarrier_init.release.cluster;")

        rewriter.when(first, body)
        for member in run:
            member.erase()


def _next(operation: ir.Operation) -> ir.Operation | None:
    """The operation after this one in its block, past constants and allocations, which need no order."""
    siblings = [item.operation for item in operation.block]
    for following in siblings[siblings.index(operation) + 1 :]:
        if following.name not in ("arith.constant", "fa4.mbarrier_alloc", "fa4.shared_alloc"):
            return following
    return None


def _is_thread_zero(rewriter: Rewriter) -> ir.Value:
    function = kernel_of(rewriter.operation)
    block = KernelInfo.of(function).block if function is not None else (1, 1, 1)
    index = rewriter.value("fa4.index", [], "i32", what='"thread.x"')
    for axis, size in zip("yz", block[1:], strict=True):
        if size > 1:
            other = rewriter.value("fa4.index", [], "i32", what=f'"thread.{axis}"')
            index = rewriter.value("arith.ori", [index, other], "i32")
    return rewriter.compare(0, index, rewriter.constant(0))


def _begin_or_end(rewriter: Rewriter, member: ir.Operation) -> None:
    barrier = member.operands[0]
    allocation = barrier.owner
    count, arrivals = (int(allocation.attributes[key].value) for key in ("count", "arrivals"))
    for index in range(count):
        address = rewriter.mbarrier_address(barrier, rewriter.constant(index))
        if member.name == "fa4.mbarrier_init":
            rewriter.ptx(f"mbarrier.init.shared::cta.b64 [$0], {arrivals};", [address])
        else:
            rewriter.ptx("mbarrier.inval.shared::cta.b64 [$0];", [address])


def _address(rewriter: Rewriter) -> ir.Value:
    return rewriter.mbarrier_address(*rewriter.operation.operands[:2])


def _order(rewriter: Rewriter) -> str:
    return f"{rewriter.attribute('order')}.{rewriter.attribute('scope')}"


def _arrive(rewriter: Rewriter) -> None:
    count = rewriter.attribute("count")
    rewriter.ptx(f"mbarrier.arrive.{_order(rewriter)}.shared::cta.b64 _, [$0], {count};", [_address(rewriter)])
    rewriter.replace()


def _expect(rewriter: Rewriter) -> None:
    scope = rewriter.attribute("scope")
    rewriter.ptx(f"mbarrier.expect_tx.relaxed.{scope}.shared::cta.b64 [$0], $1;", [_address(rewriter), rewriter.operation.operands[2]])
    rewriter.replace()


def _arrive_expect(rewriter: Rewriter) -> None:
    text = f"mbarrier.arrive.expect_tx.{_order(rewriter)}.shared::cta.b64 _, [$0], $1;"
    rewriter.ptx(text, [_address(rewriter), rewriter.operation.operands[2]])
    rewriter.replace()


def _test_text(rewriter: Rewriter, suspend: bool) -> str:
    return f"mbarrier.{'try' if suspend else 'test'}_wait.parity.{_order(rewriter)}.shared::cta.b64 $0, [$1], $2;"


def _test(rewriter: Rewriter) -> None:
    operands = [_address(rewriter), rewriter.operation.operands[2]]
    rewriter.replace(rewriter.ptx(_test_text(rewriter, rewriter.attribute("suspend")), operands, ["i1"]))


def _wait(rewriter: Rewriter) -> None:
    """try_wait may return false at any time, so it stands in a loop."""
    operands = [_address(rewriter), rewriter.operation.operands[2]]
    loop = rewriter.create("scf.while", [], [], regions=2)
    with rewriter.inside(loop.regions[0].blocks.append()):
        (done,) = rewriter.ptx(_test_text(rewriter, True), operands, ["i1"])
        rewriter.create("scf.condition", [rewriter.value("arith.xori", [done, rewriter.constant(1, "i1")], "i1")])
    with rewriter.inside(loop.regions[1].blocks.append()):
        rewriter.create("scf.yield")
    rewriter.replace()


def _named(rewriter: Rewriter) -> None:
    word = rewriter.operation.name.rpartition("_")[2]
    barrier = rewriter.operation.operands[0]
    known = rewriter.known(barrier)
    # A constant id is written into the text: ptxas then reserves that barrier alone instead of all sixteen.
    number = "$0" if known is None else str(known)
    rewriter.ptx(f"bar.{word} {number}, {rewriter.attribute('threads')};", [barrier] if known is None else [])
    rewriter.replace()


def _instruction(text: str, *attributes: str) -> Callable[[Rewriter], None]:
    """A rule for an operation that is one instruction over its operands; {name} in `text` is an attribute."""

    def rule(rewriter: Rewriter) -> None:
        rewriter.ptx(text.format(**{name: rewriter.attribute(name) for name in attributes}), list(rewriter.operation.operands))
        rewriter.replace()

    return rule


def _fence_proxy(rewriter: Rewriter) -> None:
    space = rewriter.attribute("space")
    rewriter.ptx("fence.proxy.async;" if space == "all" else f"fence.proxy.async.{space};")
    rewriter.replace()


_RULES = {
    "mbarrier_arrive": _arrive,
    "mbarrier_expect_tx": _expect,
    "mbarrier_arrive_expect_tx": _arrive_expect,
    "mbarrier_test": _test,
    "mbarrier_wait": _wait,
    "block_sync": _instruction("bar.sync 0;"),
    "named_barrier_sync": _named,
    "named_barrier_arrive": _named,
    "warp_sync": _instruction("bar.warp.sync $0;"),
    "fence": _instruction("fence.{order}.{scope};", "order", "scope"),
    "fence_mbarrier_init": _instruction("fence.mbarrier_init.release.cluster;"),
    "fence_proxy_async": _fence_proxy,
}
