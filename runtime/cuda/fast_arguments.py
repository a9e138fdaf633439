"""A Python plan's view of each argument (`native_plan` has the native one's): source text that compares it with the signature it was checked under and binds the value to pack.

A step is, for argument `aN`, conditions that must be false, for else it is not what was checked, and lines that leave `vN` (or say MISS, likewise); the
launch then checks it in full, which says what is wrong. What only depends on the value to pack (its range, an address' alignment and GPU: no two GPUs share an address) stands
apart, as conditions that must be false: they are looked at when a value is not the last launch's (`lN`). The text is built from parameter kinds and numbers
alone; everything else it needs it finds by name in `names`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.arguments import check_argument, check_scalar, scalar_bits
from fa4dsl.runtime.arguments_arrays import ArrayView, has_cuda_interface
from fa4dsl.runtime.cuda.tensor_map import encode, encode_at
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.tensor_map import TensorMap, from_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.manifest import Parameter, TensorMapTemplate

MAPS_KEPT = 1024
FLOAT_BOUNDS = {"f32": "3.4e38", "f64": "1.79e308"}
"""A little below the types' greatest values; what lies between takes the full check."""
INFINITIES = (inf, -inf)


@dataclass
class Step:
    """One argument's conditions on what stays, its lines, the conditions on a new value, and the names they use."""

    checks: list[str]
    lines: list[str]
    names: dict[str, Any] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    kinds_checked: bool = False
    """The checks say which types may stand here; else the sample's alone may."""


def step(number: int, parameter: Parameter, sample: Any, ordinal: int) -> Step:
    """The step for arguments of the sample's type on GPU `ordinal`."""
    a, v, kind = f"a{number}", f"v{number}", f"kind{number}"
    torch = sys.modules.get("torch")
    made = _scalar(a, v, parameter, sample) if parameter.kind == "scalar" else None
    if parameter.kind == "pointer" and not parameter.used:
        made = Step([], [f"{v} = 0"])
    if made is None and parameter.kind == "pointer":
        made = _array_pointer(number, parameter, sample, ordinal)
    if made is None and isinstance(sample, TensorMap):
        made = _ready_map(number, parameter, ordinal)
    if made is None and parameter.tensor_map is not None and torch is not None and isinstance(sample, torch.Tensor):
        made = _torch_map(number, parameter, parameter.tensor_map, ordinal)
    if made is None:
        made = Step([], [f"{v} = extract{number}({a})", f"if {v} is None: MISS"])
        made.names[f"extract{number}"] = extractor(parameter, sample, ordinal)
    if not made.kinds_checked:
        made.names[kind] = type(sample)
        made.checks.insert(0, f"type({a}) is not {kind}")
    return made


def _scalar(a: str, v: str, parameter: Parameter, sample: Any) -> Step | None:
    """Python's and numpy's numbers, where a comparison tells whether the value fits."""
    dtype, kind = DTYPES[parameter.dtype], type(sample)
    if dtype.kind in ("signed", "unsigned") and (kind is int or isinstance(sample, np.integer)):
        low, high = dtype.limits
        return Step([], [f"{v} = {a}" if kind is int else f"{v} = int({a})"], refusals=[f"not {low} <= {v} <= {high}"])
    if dtype.kind == "bool" and kind is bool:
        return Step([], [f"{v} = {a}"])
    if dtype.name not in FLOAT_BOUNDS or not (kind in (int, float) or isinstance(sample, np.floating)):
        return None
    bound = FLOAT_BOUNDS[dtype.name]
    refusals = [f"not (-{bound} < {v} < {bound} or {v} != {v} or {v} in infinities)"]
    if kind in (int, float):
        # Either may stand for the other from call to call.
        made = Step([f"type({a}) is not {kind.__name__} and type({a}) is not {'int' if kind is float else 'float'}"], [f"{v} = {a}"])
        made.kinds_checked = True
    else:
        made = Step([], [f"{v} = float({a})"])
    made.names["infinities"], made.refusals = INFINITIES, refusals
    return made


def _array_pointer(number: int, parameter: Parameter, sample: Any, ordinal: int) -> Step | None:
    """torch and cupy arrays tell all that matters through a few attributes."""
    a, v, dtype = f"a{number}", f"v{number}", f"dtype{number}"
    mask = (parameter.alignment or DTYPES[parameter.dtype].size) - 1
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(sample, torch.Tensor):
        # get_device is -1 for a CPU tensor.
        other_type, elsewhere = f"{a}.dtype is not {dtype}", f"{a}.get_device() != {ordinal}"
        dense, lines = f"{a}.is_contiguous()", [f"{v} = {a}.data_ptr()"]
    elif cupy is not None and hasattr(cupy, "ndarray") and isinstance(sample, cupy.ndarray):
        # Types are compared by value only where they are not the same object, as they mostly are.
        other_type, elsewhere = f"{a}.dtype is not {dtype} and {a}.dtype != {dtype}", f"d{number}.device_id != {ordinal}"
        # The array's own field, where this version shows it, without the object around it that `flags` makes.
        dense = f"{a}._c_contiguous" if isinstance(getattr(sample, "_c_contiguous", None), bool) else f"{a}.flags.c_contiguous"
        lines = [f"d{number} = {a}.data", f"{v} = d{number}.ptr"]
    else:
        return None
    checks = [other_type, f"not {dense}"] if parameter.contiguous else [other_type]
    misplaced = f"({v} & {mask} or {elsewhere})" if mask else elsewhere
    return Step(checks, lines, {dtype: sample.dtype}, [f"{v} != l{number} and {misplaced}"])


def lies_on(view: ArrayView, ordinal: int) -> bool:
    """Whether an array is in this GPU's memory."""
    return view.place == "cuda" and view.device == ordinal


_map_keys: dict[tuple[int, TensorMapTemplate | None, str], object] = {}


def map_key(parameter: Parameter, ordinal: int) -> object:
    """A map that was checked against this parameter's template and encoded for this GPU carries its bytes under a key that says so."""
    return _map_keys.setdefault((ordinal, parameter.tensor_map, parameter.dtype), object())


def ready_bytes(parameter: Parameter, ordinal: int) -> Callable[[TensorMap], bytes | None]:
    """The bytes of a map that does not carry them yet; None where it lies elsewhere."""
    key = map_key(parameter, ordinal)

    def first(value: TensorMap) -> bytes | None:
        check_argument(parameter, value)
        if not lies_on(value.array, ordinal):
            return None
        known = value.encoded[key] = encode(value, ordinal, parameter.name)
        return known

    return first


def _ready_map(number: int, parameter: Parameter, ordinal: int) -> Step:
    a, v = f"a{number}", f"v{number}"
    lines = [
        f"try: {v} = {a}.encoded[key{number}]",
        "except KeyError:",
        f"    {v} = first{number}({a})",
        f"    if {v} is None: MISS",
    ]
    return Step([], lines, {f"key{number}": map_key(parameter, ordinal), f"first{number}": ready_bytes(parameter, ordinal)})


def extractor(parameter: Parameter, sample: Any, ordinal: int) -> Callable[[Any], Any]:
    """A function for the rest: the value to pack, or None where the argument lies elsewhere."""
    if parameter.kind == "scalar":
        return lambda value: scalar_bits(parameter.dtype, check_scalar(parameter, value))[1]
    if parameter.kind == "pointer" and has_cuda_interface(sample):
        return _interface_pointer(parameter, sample, ordinal)

    def extract(value: Any) -> Any:
        checked = check_argument(parameter, value)
        view = checked.array if isinstance(checked, TensorMap) else checked
        if not isinstance(view, ArrayView) or not lies_on(view, ordinal):
            return None
        return packed(parameter, checked, ordinal)

    return extract


def _interface_pointer(parameter: Parameter, sample: Any, ordinal: int) -> Callable[[Any], int | None]:
    """Arrays that only have `__cuda_array_interface__` (numba's). It does not name the GPU, and asking the driver takes longer than a launch, so
    addresses that were found there are remembered: they belong to one GPU as long as they are allocated."""
    typestr = sample.__cuda_array_interface__["typestr"]
    mask = (parameter.alignment or DTYPES[parameter.dtype].size) - 1
    seen: set[int] = set()

    def pointer(value: Any) -> int | None:
        interface = value.__cuda_array_interface__
        address: int = interface["data"][0]
        if address in seen and interface["typestr"] == typestr and interface.get("strides") is None and not address & mask:
            return address
        view = check_argument(parameter, value)
        if not isinstance(view, ArrayView) or not lies_on(view, ordinal):
            return None
        if len(seen) >= MAPS_KEPT:
            seen.clear()
        seen.add(view.address)
        return view.address

    return pointer


def map_over(parameter: Parameter, template: TensorMapTemplate, ordinal: int) -> Callable[[Any], bytes | None]:
    """The bytes of the template's map over a torch tensor or cupy array; None where it lies elsewhere."""

    def encoded(array: Any) -> bytes | None:
        made = from_template(template, array, parameter.name)
        if not lies_on(made.array, ordinal):
            return None
        return encode_at(made.description, made.address, ordinal, parameter.name)

    return encoded


CachedMap = tuple[int, Any, Any, Any, bytes | None]
"""(address, shape, strides or None where it is dense, type, the map or None)."""


def cached_map(parameter: Parameter, template: TensorMapTemplate, ordinal: int) -> Callable[[Any], CachedMap | None]:
    """Maps over torch tensors by what they depend on; None for a tensor that lies elsewhere."""
    known: dict[tuple[Any, ...], CachedMap] = {}
    encoded = map_over(parameter, template, ordinal)

    def mapped(tensor: Any) -> CachedMap | None:
        if tensor.get_device() != ordinal:
            return None
        key = (tensor.data_ptr(), tensor.shape, None if tensor.is_contiguous() else tensor.stride(), tensor.dtype)
        found = known.get(key)
        if found is None:
            if len(known) >= MAPS_KEPT:
                known.clear()
            found = known[key] = (*key, encoded(tensor))
        return found

    return mapped


def _torch_map(number: int, parameter: Parameter, template: TensorMapTemplate, ordinal: int) -> Step:
    """Maps over tensors given at launch: described and encoded once for each address, shape, strides and type; the last tensor's at hand.

    Dense tensors of one shape may report different strides only where a dimension has one element, which no map tells apart.
    """
    mapped = cached_map(parameter, template, ordinal)
    a = f"a{number}"
    lines = [
        f"address, shape, strides, dtype, v{number} = last{number}[0]",
        f"if {a}.data_ptr() != address or {a}.shape != shape or {a}.dtype is not dtype or"
        f" (not {a}.is_contiguous() if strides is None else {a}.stride() != strides):",
        f"    found = mapped{number}({a})",
        "    if found is None: MISS",
        f"    last{number}[0] = found",
        f"    v{number} = found[4]",
    ]
    return Step([], lines, {f"last{number}": [(None,) * 5], f"mapped{number}": mapped})


def packed(parameter: Parameter, value: Any, ordinal: int) -> Any:
    """The packed form of a checked argument (`check_arguments`)."""
    if isinstance(value, TensorMap):
        return encode(value, ordinal, parameter.name)
    if isinstance(value, ArrayView):
        return value.address
    return scalar_bits(parameter.dtype, value)[1]


def on_gpu(parameter: Parameter, value: Any, ordinal: int) -> None:
    """The memory behind a checked argument must lie on this GPU. Raises R043, R051."""
    view = value.array if isinstance(value, TensorMap) else value
    if not isinstance(view, ArrayView) or view.elements == 0:
        return
    if view.place == "cpu":
        fail("R051", name=parameter.name, device=ordinal)
    if view.device != ordinal:
        fail("R043", name=parameter.name, place=f"cuda:{view.device}", wanted=f"cuda:{ordinal}")
