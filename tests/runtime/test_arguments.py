"""Arguments: arrays through every protocol, scalars by type and range, each fault with its parameter's name."""

from __future__ import annotations

import array
import ctypes
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fa4dsl.runtime import ArrayView, Manifest, tiled
from fa4dsl.runtime.arguments import check_arguments, check_pointer, check_scalar, in_order, pack_scalar, place_of
from fa4dsl.runtime.arguments_arrays import is_array, view_array
from fa4dsl.runtime.arguments_buffers import HostBuffers
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.manifest import Parameter


def error_of(action: Callable[[], object]) -> Fa4dslError:
    with pytest.raises(Fa4dslError) as error:
        action()
    return error.value


class Interface:
    """An array known only by its `__array_interface__`."""

    def __init__(self, **fields: Any) -> None:
        self.data = np.arange(12, dtype=np.float32)
        self.__array_interface__ = {**self.data.__array_interface__, **fields}


class Exporter:
    """An array known only by DLPack."""

    def __init__(self, data: np.ndarray[Any, Any], device: tuple[int, int] = (1, 0)) -> None:
        self.data, self.device = data, device

    def __dlpack__(self, stream: int | None = None) -> Any:
        return self.data.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class Refusing(Exporter):
    def __dlpack__(self, stream: int | None = None) -> Any:
        raise BufferError("the array requires gradients\nmore words")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.uint64, np.int16, np.bool_])
def test_protocols_agree(dtype: Any) -> None:
    data = np.zeros((3, 4, 5), dtype)[:, 1:]
    direct = view_array(data)
    shared = view_array(Exporter(data))
    assert (direct.address, direct.shape, direct.strides_bytes, direct.dtype) == (
        shared.address,
        shared.shape,
        shared.strides_bytes,
        shared.dtype,
    )
    assert direct.address == data.ctypes.data and direct.strides_bytes == data.strides and not direct.contiguous


def test_dlpack_keeps_the_array_alive() -> None:
    view = view_array(Exporter(np.full(1000, 7, np.int32)))
    assert (ctypes.c_int32 * 1000).from_address(view.address)[999] == 7
    assert view_array(Exporter(np.zeros((), np.float32))).elements == 1
    assert view_array(Exporter(np.zeros((4, 0), np.float32))).elements == 0


def test_array_interface() -> None:
    view = view_array(Interface())
    assert view.shape == (12,) and view.strides_bytes == (4,) and view.dtype == "f32" and view.contiguous
    strided = view_array(Interface(shape=(3, 2), strides=(16, 4)))
    assert strided.strides_bytes == (16, 4) and not strided.contiguous
    assert view_array(Interface(shape=(3, 4), strides=None)).strides_bytes == (16, 4)
    assert error_of(lambda: view_array(Interface(typestr=">f4"), "x")).code == "R042"
    assert error_of(lambda: view_array(Interface(typestr="<c8"), "x")).code == "R042"
    assert error_of(lambda: view_array(Interface(mask=1), "x")).code == "R041"
    assert error_of(lambda: view_array(Interface(typestr="nonsense"), "x")).code == "R049"
    assert error_of(lambda: view_array(Interface(data="nowhere"), "x")).code == "R049"


def test_what_is_no_array() -> None:
    for value in (None, 5, "text", [1.0], object(), array.array("f", [1.0])):
        error = error_of(lambda value=value: view_array(value, "weights"))
        assert error.code == "R041" and "weights: expected an array, got " + type(value).__name__ in str(error)
        assert not is_array(value)
    refusal = error_of(lambda: view_array(Refusing(np.zeros(3)), "x"))
    assert refusal.code == "R049" and "requires gradients" in str(refusal) and "more words" not in str(refusal)
    assert error_of(lambda: view_array(Exporter(np.zeros(3), (8, 0)), "x")).code == "R043"
    assert error_of(lambda: view_array(np.zeros(3, ">f4"), "x")).code == "R042"
    assert error_of(lambda: view_array(np.zeros(3, "U3"), "x")).code == "R042"


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), max_size=4))
def test_spans(dimensions: list[tuple[int, int]]) -> None:
    shape, strides = tuple(size for size, _ in dimensions), tuple(4 * step for _, step in dimensions)
    low, high = ArrayView(4096, shape, strides, "f32").span()
    touched = [4096]
    for size, stride in zip(shape, strides, strict=True):
        touched = [at + index * stride for at in touched for index in range(size)]
    assert (low, high) == ((min(touched), max(touched) + 4) if touched else (4096, 4096))


def test_pointers() -> None:
    parameter = Parameter("x", "pointer", "f32")
    data = np.zeros((4, 8), np.float32)
    assert check_pointer(parameter, data).address == data.ctypes.data
    assert "expected f32, got f64" in str(error_of(lambda: check_pointer(parameter, data.astype(np.float64))))
    strided = error_of(lambda: check_pointer(parameter, data[:, ::2]))
    assert strided.code == "R044" and "[4, 4]" in str(strided) and "[32, 8]" in str(strided)
    assert check_pointer(replace(parameter, contiguous=False), data[:, ::2]).strides_bytes == (32, 8)
    raw = np.zeros(64, np.uint8)
    odd = raw[1:33].view(np.float32)
    assert error_of(lambda: check_pointer(parameter, odd)).code == "R045"
    shifted = np.zeros(64, np.float32)
    start = (-(shifted.ctypes.data // 4)) % 16
    aligned, one_on = shifted[start : start + 16], shifted[start + 1 : start + 17]
    check_pointer(replace(parameter, alignment=64), aligned)
    assert "multiple of 64" in str(error_of(lambda: check_pointer(replace(parameter, alignment=64), one_on)))
    # One row, or nothing, is contiguous whatever its strides say.
    check_pointer(parameter, np.zeros((8, 8), np.float32)[:1])
    check_pointer(parameter, np.zeros((0, 8), np.float32)[:, ::2])


def scalar(dtype: str) -> Parameter:
    return Parameter("n", "scalar", dtype)


@pytest.mark.parametrize("dtype", [name for name, dtype in DTYPES.items() if dtype.kind in ("signed", "unsigned")])
def test_integer_ranges(dtype: str) -> None:
    low, high = DTYPES[dtype].limits
    for value in (low, high, 0, np.int8(5)):
        checked = check_scalar(scalar(dtype), value)
        assert checked == value and type(checked) is int
        assert int.from_bytes(pack_scalar(dtype, checked), "little", signed=low < 0) == value
    for value in (low - 1, high + 1, 1 << 100):
        error = error_of(lambda value=value: check_scalar(scalar(dtype), value))
        assert error.code == "R047" and str(high) in str(error)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("i32", 1.0),
        ("i32", True),
        ("i32", "1"),
        ("i32", None),
        ("i32", np.float32(1)),
        ("i32", np.zeros(1, np.int32)),
        ("f32", "1"),
        ("f32", True),
        ("f32", None),
        ("f32", np.zeros(1)),
        ("f32", 1j),
        ("f32", object()),
        ("bool", 1),
        ("bool", None),
    ],
)
def test_scalars_of_wrong_type(dtype: str, value: Any) -> None:
    error = error_of(lambda: check_scalar(scalar(dtype), value))
    assert error.code == "R046" and str(error).startswith("error[R046]: n: expected")


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64", "e4m3", "e5m2"])
def test_floats_are_rounded_to_nearest(dtype: str) -> None:
    kind = DTYPES[dtype].numpy
    for value in (0.0, -0.0, 1, 0.1, -3.14159, 2**-9, 100, np.float32(0.3), np.int64(7), ml_dtypes.bfloat16(0.5)):
        checked = check_scalar(scalar(dtype), value)
        assert pack_scalar(dtype, checked) == np.asarray(float(value)).astype(kind).tobytes(), value
    largest = float(ml_dtypes.finfo(kind).max)
    assert check_scalar(scalar(dtype), largest) == largest
    if dtype != "f64":
        assert error_of(lambda: check_scalar(scalar(dtype), largest * 1.3)).code == "R047"
    assert error_of(lambda: check_scalar(scalar(dtype), 10**400)).code == "R047"
    if dtype != "e4m3":
        assert pack_scalar(dtype, check_scalar(scalar(dtype), float("-inf"))) == np.asarray(-np.inf).astype(kind).tobytes()


def test_bools() -> None:
    assert pack_scalar("bool", check_scalar(scalar("bool"), np.bool_(True))) == b"\1"


@given(st.floats(width=32, allow_nan=False))
def test_f32_bits(value: float) -> None:
    assert pack_scalar("f32", check_scalar(scalar("f32"), value)) == struct.pack("<f", value)


MANIFEST = Manifest(
    "kernel",
    "kernel",
    "sm_90a",
    (Parameter("x", "pointer", "f32", access="in"), Parameter("out", "pointer", "f32"), scalar("i32")),
    (32, 1, 1),
)


def test_order_and_names() -> None:
    assert (
        in_order(MANIFEST, (1, 2, 3))
        == (1, 2, 3)
        == in_order(MANIFEST, [1], {"n": 3, "out": 2})
        == in_order(MANIFEST, {"n": 3, "x": 1, "out": 2})
    )
    for arguments, named, words in (
        ((1, 2), {}, "got none for n"),
        ((1, 2, 3, 4), {}, "got 4"),
        ((1, 2), {"m": 3}, "got one named 'm'"),
        ((1, 2, 3), {"n": 3}, "got n twice"),
        ({}, {}, "got none for x, out, n"),
    ):
        error = error_of(lambda arguments=arguments, named=named: in_order(MANIFEST, arguments, named))
        assert error.code == "R040" and words in str(error) and "(x, out, n)" in str(error)


def test_places() -> None:
    host = view_array(np.zeros(4, np.float32))
    there = replace(host, place="cuda", device=1)
    assert place_of(MANIFEST, [host, host, 1]) == ("cpu", 0)
    assert place_of(MANIFEST, [there, there, 1]) == ("cuda", 1)
    assert place_of(Manifest("k", "k", "sm_90a", (scalar("i32"),), (32, 1, 1)), [1]) is None
    error = error_of(lambda: place_of(MANIFEST, [there, host, 1]))
    assert error.code == "R043" and "out lies on the CPU, the launch needs cuda:1, where x lies" in str(error)
    # An empty array without memory lies nowhere.
    assert place_of(MANIFEST, [there, replace(host, address=0, shape=(0,)), 1]) == ("cuda", 1)


def test_maps_without_a_template() -> None:
    manifest = Manifest("k", "k", "sm_90a", (Parameter("m", "tensor_map", "f32"),), (32, 1, 1))
    made = tiled(np.zeros((8, 32), np.float32), (32, 8))
    assert check_arguments(manifest, [made]) == [made]
    assert error_of(lambda: check_arguments(manifest, [np.zeros((8, 32), np.float32)])).code == "R041"
    assert error_of(lambda: check_arguments(manifest, [tiled(np.zeros((8, 32), np.int32), (32, 8))])).code == "R034"


def host_buffers(*arrays: Any, access: tuple[Any, ...] = ()) -> HostBuffers:
    parameters = [Parameter(f"p{number}", "pointer", "f32", access=kind) for number, kind in enumerate(access or ("inout",) * len(arrays))]
    return HostBuffers(parameters, [view_array(value) for value in arrays])


def test_separate_arrays_have_separate_buffers() -> None:
    whole = np.arange(20, dtype=np.float32)
    left, right = whole[:10], whole[10:]
    buffers = host_buffers(left, right)
    assert sorted(buffers.buffers) == ["p0", "p1"]
    # The arrays touch: the right one's first byte is one past the left one's last.
    assert buffers.place(right.ctypes.data) == ("p1", 0) and buffers.place(left.ctypes.data) == ("p0", 0)
    buffers.buffers["p1"].view(np.float32)[3] = -1
    buffers.write_back(buffers.buffers)
    assert whole[13] == -1 and whole[:13].tolist() == list(range(13))


def test_overlapping_arrays_share_a_buffer() -> None:
    whole = np.arange(20, dtype=np.float32)
    buffers = host_buffers(whole[:12], whole[8:], whole[8:])
    assert list(buffers.buffers) == ["p0+p1+p2"] and buffers.place(whole[8:].ctypes.data) == ("p0+p1+p2", 32)
    assert buffers.buffers["p0+p1+p2"].nbytes == 80
    empty = host_buffers(whole[:0], whole[:4])
    assert empty.place(whole.ctypes.data)[1] == 0


def test_writing_back() -> None:
    data = np.zeros((4, 4), np.float32)
    view = data[::-1, 1:3]
    manifest_parameter = Parameter("x", "pointer", "f32", contiguous=False)
    buffers = HostBuffers([manifest_parameter], [view_array(view)])
    (buffer,) = buffers.buffers.values()
    assert buffer.nbytes == 3 * 16 + 8 and buffers.place(view.ctypes.data)[1] == 48
    buffer.view(np.float32)[0] = 5
    buffers.write_back(buffers.buffers)
    assert data[0, 1] == 5 and np.count_nonzero(data) == 1


@pytest.mark.parametrize("access", ["in", "inout"])
def test_inputs_that_were_written(access: Any) -> None:
    data = np.zeros(4, np.float32)
    data.flags.writeable = access == "in"
    buffers = host_buffers(data, access=(access,))
    buffers.write_back(buffers.buffers)
    buffers.buffers["p0"][0] = 1
    assert error_of(lambda: buffers.write_back(buffers.buffers)).code == "R048"
    assert not data.any()


def test_an_input_that_aliases_an_output() -> None:
    data = np.zeros(4, np.float32)
    buffers = host_buffers(data, data, access=("in", "out"))
    buffers.buffers["p0+p1"].view(np.float32)[:] = 2
    buffers.write_back(buffers.buffers)
    assert data.tolist() == [2] * 4
