"""The prepared path's view of one argument: a comparison with the signature it was checked under, and the value to pack.

An extractor returns the packed form of an argument of the type it was made for, or raises `Replan` where the argument is no longer what was checked;
the launch then checks it in full, which says what is wrong.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.arguments import check_argument, check_scalar, scalar_bits
from fa4dsl.runtime.arguments_arrays import ArrayView
from fa4dsl.runtime.cuda.tensor_map import encode, encode_at
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.tensor_map import TensorMap, check_template, from_template

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.manifest import Parameter, TensorMapTemplate

MAPS_KEPT = 1024


class Replan(Exception):
    """The argument differs from what its extractor was made for."""


def extractor(parameter: Parameter, sample: Any, ordinal: int) -> Callable[[Any], Any]:
    """The extractor for arguments of the sample's type, on GPU `ordinal`."""
    if parameter.kind == "scalar":
        return _scalar(parameter, type(sample))
    torch = sys.modules.get("torch")
    is_torch = torch is not None and isinstance(sample, torch.Tensor)
    if parameter.kind == "pointer":
        return _torch_pointer(parameter, sample.dtype, ordinal) if is_torch else _any_pointer(parameter, ordinal)
    template = parameter.tensor_map
    if isinstance(sample, TensorMap):
        return _ready_map(parameter, template, ordinal)
    if template is not None and is_torch:
        return _torch_map(parameter, template, ordinal)
    return _any_map(parameter, ordinal)


def _scalar(parameter: Parameter, kind: type) -> Callable[[Any], Any]:
    dtype = DTYPES[parameter.dtype]
    if kind is int and dtype.kind in ("signed", "unsigned"):
        low, high = dtype.limits

        def integer(value: int) -> int:
            if low <= value <= high:
                return value
            raise Replan

        return integer
    if kind is float and dtype.name == "f64":
        return float

    def general(value: Any) -> Any:
        return scalar_bits(parameter.dtype, check_scalar(parameter, value))[1]

    if kind is float and dtype.name == "f32":
        limit = 3.4e38

        def single(value: float) -> Any:
            # The few values between here and the type's limit, infinities and NaN take the full check.
            return value if -limit < value < limit else general(value)

        return single
    return general


def _torch_pointer(parameter: Parameter, dtype: Any, ordinal: int) -> Callable[[Any], int]:
    mask = (parameter.alignment or DTYPES[parameter.dtype].size) - 1
    contiguous = parameter.contiguous

    def pointer(tensor: Any) -> int:
        # get_device is -1 for a CPU tensor.
        if tensor.dtype is dtype and tensor.get_device() == ordinal and (tensor.is_contiguous() or not contiguous):
            address: int = tensor.data_ptr()
            if not address & mask:
                return address
        raise Replan

    return pointer


def _any_pointer(parameter: Parameter, ordinal: int) -> Callable[[Any], int]:
    def pointer(value: Any) -> int:
        view = check_argument(parameter, value)
        if not isinstance(view, ArrayView) or view.place != "cuda" or view.device != ordinal:
            raise Replan
        return view.address

    return pointer


def _ready_map(parameter: Parameter, template: TensorMapTemplate | None, ordinal: int) -> Callable[[Any], bytes]:
    checked: set[int] = set()
    kept: list[TensorMap] = []

    def ready(value: TensorMap) -> bytes:
        known = value.encoded.get(ordinal)
        if known is not None and id(value) in checked:
            return known
        if template is not None:
            check_template(template, value, parameter.name)
        if value.array.place != "cuda" or value.array.device != ordinal:
            raise Replan
        if len(kept) >= MAPS_KEPT:
            kept.clear()
            checked.clear()
        # The map is kept so that its id stays its own.
        kept.append(value)
        checked.add(id(value))
        return known or encode(value, ordinal, parameter.name)

    return ready


def _torch_map(parameter: Parameter, template: TensorMapTemplate, ordinal: int) -> Callable[[Any], bytes]:
    """Maps over tensors given at launch: described and encoded once for each address, shape, strides and type."""
    known: dict[tuple[Any, ...], bytes] = {}

    def mapped(tensor: Any) -> bytes:
        if tensor.get_device() != ordinal:
            raise Replan
        key = (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)
        found = known.get(key)
        if found is None:
            made = from_template(template, tensor, parameter.name)
            if len(known) >= MAPS_KEPT:
                known.clear()
            found = known[key] = encode_at(made.description, made.address, ordinal, parameter.name)
        return found

    return mapped


def _any_map(parameter: Parameter, ordinal: int) -> Callable[[Any], bytes]:
    def mapped(value: Any) -> bytes:
        made = check_argument(parameter, value)
        if not isinstance(made, TensorMap) or made.array.place != "cuda" or made.array.device != ordinal:
            raise Replan
        return encode(made, ordinal, parameter.name)

    return mapped


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
