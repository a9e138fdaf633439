"""Arithmetic of PTX instructions on numpy arrays, bit for bit where the ISA defines the bits.

`lookup` decodes a pure register-to-register mnemonic once into a `PureOp`; the machine then calls its ``run`` on wide arrays. What touches memory or
the whole warp lives beside it: `tensor` (TMA boxes), `matrix` (wgmma), `warp_matrix` (mma, ldmatrix), `warp` (shuffles, votes), `atomic`.
"""

from __future__ import annotations

from functools import cache

from fa4dsl.runtime.simulator.numerics import bits, compare, convert, float32, float64, half, integer
from fa4dsl.runtime.simulator.numerics.operation import CONTAINER_DTYPE, Container, Family, PureOp, Words, pack_elements, unpack_elements

__all__ = ["CONTAINER_DTYPE", "Container", "PureOp", "lookup", "pack_elements", "unpack_elements"]


def _collect() -> dict[str, list[Family]]:
    families: dict[str, list[Family]] = {}
    for module in (integer, bits, compare, convert, float32, float64, half):
        for name, family in module.FAMILIES.items():
            families.setdefault(name, []).append(family)
    return families


_FAMILIES = _collect()


_ORDER = (
    *("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "and", "or", "xor", "wide", "pack"),
    *("approx", "full", "rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "oob", "ftz", "NaN", "xorsign", "abs", "sat", "relu", "satfinite", "cc"),
)  # fmt: skip
"""Modifiers in the order in which the ISA writes them; types come behind."""


def _in_order(mnemonic: str) -> str:
    """ptxas takes modifiers in any order, as long as the types keep theirs; the ISA's order is the one known here."""
    name, *words = mnemonic.split(".")
    known = sorted((word for word in words if word in _ORDER), key=_ORDER.index)
    return ".".join([name, *known, *(word for word in words if word not in _ORDER)])


@cache
def lookup(mnemonic: str) -> PureOp | None:
    """The decoded form of a whole dotted mnemonic such as ``"fma.rn.ftz.f32"``; None when it is not a pure instruction of sm_90a known here."""
    for family in _FAMILIES.get(mnemonic.split(".", 1)[0], ()):
        operation = family(Words(mnemonic))
        if operation is not None:
            return operation
    ordered = _in_order(mnemonic)
    return lookup(ordered) if ordered != mnemonic else None
