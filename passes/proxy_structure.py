"""Questions about where operations stand in structured control flow, for the analysis of proxy fences.

Operations are keys of sets and dictionaries as they are: their hash alone is no identity, as operations without results that look alike (a
barrier in an unrolled loop) share it.
"""

from __future__ import annotations

from typing import Any, Literal

LOOPS = ("scf.for", "scf.while", "scf.parallel")
_FUNCTIONS = ("func.func", "llvm.func")

Relation = Literal["follows", "never", "apart"]


def ancestors(operation: Any) -> list[Any]:
    """The operation and all around it inside its function, innermost first."""
    found = []
    inner = operation
    while inner is not None and inner.name not in _FUNCTIONS:
        found.append(inner)
        parent = inner.parent
        inner = parent.operation if parent is not None else None
    return found


def enclosing_blocks(operation: Any) -> frozenset[Any]:
    """The blocks around an operation: a barrier in one of them is passed by every thread that executes the operation."""
    return frozenset(item.block for item in ancestors(operation))


def reaches(first: Any, second: Any) -> Relation:
    """How `second` stands to `first` in the order of a thread that executes `first`.

    "follows": it may come later, in order or in a loop's next iteration. "never": it only comes before. "apart": other threads execute
    it: another role, or another side of a branch that no loop repeats.
    """
    above, other = ancestors(first), ancestors(second)
    shared = 0
    while shared < min(len(above), len(other)) and above[-1 - shared] == other[-1 - shared]:
        shared += 1
    if shared == len(above) or shared == len(other):
        return "follows"
    one, two = above[-1 - shared], other[-1 - shared]
    if _roles_apart(one, two):
        return "apart"
    if any(item.name in LOOPS for item in above[len(above) - shared :]):
        return "follows"
    if one.block != two.block:
        return "apart"
    return "follows" if one.is_before_in_block(two) else "never"


def _roles_apart(one: Any, two: Any) -> bool:
    """Whether both are roles, of different warps, or two sides of a role's branch."""
    names = [str(item.attributes["fa4.role"]) if "fa4.role" in item.attributes else "" for item in (one, two)]
    if all(names):
        return names[0] != names[1]
    parent = one.parent
    return one.block != two.block and parent is not None and "fa4.role" in parent.operation.attributes


def outermost_loop_without(place: Any, operations: list[Any]) -> Any:
    """The outermost loop around `place`, inside its role, that holds none of `operations`; None where there is none."""
    around = {item for operation in operations for item in ancestors(operation)}
    found = None
    for item in ancestors(place)[1:]:
        if item in around or "fa4.role" in item.attributes:
            break
        if item.name in LOOPS:
            found = item
    return found


def elected_in_each_warp(operation: Any) -> Any:
    """The block around the branch in which one elected lane of every warp executes `operation`; None where it stands in no such branch."""
    parent = operation.parent
    if parent is None or parent.operation.name != "scf.if":
        return None
    branch = parent.operation
    condition = branch.operands[0].owner
    if getattr(condition, "name", "") != "fa4.elect" or operation.block != branch.regions[0].blocks[0]:
        return None
    return branch.block


def role_chain(operations: list[Any], position: int) -> list[Any]:
    """Neighbouring role regions."""
    chain = [operations[position]]
    for operation in operations[position + 1 :]:
        if "fa4.role" not in operation.attributes:
            break
        chain.append(operation)
    return chain
