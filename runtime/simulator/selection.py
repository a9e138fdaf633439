"""Sets of threads. A contiguous set is a slice, so that numpy reads and writes it without an index array."""

from __future__ import annotations

import itertools
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Row: TypeAlias = npt.NDArray[Any]
Selection: TypeAlias = slice | Ints
"""A slice with start and stop, or sorted thread numbers."""


def grouped(keys: npt.NDArray[Any]) -> list[tuple[int, Ints | slice]]:
    """(key, where it stands) for each distinct key, in rising order; one pass over keys that are sorted already."""
    count = len(keys)
    if not count:
        return []
    steps = keys[1:] - keys[:-1]
    if not steps.any():
        return [(int(keys[0]), slice(0, count))]
    order = None
    if (steps < 0).any():
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        steps = keys[1:] - keys[:-1]
    edges = [0, *(np.flatnonzero(steps) + 1).tolist(), count]
    if order is None:
        return [(int(keys[a]), slice(a, b)) for a, b in itertools.pairwise(edges)]
    return [(int(keys[a]), order[a:b]) for a, b in itertools.pairwise(edges)]


def compact(threads: Ints) -> Selection:
    """Sorted thread numbers as a slice where they are contiguous."""
    if len(threads) and threads[-1] - threads[0] + 1 == len(threads):
        first = int(threads[0])
        return slice(first, first + len(threads))
    return threads


def narrow(selection: Selection, mask: npt.NDArray[np.bool_]) -> Selection:
    """The members where `mask` (one entry a member) is true."""
    if isinstance(selection, slice):
        found = np.flatnonzero(mask)
        found += selection.start
        return compact(found)
    return compact(selection[mask])


def size(selection: Selection) -> int:
    """How many threads."""
    return selection.stop - selection.start if isinstance(selection, slice) else len(selection)


def first(selection: Selection) -> int:
    """The lowest thread."""
    return int(selection.start) if isinstance(selection, slice) else int(selection[0])


def union(parts: list[Selection]) -> Selection:
    """All members of disjoint sets."""
    if len(parts) == 1:
        return parts[0]
    arrays = [np.arange(part.start, part.stop) if isinstance(part, slice) else part for part in parts]
    return compact(np.sort(np.concatenate(arrays)))
