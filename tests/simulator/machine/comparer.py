"""Compares simulated outputs with those of real hardware, as a case's check.json says."""

from __future__ import annotations

from typing import Any

import numpy as np

VIEWS = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "uint32": np.uint32,
    "int32": np.int32,
    "uint64": np.uint64,
    "uint16": np.uint16,
    "uint8": np.uint8,
}


def as_view(array: np.ndarray, view: str) -> np.ndarray:
    """`array`'s bytes under another element type."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if view == "bfloat16":
        return (flat.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if view in ("float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes

        return flat.view(getattr(ml_dtypes, view)).astype(np.float32)
    return flat.view(VIEWS[view])


def _bits(got: np.ndarray, expected: np.ndarray, nan_as: str | None) -> np.ndarray:
    """Which bytes differ; with `nan_as` any NaN equals any NaN."""
    a, b = (np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (got, expected))
    wrong = a != b
    if nan_as:
        both = np.isnan(as_view(got, nan_as)) & np.isnan(as_view(expected, nan_as))
        wrong &= ~np.repeat(both, len(wrong) // len(both))
    return wrong


def _close(got: np.ndarray, expected: np.ndarray, view: str, rtol: float, atol: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        a, b = as_view(got, view).astype(np.float64), as_view(expected, view).astype(np.float64)
        good = (np.isnan(a) & np.isnan(b)) | (a == b) | (np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= atol + rtol * np.abs(b)))
    return ~good


def _part(got: np.ndarray, expected: np.ndarray, check: dict[str, Any], name: str) -> list[str]:
    rows = check.get("rows")
    names = [row if isinstance(row, str) else row["name"] for row in rows] if rows else []
    problems: list[str] = []
    parts = [(name, got, expected, check)]
    if rows:
        a, b = got.reshape(len(rows), -1), expected.reshape(len(rows), -1)
        nan_rows = check.get("nan_rows", {})
        parts = []
        for index, row in enumerate(rows):
            own = dict(check)
            if isinstance(row, dict):
                own.update({key: value for key, value in row.items() if key != "name"})
            label = names[index]
            if label in nan_rows or str(index) in nan_rows:
                own["nan_as"] = nan_rows.get(label, nan_rows.get(str(index)))
            parts.append((f"{name}[{label}]", a[index], b[index], own))
    for label, a, b, own in parts:
        if own["compare"] == "bits":
            wrong = _bits(a, b, own.get("nan_as"))
            width = a.dtype.itemsize
        else:
            wrong = _close(a, b, own["view"], own["rtol"], own["atol"])
            width = 1
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0]) // width
            flat_a, flat_b = a.reshape(-1), b.reshape(-1)
            shown = f"{flat_a[min(at, len(flat_a) - 1)]} instead of {flat_b[min(at, len(flat_b) - 1)]}"
            problems.append(f"{label}: {int(wrong.sum())} of {len(wrong)} differ, first at {at}: {shown}")
    return problems


def compare(got: np.ndarray, expected: np.ndarray, check: dict[str, Any], name: str) -> list[str]:
    """What differs, in words; empty where the output passes."""
    if got.nbytes != expected.nbytes:
        return [f"{name}: {got.nbytes} bytes instead of {expected.nbytes}"]
    got = got.reshape(-1).view(expected.dtype)
    expected = expected.reshape(-1)
    if check["compare"] == "ranges":
        problems: list[str] = []
        for start, end, inner in check["ranges"]:
            problems += _part(got[start:end], expected[start:end], inner, f"{name}[{start}:{end}]")
        return problems
    return _part(got, expected, check, name)
