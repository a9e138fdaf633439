"""Small programs of two roles that share arrays and barriers, and the plain definition of a missing proxy fence, path by path.

The definition knows nothing of the analysis: it lists the ways that threads go through the program (each branch, loops of none to two
rounds) and looks for an access that meets an async operation with no fence on the way, in one thread or through a barrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fa4dsl.passes.dialect.definition import new_context
from fa4dsl.passes.kernel import kernels
from fa4dsl.passes.mlir_errors import parse

CONTEXT = new_context()
ARRAYS = ("a", "b")

_ROLE = '{{fa4.role = {{name = "{name}", first_warp = {first} : i32, warps = 2 : i32, registers = 0 : i32}}}}'


def _array(name: str) -> str:
    shape = 'dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"'
    return f'%{name} = "fa4.shared_alloc"() {{name = "{name}", {shape}}} : () -> !fa4.shared'


def _barrier(name: str) -> str:
    return f'%{name} = "fa4.mbarrier_alloc"() {{name = "{name}", count = 2 : i64, arrivals = 1 : i64, scope = "cluster"}} : () -> !fa4.mbarrier'


def program(before: str, first: str, second: str, after: str, fences: str = "automatic") -> Any:
    """A module: `before` by all threads, then the roles' bodies side by side, then `after`. An "@" becomes a number of its own in each line."""
    roles = "".join(
        f"scf.execute_region {{\n{body}\n  scf.yield\n  }} {_ROLE.format(name=name, first=first_warp)}\n"
        for name, body, first_warp in (("one", first, 0), ("two", second, 2))
        if body
    )
    attributes = f'fa4.kernel, fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>, fa4.fences = "{fences}"'
    text = f"""module {{ gpu.module @kernels {{
func.func @kernel(%out: !llvm.ptr<1>, %x: f32, %n: i32, %c: i1) attributes {{{attributes}}} {{
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %all = arith.constant -1 : i32
  %bytes = arith.constant 128 : i32
  {" ".join(_array(name) for name in ARRAYS)}
  {" ".join(map(_barrier, ("full", "empty", "copied")))}
  {" ".join(f'%p{name} = "fa4.shared_address"(%{name}, %zero) : (!fa4.shared, i32) -> !llvm.ptr<3>' for name in ARRAYS)}
  {" ".join(f'%q{name} = "fa4.peer_address"(%p{name}, %one) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>' for name in ARRAYS)}
  {before}
  {roles}
  {after}
  return
}}
}} }}"""
    return parse(text, CONTEXT)


def numbered(text: str) -> str:
    """Gives each line's "@" a number of its own."""
    return "\n".join(line.replace("@", str(i)) for i, line in enumerate(text.split("\n")))


def write(array: str) -> str:
    return f"llvm.store %x, %p{array} : f32, !llvm.ptr<3>"


def read(array: str) -> str:
    return f"%r@ = llvm.load %p{array} : !llvm.ptr<3> -> f32"


def write_peer(array: str) -> str:
    return f"llvm.store %x, %q{array} : f32, !llvm.ptr<7>"


def copy_out(array: str) -> str:
    return f'"fa4.bulk_store"(%out, %{array}, %zero, %bytes) : (!llvm.ptr<1>, !fa4.shared, i32, i32) -> ()'


def copy_in(array: str) -> str:
    types = "!fa4.shared, i32, !llvm.ptr<1>, i32, !fa4.mbarrier, i32"
    return f'"fa4.bulk_load"(%{array}, %zero, %out, %bytes, %copied, %zero) : ({types}) -> ()'


def arrive(barrier: str, index: str = "zero") -> str:
    return f'"fa4.mbarrier_arrive"(%{barrier}, %{index}) {{count = 1 : i64, order = "release", scope = "cluster"}} : (!fa4.mbarrier, i32) -> ()'


def arrive_peer(barrier: str, index: str = "zero") -> str:
    attributes = '{count = 1 : i64, order = "release", scope = "cluster"}'
    return f'"fa4.mbarrier_arrive_remote"(%{barrier}, %{index}, %one) {attributes} : (!fa4.mbarrier, i32, i32) -> ()'


def elected_arrive(barrier: str, index: str = "zero") -> str:
    """One lane of each warp arrives for it, as a ring's release does."""
    return f'"fa4.warp_sync"(%all) : (i32) -> () %e@ = "fa4.elect"() : () -> i1 scf.if %e@ {{ {arrive(barrier, index)} }}'


def wait(barrier: str, index: str = "zero") -> str:
    return f'"fa4.mbarrier_wait"(%{barrier}, %{index}, %zero) {{order = "acquire", scope = "cluster"}} : (!fa4.mbarrier, i32, i32) -> ()'


def fence(space: str = "shared::cta") -> str:
    return f'"fa4.fence_proxy_async"() {{space = "{space}"}} : () -> ()'


BLOCK_SYNC = '"fa4.block_sync"() : () -> ()'
CLUSTER_SYNC = '"fa4.cluster_arrive"() {order = "release"} : () -> ()\n"fa4.cluster_wait"() {order = "acquire"} : () -> ()'


# --- the definition

Path = list[Any]


@dataclass(frozen=True)
class Access:
    """A generic access ("read", "write"), an async one ("copied out", "copied in"), or none (""), and the array."""

    kind: str
    array: str
    remote: bool = False


def access_of(operation: Any) -> Access:
    """What an operation of these programs touches."""
    if operation.name in ("llvm.store", "llvm.load"):
        address = operation.operands[1 if operation.name == "llvm.store" else 0].owner
        remote = address.name == "fa4.peer_address"
        if remote:
            address = address.operands[0].owner
        kind = "write" if operation.name == "llvm.store" else "read"
        return Access(kind, _text(address.operands[0].owner.attributes["name"]), remote)
    if operation.name in ("fa4.bulk_store", "fa4.bulk_load"):
        number, kind = (1, "copied out") if operation.name == "fa4.bulk_store" else (0, "copied in")
        return Access(kind, _text(operation.operands[number].owner.attributes["name"]))
    return Access("", "")


def _text(attribute: Any) -> str:
    return str(attribute.value)


def _conflict(generic: Access, use: Access) -> bool:
    kinds = {("write", "copied out"), ("write", "copied in"), ("read", "copied in")}
    return (generic.kind, use.kind) in kinds and generic.array == use.array


def _covering(operation: Any, access: Access) -> bool:
    if operation.name != "fa4.fence_proxy_async":
        return False
    space = _text(operation.attributes["space"])
    return space in ("all", "shared::cluster") or (space == "shared::cta" and not access.remote)


def paths(block: Any) -> list[Path]:
    """The ways through a block; a role's region is passed over."""
    ways: list[Path] = [[]]
    for operation in (item.operation for item in block):
        if operation.name == "scf.execute_region":
            continue
        inner = [paths(region.blocks[0]) if len(list(region.blocks)) else [[]] for region in operation.regions]
        if operation.name == "scf.for":
            choices = [[], *inner[0], *(first + second for first in inner[0] for second in inner[0])]
        elif operation.name == "scf.if":
            choices = [way for side in inner for way in side]
        else:
            choices = [[operation]]
        ways = [before + after for before in ways for after in choices]
        assert len(ways) < 20_000, "too many ways"
    return ways


def thread_paths(module: Any) -> list[list[Path]]:
    """For each role (or for all threads where there is none): the ways its threads go."""
    body = kernels(module)[0].regions[0].blocks[0]
    operations = [item.operation for item in body]
    roles = [position for position, item in enumerate(operations) if item.name == "scf.execute_region"]
    if not roles:
        return [paths(body)]
    before, after = _straight(operations[: roles[0]]), _straight(operations[roles[-1] + 1 :])
    return [
        [first + middle + last for first in before for middle in paths(operations[role].regions[0].blocks[0]) for last in after]
        for role in roles
    ]


def _straight(operations: list[Any]) -> list[Path]:
    class _Block:
        def __iter__(self) -> Any:
            return iter(operations)

    return paths(_Block())


def unfenced(module: Any) -> bool:
    """Whether a proxy fence is missing somewhere."""
    classes = thread_paths(module)
    return any(_in_order(path) for ways in classes for path in ways) or any(
        _through_barriers(one, two, number == other) for number, one in enumerate(classes) for other, two in enumerate(classes)
    )


def _in_order(path: Path) -> bool:
    """An access, later an async operation on the same array by the same thread, and no fence between."""
    dirty: set[Access] = set()
    for operation in path:
        access = access_of(operation)
        if access.kind in ("read", "write"):
            dirty.add(access)
        elif access.kind and any(_conflict(item, access) for item in dirty):
            return True
        dirty = {item for item in dirty if not _covering(operation, item)}
    return False


def _signals(path: Path) -> set[tuple[int, Access, tuple[str, str], bool]]:
    """Accesses (with their operation) that an arrival tells others of before a fence covers them; True if it tells a peer CTA."""
    dirty: dict[tuple[int, Access], None] = {}
    found = set()
    for operation in path:
        access = access_of(operation)
        if access.kind in ("read", "write"):
            dirty[(hash(operation), access)] = None
        if operation.name in ("fa4.mbarrier_arrive", "fa4.mbarrier_arrive_remote"):
            found |= {(number, item, _barrier_of(operation), operation.name.endswith("remote")) for number, item in dirty}
        dirty = {key: None for key in dirty if not _covering(operation, key[1])}
    return found


def _uses(path: Path) -> set[tuple[int, Access, tuple[str, str], bool]]:
    """Async operations with the barriers waited for before; True where a fence of the own CTA's memory (False: of none) followed the wait."""
    waited: dict[tuple[str, str], set[str]] = {}
    found = set()
    for operation in path:
        access = access_of(operation)
        if access.kind.startswith("copied"):
            for barrier, fences in waited.items():
                if not fences & {"all", "shared::cluster"}:
                    found.add((hash(operation), access, barrier, "shared::cta" in fences))
        if operation.name == "fa4.mbarrier_wait":
            waited[_barrier_of(operation)] = set()
        elif operation.name == "fa4.fence_proxy_async":
            for fences in waited.values():
                fences.add(_text(operation.attributes["space"]))
    return found


def _through_barriers(accessing: list[Path], issuing: list[Path], same: bool) -> bool:
    """An access told through a barrier to a thread that then issues. Threads of one role execute the same text: what follows the access in
    their order is the other half of the definition; what precedes it can only have been told by a peer CTA."""
    together, ordered = set(), set()
    for path in accessing if same else []:
        numbers = [hash(operation) for operation in path]
        together |= {(one, two) for one in numbers for two in numbers}
        ordered |= {(one, two) for position, one in enumerate(numbers) for two in numbers[position + 1 :]}
    signals = {signal for path in accessing for signal in _signals(path)}
    for number, use, waited, own_fenced in {item for path in issuing for item in _uses(path)}:
        for access_number, access, told, to_peer in signals:
            if (access_number, number) in (ordered if to_peer else together):
                continue
            if _conflict(access, use) and _same(told, waited) and not (own_fenced and not access.remote):
                return True
    return False


def _barrier_of(operation: Any) -> tuple[str, str]:
    index = operation.operands[1].owner
    number = str(index.attributes["value"].value) if getattr(index, "name", "") == "arith.constant" else "?"
    return _text(operation.operands[0].owner.attributes["name"]), number


def _same(first: tuple[str, str], second: tuple[str, str]) -> bool:
    return first[0] == second[0] and (first[1] == second[1] or "?" in (first[1], second[1]))
