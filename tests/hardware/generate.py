"""Program i of seed s: which class, and its generator."""

from __future__ import annotations

from collections.abc import Callable

from hardware.arithmetic import arithmetic
from hardware.clusters import clusters
from hardware.instructions import FAMILIES
from hardware.matrices import real_products, warp_matrices, warpgroup_matrices
from hardware.memory import accesses, atomics, barriers, copies, mbarriers
from hardware.program import Program
from hardware.tensors import tensors
from hardware.warps import collectives, control

Generator = Callable[[str, int], Program]


def _arithmetic(family: str) -> Generator:
    return lambda name, seed: arithmetic(name, family, seed)


CLASSES: dict[str, tuple[int, Generator]] = {
    "integer": (16, _arithmetic("integer")),
    "f32": (10, _arithmetic("f32")),
    "f64": (5, _arithmetic("f64")),
    "half": (10, _arithmetic("half")),
    "cvt": (14, _arithmetic("cvt")),
    "compare": (10, _arithmetic("compare")),
    "warp": (7, collectives),
    "control": (6, control),
    "memory": (5, accesses),
    "atomic": (3, atomics),
    "barrier": (3, barriers),
    "mbarrier": (2, mbarriers),
    "copy": (3, copies),
    "tensor": (4, tensors),
    "mma": (3, warp_matrices),
    "mma-real": (1, real_products),
    "wgmma": (2, warpgroup_matrices),
    "cluster": (3, clusters),
}
"""Each class with its share of the programs and its generator."""
assert set(FAMILIES) <= set(CLASSES)
_SCHEDULE = [kind for kind, (share, _) in CLASSES.items() for _ in range(share)]


def generate(seed: int, index: int) -> Program:
    """Program `index` of `seed`; always the same one."""
    # a step that has no factor in common with the number of entries mixes the classes
    kind = _SCHEDULE[index * 41 % len(_SCHEDULE)]
    return generate_kind(kind, seed, index)


def generate_kind(kind: str, seed: int, index: int) -> Program:
    """The program of a class by itself."""
    return CLASSES[kind][1](f"p{index}", seed << 32 | index)
