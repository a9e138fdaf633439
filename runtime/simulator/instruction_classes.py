"""What kind of work an instruction is: the classes that counts and pictures tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.instruction import Instruction

Class = Literal["compute", "global", "shared", "dsmem", "copy", "tensor", "sync", "control"]
CLASSES: tuple[Class, ...] = ("compute", "tensor", "shared", "dsmem", "global", "copy", "sync", "control")
WORDS: dict[Class, str] = {
    "compute": "arithmetic, moves, shuffles",
    "tensor": "tensor core",
    "shared": "shared memory",
    "dsmem": "a peer's shared memory",
    "global": "global memory",
    "copy": "issues an asynchronous copy",
    "sync": "barriers, fences, waits",
    "control": "branches",
}

_CONTROL = frozenset({"bra", "brx", "ret", "exit", "call", "trap", "nanosleep"})
_SYNC = frozenset({"mbarrier", "bar", "barrier", "fence", "membar", "setmaxnreg", "griddepcontrol", "tensormap"})
_ACCESS = frozenset({"ld", "ldu", "st", "atom", "red"})


def classify(site: Instruction) -> Class:
    """The class of an instruction, by its mnemonic alone: an address of no stated space counts as global, a parameter or local variable as computing."""
    name, words = site.name, site.modifiers
    if name in _ACCESS:
        if words[:1] == ("async",):
            return "copy"
        if "shared::cluster" in words:
            return "dsmem"
        if "shared" in words or "shared::cta" in words:
            return "shared"
        return "compute" if any(word.split("::")[0] in ("param", "const", "local") for word in words) else "global"
    if name in ("ldmatrix", "stmatrix"):
        return "shared"
    if name in ("mma", "wgmma"):
        return "sync" if words[:1] in (("fence",), ("commit_group",), ("wait_group",)) else "tensor"
    if name == "cp":
        return "sync" if {"commit_group", "wait_group", "wait_all", "mbarrier"} & set(words) else "copy"
    if name in _CONTROL:
        return "control"
    return "sync" if name in _SYNC else "compute"
