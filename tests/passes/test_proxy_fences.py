"""Proxy fences over a matrix of which are there: what is reported is what is missing, what is inserted mends it, once."""

from __future__ import annotations

import re
from itertools import count, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fa4dsl.passes.dialect.definition import new_context
from fa4dsl.passes.insert_proxy_fences import missing_proxy_fences
from fa4dsl.passes.kernel import fa4_operations, kernels
from fa4dsl.passes.mlir_errors import parse
from fa4dsl.passes.registry import run_passes

FENCE = '"fa4.fence_proxy_async"() {space = "shared::cta"} : () -> ()'
BARRIERS = {
    "block": '"fa4.block_sync"() : () -> ()',
    "named": '"fa4.named_barrier_sync"(%one) {threads = 128 : i64} : (i32) -> ()',
    "cluster": """"fa4.cluster_arrive"() {order = "release"} : () -> ()
  "fa4.cluster_wait"() {order = "acquire"} : () -> ()""",
    "mbarrier": """"fa4.mbarrier_arrive"(%bar, %zero) {count = 1 : i64, order = "release", scope = "cta"} : (!fa4.mbarrier, i32) -> ()
  "fa4.mbarrier_wait"(%bar, %zero, %zero) {order = "acquire", scope = "cta"} : (!fa4.mbarrier, i32, i32) -> ()""",
    "none": "",
}
CONTEXT = new_context()


def unfenced_paths(block: object) -> bool:
    """Whether some way through the program (each branch, loops of none to two rounds) goes from a write to a copy of its array
    without a fence: the definition itself, without the analysis."""
    return any(_unfenced(path) for path in _paths(block))


def _paths(block: object) -> list[list[object]]:
    ways: list[list[object]] = [[]]
    for operation in (item.operation for item in block):
        inner = [_paths(region.blocks[0]) if len(list(region.blocks)) else [[]] for region in operation.regions]
        if operation.name == "scf.for":
            once = inner[0]
            choices = [[], *once, *(first + second for first in once for second in once)]
        elif operation.name == "scf.if":
            choices = [way for side in inner for way in side]
        else:
            choices = [[operation]]
        ways = [before + after for before in ways for after in choices]
        assert len(ways) < 20_000
    return ways


def _unfenced(path: list[object]) -> bool:
    dirty: set[str] = set()
    for operation in path:
        if operation.name == "llvm.store":
            dirty.add(str(operation.operands[1].owner.operands[0].owner.attributes["name"]))
        elif operation.name == "fa4.fence_proxy_async":
            dirty.clear()
        elif operation.name == "fa4.bulk_store" and str(operation.operands[1].owner.attributes["name"]) in dirty:
            return True
    return False


def _array(name: str) -> str:
    return f'%{name} = "fa4.shared_alloc"() {{name = "{name}", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"}} : () -> !fa4.shared'


def _kernel(body: str, fences: str) -> str:
    return f"""module {{ gpu.module @kernels {{
func.func @kernel(%out: !llvm.ptr<1>, %x: f32, %n: i32) attributes {{fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.fences = "{fences}"}} {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bytes = arith.constant 128 : i32
  {_array("a")}
  {_array("b")}
  %bar = "fa4.mbarrier_alloc"() {{name = "bar", count = 1 : i64, arrivals = 128 : i64, scope = "cta"}} : () -> !fa4.mbarrier
  %pa = "fa4.shared_address"(%a, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
  %pb = "fa4.shared_address"(%b, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>
  {body}
  return
}}
}} }}"""


def _write(array: str) -> str:
    return f"llvm.store %x, %p{array} : f32, !llvm.ptr<3>"


def _read(array: str) -> str:
    return f'"fa4.bulk_store"(%out, %{array}, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()'


def missing(body: str) -> set[str]:
    """The arrays for which a fence is reported missing."""
    return {str(item.fields["object"]) for item in missing_proxy_fences(parse(_kernel(body, "manual"), CONTEXT))}


def inserted(body: str, every_path: bool = False) -> int:
    """How many fences the pass inserts; afterwards nothing is missing, and a second run inserts none."""
    module = parse(_kernel(body, "automatic"), CONTEXT)
    before = len(fa4_operations(module.operation, "fence_proxy_async"))
    run_passes(module, ["insert-proxy-fences"])
    count = len(fa4_operations(module.operation, "fence_proxy_async")) - before
    run_passes(module, ["insert-proxy-fences"])
    assert len(fa4_operations(module.operation, "fence_proxy_async")) == before + count, "the second run inserted more"
    assert not (every_path and unfenced_paths(kernels(module)[0].regions[0].blocks[0]))
    again = parse(str(module).replace('"automatic"', '"manual"'), CONTEXT)
    assert missing_proxy_fences(again) == []
    return count


@pytest.mark.parametrize("barrier", BARRIERS)
@pytest.mark.parametrize("fences", list(product((False, True), repeat=3)), ids=lambda f: "".join("-F"[x] for x in f))
def test_reported_is_missing(barrier: str, fences: tuple[bool, bool, bool]) -> None:
    """write a; [fence]; write b; [fence]; barrier; [fence of the issuer]; both are read by bulk copies."""
    first, second, third = (FENCE if present else "" for present in fences)
    body = "\n  ".join([_write("a"), first, _write("b"), second, BARRIERS[barrier], third, _read("a"), _read("b")])
    lacking = set()
    if not any(fences):
        lacking.add("a")
    if not (fences[1] or fences[2]):
        lacking.add("b")
    reported = missing(body)
    # With no barrier to put it before, the fence stands before the first copy that needs it and covers the second.
    assert reported == (lacking if barrier != "none" or lacking != {"a", "b"} else {"a"})
    # One fence covers both arrays.
    assert inserted(body) == bool(lacking)


@pytest.mark.parametrize("wrong", ['space = "global"', 'space = "shared::cta"'])
def test_a_fence_of_another_space_does_not_help(wrong: str) -> None:
    remote = '%q = "fa4.peer_address"(%pa, %one) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>\n  llvm.store %x, %q : f32, !llvm.ptr<7>'
    fence = f'"fa4.fence_proxy_async"() {{{wrong}}} : () -> ()'
    body = "\n  ".join([remote, fence, BARRIERS["cluster"], _read("a")])
    assert missing(body) == {"a"}
    assert inserted(body) == 1
    assert missing(body.replace(wrong, 'space = "shared::cluster"')) == set()
    assert missing(body.replace(wrong, 'space = "all"')) == set()


def test_a_fence_of_some_writers_is_not_enough() -> None:
    """All threads write, but only those of a branch fence."""
    branch = f"%c = arith.cmpi slt, %n, %one : i32\n  scf.if %c {{ {FENCE} }}"
    body = "\n  ".join([_write("a"), branch, BARRIERS["block"], _read("a")])
    assert missing(body) == {"a"}
    assert inserted(body) == 1


def test_a_barrier_of_some_writers_is_not_the_place() -> None:
    """A barrier inside a branch is not passed by every writer: the fence belongs before the one outside."""
    branch = f"%c = arith.cmpi slt, %n, %one : i32\n  scf.if %c {{ {BARRIERS['named']} }}"
    body = "\n  ".join([_write("a"), BARRIERS["block"], branch, _read("a")])
    module = parse(_kernel(body, "automatic"), CONTEXT)
    run_passes(module, ["insert-proxy-fences"])
    (fence,) = fa4_operations(module.operation, "fence_proxy_async")
    siblings = [item.operation for item in fence.block]
    assert siblings[siblings.index(fence) + 1].name == "fa4.block_sync"


def test_a_loop_brings_the_write_round() -> None:
    """The copy stands before the write in the loop's body and meets it one iteration later."""
    loop = "\n    ".join([_read("a"), _write("a"), BARRIERS["block"]])
    body = f"scf.for %i = %zero to %n step %one : i32 {{\n    {loop}\n  }}"
    assert missing(body) == {"a"}
    assert inserted(body) == 1


def test_pointers_through_loops_and_selections() -> None:
    """An address that a loop carries, or a selection gives, still leads to its array."""
    carried = """%r = scf.for %i = %zero to %n step %one iter_args(%p = %pa) -> (!llvm.ptr<3>) : i32 {
    llvm.store %x, %p : f32, !llvm.ptr<3>
    %next = llvm.getelementptr %p[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    scf.yield %next : !llvm.ptr<3>
  }"""
    assert missing("\n  ".join([carried, BARRIERS["block"], _read("a")])) == {"a"}
    assert missing("\n  ".join([carried, BARRIERS["block"], _read("b")])) == set()
    chosen = """%c = arith.cmpi slt, %n, %one : i32
  %s = arith.select %c, %pa, %pb : !llvm.ptr<3>
  llvm.store %x, %s : f32, !llvm.ptr<3>"""
    assert missing("\n  ".join([chosen, BARRIERS["block"], _read("a"), _read("b")])) == {"a", "b"}


def test_a_barrier_of_the_whole_block_covers_writes_from_outside_its_branch() -> None:
    """All threads pass a block barrier in a branch if any does: one fence, before it, covers the write before the branch too."""
    inner = "\n    ".join([_write("a"), BARRIERS["block"], _read("a")])
    body = "\n  ".join([_write("a"), BARRIERS["mbarrier"], f"%c = arith.cmpi slt, %n, %one : i32\n  scf.if %c {{\n    {inner}\n  }}"])
    assert inserted(body) == 1


def test_global_memory() -> None:
    """A bulk load reads what the kernel wrote through the same argument."""
    load = '"fa4.bulk_load"(%a, %zero, %out, %bytes, %bar, %zero) : (!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32) -> ()'
    body = "\n  ".join(["llvm.store %x, %out : f32, !llvm.ptr<1>", BARRIERS["block"], load])
    assert missing(body) == {"argument 0"}
    module = parse(_kernel(body, "automatic"), CONTEXT)
    run_passes(module, ["insert-proxy-fences"])
    (fence,) = fa4_operations(module.operation, "fence_proxy_async")
    assert str(fence.attributes["space"]) == '"global"'


STEPS = st.sampled_from(
    [_write("a"), _write("b"), _read("a"), _read("b"), FENCE, BARRIERS["block"], BARRIERS["named"], BARRIERS["mbarrier"]]
)
BODIES = st.recursive(
    st.lists(STEPS, min_size=1, max_size=5).map("\n  ".join),
    lambda inner: st.tuples(st.sampled_from(["if", "for"]), inner, inner).map(
        lambda item: (
            f"{item[2]}\n  %u@ = arith.constant 1 : i32\n  scf.for %i@ = %zero to %n step %one : i32 {{\n  {item[1]}\n  }}"
            if item[0] == "for"
            else f"%c@ = arith.cmpi slt, %n, %one : i32\n  scf.if %c@ {{\n  {item[1]}\n  }}\n  {item[2]}"
        )
    ),
    max_leaves=3,
)


@settings(max_examples=150)
@given(BODIES)
def test_inserting_mends_any_program_and_is_idempotent(body: str) -> None:
    """Whatever the order of writes, copies, fences, barriers, branches and loops: nothing is missing afterwards."""
    numbers = count()
    text = re.sub("@", lambda _match: str(next(numbers) // 2), body)
    assert bool(inserted(text, every_path=True)) == bool(missing(text))
    manual = parse(_kernel(text, "manual"), CONTEXT)
    assert unfenced_paths(kernels(manual)[0].regions[0].blocks[0]) == bool(missing_proxy_fences(manual))
