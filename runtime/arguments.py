"""A launch's arguments against the kernel's parameters: each one checked, each fault named with the parameter it belongs to."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fa4dsl.runtime.arguments_arrays import ArrayView, is_array, view_array
from fa4dsl.runtime.diagnostics import Fa4dslError, fail
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.tensor_map import TensorMap, from_template
from fa4dsl.runtime.tensor_map_rules import warn_of_padding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.manifest import Manifest, Parameter

Checked = ArrayView | TensorMap | int | float | bool
"""A checked argument: what a pointer, a tensor-map and a scalar parameter take."""

FLOAT_LIMITS = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "e4m3": 448.0, "e5m2": 57344.0}
"""Greatest finite values, for messages; whether a value fits is asked of the rounding itself."""


def in_order(manifest: Manifest, arguments: Sequence[Any] | Mapping[str, Any], named: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
    """The arguments in the parameters' order: by position, by name, or positions first and names for the rest. Raises R040."""
    names = [parameter.name for parameter in manifest.given_parameters]
    if isinstance(arguments, Mapping):
        named, arguments = {**arguments, **(named or {})}, ()
    problem = ""
    if len(arguments) > len(names):
        problem = f"got {len(arguments)}"
    given: dict[str, Any] = dict(zip(names, arguments, strict=False))
    for name, value in (named or {}).items():
        if name not in names:
            problem = problem or f"got one named {name!r}"
        elif name in given:
            problem = problem or f"got {name} twice"
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing and not problem:
        problem = f"got none for {', '.join(missing)}"
    if problem:
        fail("R040", manifest.place, kernel=manifest.name, expected=len(names), names=", ".join(names), problem=problem)
    return tuple(given[name] for name in names)


def check_arguments(manifest: Manifest, arguments: Sequence[Any], stream: int | None = None) -> list[Checked]:
    """Every argument checked against its parameter. `stream`: the handle that DLPack exporters order their work before.

    Raises R020 to R036 for tensor maps and R041 to R049 for the rest; warns of R037.
    """
    try:
        checked = [check_argument(parameter, value, stream) for parameter, value in zip(manifest.given_parameters, arguments, strict=True)]
    except Fa4dslError as error:
        raise at_kernel(manifest, error) from None
    for parameter, value in zip(manifest.given_parameters, checked, strict=True):
        if isinstance(value, TensorMap) and parameter.access != "in":
            warn_of_padding(value.description, parameter.name, manifest.place)
    return checked


def at_kernel(manifest: Manifest, error: Fa4dslError) -> Fa4dslError:
    """The error with the place of the kernel, where it is about the kernel or one of its parameters and shows no place of its own."""
    place = manifest.place
    if place is None:
        return error
    found = [
        replace(item, frames=(place,)) if not item.frames and {"name", "kernel"} & item.fields.keys() else item
        for item in error.diagnostics
    ]
    return Fa4dslError(*found)


def check_argument(parameter: Parameter, value: Any, stream: int | None = None) -> Checked:
    """One argument against its parameter."""
    if parameter.kind == "scalar":
        return check_scalar(parameter, value)
    if parameter.kind == "pointer":
        return check_pointer(parameter, value, stream)
    return check_map(parameter, value, stream)


def check_pointer(parameter: Parameter, value: Any, stream: int | None = None) -> ArrayView:
    """Type, contiguity and alignment. Raises R041, R042, R044, R045."""
    view = view_array(value, parameter.name, stream)
    if view.dtype != parameter.dtype:
        fail("R042", name=parameter.name, expected=parameter.dtype, got=view.dtype)
    if parameter.contiguous and not view.contiguous:
        fail("R044", name=parameter.name, shape=list(view.shape), strides=list(view.strides_bytes))
    alignment = parameter.alignment or view.itemsize
    if view.address % alignment:
        fail("R045", name=parameter.name, address=f"{view.address:#x}", alignment=alignment)
    return view


def check_map(parameter: Parameter, value: Any, stream: int | None = None) -> TensorMap:
    """A ready map, or an array over which the parameter's template makes one. Raises R020 to R036, R041, R042."""
    if parameter.tensor_map is not None:
        array = value if isinstance(value, TensorMap) else view_array(value, parameter.name, stream)
        return from_template(parameter.tensor_map, array, parameter.name)
    if not isinstance(value, TensorMap):
        fail(
            "R041", name=parameter.name, type=f"{type(value).__name__} (this parameter takes a TensorMap: runtime.tiled or runtime.ragged)"
        )
    if value.description.dtype != parameter.dtype:
        fail("R034", name=parameter.name, what="dtype", expected=parameter.dtype, got=value.description.dtype)
    return value


def check_scalar(parameter: Parameter, value: Any) -> int | float | bool:
    """Type and range. Raises R046, R047."""
    dtype = DTYPES[parameter.dtype]
    if dtype.kind == "bool":
        if not isinstance(value, (bool, np.bool_)):
            fail("R046", name=parameter.name, expected="a bool", dtype=dtype.name, type=type(value).__name__)
        return bool(value)
    if isinstance(value, (bool, np.bool_)) or (is_array(value) and not isinstance(value, np.generic)):
        expected = "a number" if dtype.kind == "float" else "an integer"
        fail("R046", name=parameter.name, expected=expected, dtype=dtype.name, type=type(value).__name__)
    if dtype.kind == "float":
        return _check_float(parameter, value)
    if not isinstance(value, (int, np.integer)):
        fail("R046", name=parameter.name, expected="an integer", dtype=dtype.name, type=type(value).__name__)
    low, high = dtype.limits
    if not low <= value <= high:
        fail("R047", name=parameter.name, value=int(value), dtype=dtype.name, low=low, high=high)
    return int(value)


def _check_float(parameter: Parameter, value: Any) -> float:
    if not isinstance(value, (int, float, np.number)) and not hasattr(type(value), "__float__"):
        fail("R046", name=parameter.name, expected="a number", dtype=parameter.dtype, type=type(value).__name__)
    try:
        number = float(value)
    except OverflowError:
        fail("R047", name=parameter.name, value="the integer", dtype=parameter.dtype, low="-1.8e308", high="1.8e308")
    except (TypeError, ValueError):
        fail("R046", name=parameter.name, expected="a number", dtype=parameter.dtype, type=type(value).__name__)
    dtype = DTYPES[parameter.dtype]
    with np.errstate(all="ignore"):
        rounded = float(np.asarray(number).astype(dtype.numpy))
    if isfinite(number) and not isfinite(rounded):
        limit = FLOAT_LIMITS[dtype.name]
        fail("R047", name=parameter.name, value=number, dtype=dtype.name, low=-limit, high=limit)
    return number


def scalar_bits(dtype_name: str, value: Any) -> tuple[str, Any]:
    """The `struct` code of a checked scalar and the value to pack under it: bf16 and fp8 are rounded to their bits, to nearest even."""
    dtype = DTYPES[dtype_name]
    if dtype.code:
        return dtype.code, value
    return ("H" if dtype.size == 2 else "B"), int(np.asarray(value, dtype.numpy).view(f"u{dtype.size}"))


def pack_scalar(dtype_name: str, value: Any) -> bytes:
    """A checked scalar as the bytes a kernel reads, little-endian."""
    code, bits = scalar_bits(dtype_name, value)
    return struct.pack("<" + code, bits)


def array_of(value: Checked) -> ArrayView | None:
    """The memory behind an argument; None for a scalar."""
    if isinstance(value, TensorMap):
        return value.array
    return value if isinstance(value, ArrayView) else None


def place_of(manifest: Manifest, values: Sequence[Checked]) -> tuple[Literal["cpu", "cuda"], int] | None:
    """Where the arrays lie: on one GPU, or on the CPU; None where there is no array. Arrays without elements may lie anywhere, and count where there are
    no others. Raises R043 for arrays on different devices."""
    found: tuple[Literal["cpu", "cuda"], int] | None = None
    empty: tuple[Literal["cpu", "cuda"], int] | None = None
    first = ""
    for parameter, value in zip(manifest.given_parameters, values, strict=True):
        view = array_of(value)
        if view is None:
            continue
        place = (view.place, view.device)
        if view.elements == 0 and view.address == 0:
            empty = empty or place
        elif found is None:
            found, first = place, parameter.name
        elif place != found:
            wanted = f"{_place_name(found)}, where {first} lies"
            fail("R043", manifest.place, name=parameter.name, place=_place_name(place), wanted=wanted)
    return found or empty


def _place_name(place: tuple[str, int]) -> str:
    return f"cuda:{place[1]}" if place[0] == "cuda" else "the CPU"


def describe_argument(parameter: Parameter, value: Any) -> str:
    """One argument for a message: `out=bf16[4, 64] on cuda:0`, `n=5`."""
    if isinstance(value, TensorMap):
        return f"{parameter.name}=map of {value.array.describe()}"
    return f"{parameter.name}={value.describe() if isinstance(value, ArrayView) else value}"
