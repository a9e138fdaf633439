"""Launches from Python alone, natively through arrays' attributes and natively through torch's exchange table are one: random kernels get random arguments,
right and wrong, in random order, and what reaches the driver, byte by byte, or the error's code must be the same in all three."""

from __future__ import annotations

from pathlib import Path

import pytest
import stand_in_driver

PROGRAM = f"""
import ctypes, os, random, sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
{stand_in_driver.AS_INSTALLED}
import numpy as np
import framework_stand_ins
import ptx_samples as samples
from fa4dsl.runtime import tiled
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.dtypes import DTYPES
Tensor, NdArray = framework_stand_ins.install(0x40, exchange=os.environ["LAUNCHES"] == "exchange")
stub = ctypes.CDLL("libcuda.so.1")
stub.stub_last.restype = ctypes.POINTER(ctypes.c_ubyte)
stub.stub_last_stream.restype = ctypes.c_long
chosen = random.Random(int(os.environ["SEED"]))
SCALARS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64", "bool", "e4m3")
NUMBERS = (0, 1, -1, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**63, 2**64 - 1, 2**64, -(2**31), -(2**63), -(2**63) - 1, 0.0, -0.0, 0.1, 1e38, 3.4e38,
           3.4028235e38, 3.5e38, 1e300, 1.79e308, float("inf"), float("-inf"), float("nan"), True, False, None, "1", np.int32(7), np.int64(-9), np.uint8(200), np.uint64(2**63),
           np.float32(0.5), np.float64(0.25), np.float16(2), np.bool_(True), 10**400, 449.0, 70000.0)

def arrays():
    base = Tensor((64, 64))
    moved = Tensor((128,))
    moved.move(4)
    odd = Tensor((128,))
    odd.move(2)
    empty = Tensor((0, 32))
    found = [base, moved, odd, empty, Tensor((128,)), Tensor((128,), "float64"), Tensor((8, 16), strides=(1, 8)), Tensor((16, 64)), Tensor((16, 64)), Tensor((16, 60)), Tensor((16, 63)),
             Tensor((16, 64), strides=(96, 1), like=base), Tensor((1, 64), strides=(7, 1), like=base), Tensor((16, 64), "bfloat16"), Tensor((4, 16, 64)), Tensor((128,), device=1),
             Tensor((16, 64), device=1), Tensor((128,), "int32"), Tensor((128,), device=-1), NdArray((128,)), NdArray((16, 64)), NdArray((16, 64), strides=(1, 16)), NdArray((128,), "int32"),
             NdArray((128,), "float64")]
    return found

everything = arrays()
ready = [tiled(everything[7], (32, 8), "128B"), tiled(everything[8], (32, 8), "128B"), tiled(everything[8], (32, 4)), tiled(everything[20], (32, 8), "128B"),
         tiled(everything[16], (32, 8), "128B")]

def address_of(array):
    return array.data_ptr() if isinstance(array, Tensor) else array.data.ptr

names = {{address_of(array): f"array {{number}}" for number, array in reversed(list(enumerate(everything)))}}

def parameter(number):
    kind = chosen.choice(("pointer", "pointer", "scalar", "scalar", "map"))
    name = f"p{{number}}"
    if kind == "scalar":
        return samples.scalar(name, chosen.choice(SCALARS))
    if kind == "pointer":
        return samples.pointer(name, chosen.choice(("f32", "f32", "f32", "i32", "f64")), alignment=chosen.choice((0, 0, 4, 16)), contiguous=chosen.random() < 0.7, used=chosen.random() < 0.8)
    return samples.Parameter(name, "tensor_map", "f32", samples.TensorMapTemplate("f32", 2, (32, 8), "128B"))

def likely(wanted):
    # What fits, mostly.
    if chosen.random() < 0.1:
        return chosen.choice([*everything, *ready, *NUMBERS, np.zeros(4, np.float32)])
    if wanted.kind == "scalar":
        return chosen.choice(NUMBERS[:4] if chosen.random() < 0.7 else NUMBERS)
    if wanted.kind == "tensor_map":
        return chosen.choice([everything[7], everything[8], everything[11], everything[12], ready[0], ready[1]] if chosen.random() < 0.8 else [*everything, *ready])
    if chosen.random() < 0.3:
        return chosen.choice(everything)
    fitting = dict(f32=(0, 1, 4, 7, 8), i32=(17,), f64=(5,))[wanted.dtype]
    return everything[chosen.choice(fitting)]

for number in range(12):
    parameters = tuple(parameter(number) for number in range(chosen.randint(1, 5)))
    sizes = [128 if item.kind == "tensor_map" else 8 if item.kind == "pointer" else DTYPES[item.dtype].size for item in parameters]
    stub.stub_sizes(len(sizes), (ctypes.c_int * len(sizes))(*sizes))
    artifact = samples.artifact(f"kernel{{number}}", parameters, "ret;")
    launcher = artifact[1 + number % 2]
    print("kernel", [(item.kind, item.dtype) for item in parameters])
    given = [likely(item) for item in parameters]
    for call in range(40):
        # One argument changes at a time, so that right calls come in runs.
        place = chosen.randrange(len(parameters))
        given[place] = likely(parameters[place])
        arguments, named = list(given), {{}}
        odd = chosen.random()
        if odd < 0.03:
            arguments.append(1)
        elif odd < 0.06:
            arguments.pop()
        elif odd < 0.1:
            named[f"p{{len(arguments) - 1}}"] = arguments.pop()
        elif odd < 0.12:
            named["other"] = 1
        elif odd < 0.2:
            named["stream"] = chosen.choice((5, 2**40, None, "none", True, -1))
        before = stub.stub_launches()
        try:
            done = (launcher if call % 3 else artifact[1 + number % 2])(*arguments, **named)
        except Fa4dslError as error:
            assert stub.stub_launches() == before, (arguments, named)
            print(error.code)
            continue
        if stub.stub_launches() == before:
            print("simulated", done.device)
            continue
        told, at, last = [], 0, bytes(stub.stub_last()[: sum(sizes)])
        for item, size in zip(parameters, sizes):
            value = last[at : at + size]
            if item.kind != "scalar":
                first = int.from_bytes(value[:8], "little")
                value = names.get(first, first), value[8:].hex()
            # A pointer that the kernel leaves alone: what it was given the first time, 0 after that.
            told.append("left alone" if item.kind == "pointer" and not item.used else value)
            at += size
        print(told, stub.stub_last_stream())
"""


@pytest.mark.parametrize("seed", range(4))
def test_the_ways_to_the_driver_are_one(folder: Path, seed: int) -> None:
    variants = ("python", "attributes", "exchange")
    python, attributes, exchange = (
        stand_in_driver.run(folder, PROGRAM, LAUNCHES=launches, SEED=str(seed), STUB_QUIET="1", PYTHONHASHSEED="0").splitlines()
        for launches in variants
    )
    launched = [line for line in python if line.startswith("[")]
    assert len(launched) > 100 and len({line for line in python if line.startswith("R")}) > 5
    for other in (attributes, exchange):
        assert len(other) == len(python)
        # Where two things are wrong, either may be told first.
        assert [pair for pair in zip(python, other, strict=True) if pair[0] != pair[1] and not (pair[0][0] == pair[1][0] == "R")] == []
