"""What the abstract execution knows about a value: a number, a number for each lane, or a sum of unknowns.

`Sum` is linear in its atoms. An atom stands for something only the run knows (a parameter, a load, a block index); equal
computations give the same atom, so that two roles which loop to the same unknown bound are seen to loop equally often.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy
from numpy.typing import NDArray

Terms = tuple[tuple[int, int], ...]
"""(atom, coefficient), ordered by atom."""


@dataclass(frozen=True)
class Sum:
    """constant + sum of coefficient * atom. `varying`: it may differ between the threads of the cluster."""

    constant: Any
    terms: Terms
    varying: bool = False


@dataclass(frozen=True)
class Object:
    """An array or a group of barriers in shared memory: the allocation's name."""

    name: str


@dataclass(frozen=True, eq=False)
class Address:
    """A pointer into shared memory: byte `offset` of `array`, in the CTA of `rank` (None: the own one)."""

    array: str
    offset: Any
    rank: Any = None


@dataclass(frozen=True, eq=False)
class Descriptor:
    """A wgmma descriptor of byte `offset` of `array`."""

    array: str
    offset: Any
    node: Any


@dataclass(frozen=True, eq=False)
class Test:
    """The result of mbarrier_test, or its negation."""

    node: Any
    barrier: Any
    index: Any
    parity: Any
    negated: bool = False


class Unknown:
    """Nothing is known, not even which unknown it is."""

    varying = True


UNKNOWN = Unknown()


def is_number(value: Any) -> bool:
    """Known at compile time: one integer, or one for each lane."""
    return isinstance(value, int | numpy.ndarray)


def uniform(value: Any) -> int | None:
    """The one integer that a value is, or None."""
    if isinstance(value, int):
        return value
    if isinstance(value, numpy.ndarray) and len(value) and bool((value == value[0]).all()):
        return int(value[0])
    return None


def simplify(value: Any) -> Any:
    """An array of equal numbers as one number."""
    number = uniform(value) if isinstance(value, numpy.ndarray) else None
    return value if number is None else number


def varies(value: Any) -> bool:
    """Whether a value may differ between threads."""
    if isinstance(value, int | Object):
        return False
    if isinstance(value, numpy.ndarray):
        return uniform(value) is None
    if isinstance(value, Sum):
        return value.varying or varies(value.constant)
    return True


def key_of(value: Any) -> Any:
    """A hashable stand-in: equal keys, equal values."""
    if isinstance(value, numpy.ndarray):
        return ("lanes", value.tobytes())
    if isinstance(value, Sum):
        return ("sum", key_of(value.constant), value.terms)
    if isinstance(value, Address):
        return ("address", value.array, key_of(value.offset), key_of(value.rank))
    if isinstance(value, Descriptor | Test | Unknown):
        return ("one", id(value))
    return value


class Atoms:
    """Hands out atoms: one for each key."""

    def __init__(self) -> None:
        self._known: dict[Any, Sum] = {}
        self._fresh = 0

    def named(self, key: Any, varying: bool) -> Sum:
        made = self._known.get(key)
        if made is None:
            made = self._known[key] = Sum(0, ((len(self._known), 1),), varying)
        return made

    def fresh(self, varying: bool) -> Sum:
        self._fresh += 1
        return self.named(("fresh", self._fresh), varying)


def normalised(terms: Terms) -> tuple[Terms, int]:
    """(terms divided by their signed common divisor, that divisor): n, 4n and -n are one quantity."""
    divisor = 0
    for _, coefficient in terms:
        divisor = gcd(divisor, coefficient)
    if terms[0][1] < 0:
        divisor = -divisor
    return tuple((atom, coefficient // divisor) for atom, coefficient in terms), divisor


def add(left: Any, right: Any, sign: int = 1) -> Any:
    """left + sign * right, for numbers and sums."""
    if is_number(left) and is_number(right):
        return left + sign * right
    a = left if isinstance(left, Sum) else Sum(left, ())
    b = right if isinstance(right, Sum) else Sum(right, ())
    coefficients = dict(a.terms)
    for atom, coefficient in b.terms:
        coefficients[atom] = coefficients.get(atom, 0) + sign * coefficient
    terms = tuple(sorted((atom, coefficient) for atom, coefficient in coefficients.items() if coefficient))
    constant = simplify(a.constant + sign * b.constant)
    return Sum(constant, terms, a.varying or b.varying) if terms else constant


def scale(value: Any, factor: int) -> Any:
    """value * factor."""
    if is_number(value):
        return value * factor
    if factor == 0:
        return 0
    return Sum(value.constant * factor, tuple((atom, coefficient * factor) for atom, coefficient in value.terms), value.varying)


def divide(value: Sum, divisor: int) -> tuple[Any, Any] | None:
    """(quotient, remainder) of a sum whose unknown part is a multiple of `divisor`; None where it is not."""
    if divisor <= 0 or any(coefficient % divisor for _, coefficient in value.terms):
        return None
    terms = tuple((atom, coefficient // divisor) for atom, coefficient in value.terms)
    return Sum(simplify(value.constant // divisor), terms, value.varying), simplify(value.constant % divisor)


_COMPARE = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">=", 6: "<", 7: "<=", 8: ">", 9: ">="}


def comparison(predicate: int) -> str:
    """arith.cmpi's predicate as a sign; unsigned ones are read as signed (indices and counts are not negative)."""
    return _COMPARE[predicate]


def compare(sign: str, difference: Any) -> Any:
    """difference <sign> 0, of a number or of one for each lane."""
    result = {
        "==": lambda d: d == 0,
        "!=": lambda d: d != 0,
        "<": lambda d: d < 0,
        "<=": lambda d: d <= 0,
        ">": lambda d: d > 0,
        ">=": lambda d: d >= 0,
    }[sign](difference)
    return result.astype(numpy.int64) if isinstance(result, numpy.ndarray) else int(result)


def arithmetic(name: str, left: Any, right: Any, bits: int) -> Any:
    """An integer operation of numbers; None where it cannot be said (division by zero, large shifts)."""
    if name in ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivui", "ceildivsi"):
        if (isinstance(right, int) and right == 0) or (isinstance(right, numpy.ndarray) and bool((right == 0).any())):
            return None
        quotient = left // right
        if name in ("divsi", "remsi") and not _nonnegative(left, right):
            quotient = _truncated(left, right)
        if name in ("remsi", "remui"):
            return left - quotient * right
        return -(-left // right) if name.startswith("ceil") else quotient
    if name in ("shli", "shrsi", "shrui"):
        if not (isinstance(right, int) and 0 <= right < 63):
            return None
        return left << right if name == "shli" else left >> right
    simple = {
        "muli": lambda a, b: a * b,
        "andi": lambda a, b: a & b,
        "ori": lambda a, b: a | b,
        "xori": lambda a, b: a ^ b,
        "minsi": _minimum,
        "minui": _minimum,
        "maxsi": _maximum,
        "maxui": _maximum,
    }.get(name)
    if simple is None:
        return None
    result = simple(left, right)
    return result & 1 if bits == 1 else result


def _nonnegative(*values: Any) -> bool:
    return all(
        (isinstance(value, int) and value >= 0) or (isinstance(value, numpy.ndarray) and bool((value >= 0).all())) for value in values
    )


def _truncated(left: Any, right: Any) -> Any:
    magnitude: Any = abs(left) // abs(right)
    negative: Any = (numpy.asarray(left) < 0) != (numpy.asarray(right) < 0)
    result: NDArray[numpy.int64] = numpy.where(negative, -magnitude, magnitude)
    return int(result) if result.ndim == 0 else result


def _minimum(a: Any, b: Any) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else numpy.minimum(a, b)


def _maximum(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else numpy.maximum(a, b)
