"""The native plan: what a launch of a known signature costs the host where the package's C part was built (`native/launch.c`).

It takes each argument as `fast_arguments` does in Python: as it was checked under the signature, or not at all. torch tensors (and other arrays whose type
shows DLPack's C exchange table) are looked at through that table, which tells address, type, GPU and extents in one call; the current stream likewise.
A launch then is this call and the driver's, without a Python function between them. Where no C compiler was there at installation, `plan` makes a
Python function instead, which does the same.
"""

from __future__ import annotations

import struct
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.arguments import scalar_bits
from fa4dsl.runtime.cuda.driver import recent
from fa4dsl.runtime.cuda.fast_arguments import cached_map, extractor, map_key, map_over, ready_bytes
from fa4dsl.runtime.cuda.native_part import native
from fa4dsl.runtime.cuda.pack import value_layout
from fa4dsl.runtime.cuda.stream import current_stream, framework_is_plain, handle_of, is_torch
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.tensor_map import TensorMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.bound_launch import BoundLaunch
    from fa4dsl.runtime.cuda.launch import PreparedLaunch
    from fa4dsl.runtime.manifest import Manifest, Parameter


def takes(manifest: Manifest) -> bool:
    """Whether launches of this kernel can have native plans."""
    if native is None or len(manifest.parameters) > native.MOST_PARAMETERS:
        return False
    return struct.calcsize(f"<{value_layout(manifest.parameters)[0]}") <= native.MOST_BYTES


def make_native_plan(prepared: PreparedLaunch, arguments: tuple[Any, ...], missed: Callable[..., Any], token: object) -> BoundLaunch:
    """A launcher for arguments of these types on the prepared launch's GPU; `missed` takes the calls that it does not fit."""
    assert native is not None
    ordinal = prepared.kernel.gpu.ordinal
    parameters = prepared.manifest.parameters
    codes, offsets = value_layout(parameters)
    steps = tuple(
        _step(parameter, value, ordinal) | {"offset": offset}
        for parameter, value, offset in zip(parameters, arguments, offsets, strict=True)
    )
    stream_from, stream_function = _stream(arguments, ordinal)
    return native.Launch(
        f"launch of {prepared.manifest.name}",
        missed,
        token=token,
        prepared=prepared.native(),
        steps=steps,
        size=struct.calcsize(f"<{codes}"),
        stream_from=stream_from,
        device=ordinal,
        stream_function=stream_function,
        stream_of=handle_of,
        failed=prepared.native_failed,
        told=prepared.told.of_packed(),
        recent=recent,
        note=recent.launches.append,
    )


def _step(parameter: Parameter, sample: Any, ordinal: int) -> dict[str, Any]:
    """One argument's step, as `native/values.c` takes it."""
    assert native is not None
    step: dict[str, Any] = {"type": type(sample), "device": ordinal}
    if parameter.kind == "scalar":
        return step | _scalar(parameter, sample, ordinal)
    if parameter.kind == "pointer":
        return step | {"size": 8} | _pointer(parameter, sample, ordinal)
    step["size"] = 128
    if isinstance(sample, TensorMap):
        return step | {"kind": native.READY_MAP, "key": map_key(parameter, ordinal), "function": ready_bytes(parameter, ordinal)}
    if parameter.tensor_map is not None and _lends_view(sample):
        function = map_over(parameter, parameter.tensor_map, ordinal)
        return step | {"kind": native.EXCHANGED_MAP, "sample": sample, "function": function}
    if parameter.tensor_map is not None and is_torch(sample):
        mapped = cached_map(parameter, parameter.tensor_map, ordinal)

        def cached(tensor: Any) -> bytes | None:
            found = mapped(tensor)
            return None if found is None else found[-1]

        return step | {"kind": native.EXTRACTED, "function": cached}
    return step | {"kind": native.EXTRACTED, "function": extractor(parameter, sample, ordinal)}


def _scalar(parameter: Parameter, sample: Any, ordinal: int) -> dict[str, Any]:
    assert native is not None
    dtype, kind = DTYPES[parameter.dtype], type(sample)
    code = scalar_bits(parameter.dtype, 0)[0]
    step: dict[str, Any] = {"size": struct.calcsize(f"<{code}")}
    if dtype.kind in ("signed", "unsigned") and (kind is int or isinstance(sample, np.integer)):
        low, high = dtype.limits
        return step | {"kind": native.INTEGER, "signed": dtype.kind == "signed", "low": int(low), "high": int(high)}
    if dtype.kind == "bool" and kind is bool:
        return step | {"kind": native.BOOLEAN}
    if dtype.name in ("f32", "f64") and (kind in (int, float) or isinstance(sample, np.floating)):
        return step | {"kind": native.FLOATING, "any_number": kind in (int, float)}
    extract, packer = extractor(parameter, sample, ordinal), struct.Struct(f"<{code}")
    return step | {"kind": native.EXTRACTED, "function": lambda value: packer.pack(extract(value))}


def _pointer(parameter: Parameter, sample: Any, ordinal: int) -> dict[str, Any]:
    assert native is not None
    if not parameter.used:
        return {"kind": native.LEFT_ALONE}
    checks = {"contiguous": parameter.contiguous, "alignment": parameter.alignment or DTYPES[parameter.dtype].size}
    cupy = sys.modules.get("cupy")
    if _lends_view(sample):
        return checks | {"kind": native.EXCHANGED_POINTER, "sample": sample}
    if is_torch(sample):
        return checks | {"kind": native.METHOD_POINTER, "dtype": sample.dtype}
    # cupy's own field, where this version shows it.
    of_cupy = cupy is not None and isinstance(sample, getattr(cupy, "ndarray", ()))
    if of_cupy and isinstance(getattr(sample, "_c_contiguous", None), bool):
        return checks | {"kind": native.ATTRIBUTE_POINTER, "dtype": sample.dtype}
    extract = extractor(parameter, sample, ordinal)

    def address(value: Any) -> bytes | None:
        found = extract(value)
        return None if found is None else struct.pack("<Q", found)

    return {"kind": native.EXTRACTED, "function": address}


def _lends_view(sample: Any) -> bool:
    """Whether the array shows itself through the exchange table. Subclasses of torch's tensor inherit it, but may answer otherwise in Python."""
    assert native is not None
    if is_torch(sample):
        torch = sys.modules["torch"]
        nn = getattr(torch, "nn", None)
        if type(sample) not in (torch.Tensor, getattr(nn, "Parameter", None)):
            return False
    return native.lends_view(sample)


def _stream(arguments: tuple[Any, ...], ordinal: int) -> tuple[type | None, Callable[[tuple[Any, ...]], int] | None]:
    """Where the current stream comes from: an array type's exchange table, or a function of the arguments."""
    tensor = next((value for value in arguments if is_torch(value)), None)
    if tensor is not None and _lends_view(tensor):
        return type(tensor), None
    if not framework_is_plain(arguments):
        # Maps and views over one framework's arrays now, another's at the next call.
        return None, lambda given: current_stream(given, ordinal)()
    found = current_stream(arguments, ordinal)
    return None, lambda given: found()
