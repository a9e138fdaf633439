"""Launch plans: torch's and cupy's arrays (stand-ins for them, over the stand-in driver) take the fast path, and nothing wrong gets through it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import stand_in_driver

PRELUDE = f"""
import ctypes, sys, threading
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
import numpy as np
import os
{stand_in_driver.AS_INSTALLED}
import framework_stand_ins
import ptx_samples as samples
from fa4dsl.runtime import tiled
from fa4dsl.runtime import bound_launch
from fa4dsl.runtime.cuda import plan as plans
from fa4dsl.runtime.diagnostics import Fa4dslError
Tensor, NdArray = framework_stand_ins.install(0x40, exchange=os.environ["LAUNCHES"] == "exchange")
torch = sys.modules["torch"]
stub = ctypes.CDLL("libcuda.so.1")
made = []
make_plan = plans.make_plan
def counted(*arguments):
    made.append(1)
    return make_plan(*arguments)
plans.make_plan = counted

def code(action):
    try:
        action()
    except Fa4dslError as error:
        return error.code
    return "launched"

def taken():
    # After it, how many launches the driver saw since the last time.
    global seen
    before, seen = seen, stub.stub_launches()
    return seen - before
seen = 0
count = samples.artifact("count", (samples.pointer("a", access="in"), samples.pointer("b"), samples.scalar("n", "i32")), "ret;")
"""


@dataclass(frozen=True)
class Library:
    """The stand-in driver's folder, and how launches reach it: from Python alone, natively through arrays' attributes, or through torch's exchange table."""

    folder: Path
    launches: str


@pytest.fixture(params=["python", "attributes", "exchange"])
def library(folder: Path, request: pytest.FixtureRequest) -> Library:
    return Library(folder, request.param)


def run(library: Library, program: str, **environment: str) -> list[str]:
    return stand_in_driver.run(library.folder, PRELUDE + program, LAUNCHES=library.launches, **environment).splitlines()


@pytest.mark.parametrize("array", ["Tensor", "NdArray"])
def test_what_is_wrong_never_reaches_the_driver(library: Library, array: str) -> None:
    printed = run(
        library,
        f"""
Array = {array}
x, out, wide = Array((8, 16)), Array((8, 16)), Array((8, 16), "float64")
transposed = Array((8, 16), strides=(1, 8))
kernel = count[1]
kernel(x, out, 1)
assert kernel is count[1]
kernel(x, out, 2)
print(taken(), len(made))
odd = Array((8, 16))
if Array is Tensor:
    odd.move(2)
else:
    odd.data.ptr += 2
elsewhere = Array((8, 16), device=1)
if Array is NdArray:
    stub.stub_place(ctypes.c_uint64(elsewhere.data.ptr), 1)
for arguments in ((x, wide, 1), (x, transposed, 1), (x, odd, 1), (x, elsewhere, 1), (x, None, 1), (x, out, 1 << 31), (x, out, 1.0), (x, out, True),
                  (x, out), (x, out, 1, 2), (), (x, out, None), (x, out, "1"), (x, np.zeros((8, 16), np.float32), 1)):
    print(code(lambda: kernel(*arguments)))
print(code(lambda: kernel(x, out, 1, m=3)), code(lambda: kernel(x, out, m=3)), code(lambda: kernel(x, out, 1, stream="none")))
print(taken(), len(made))
kernel(x, n=5, b=out)
kernel(x, out, 1)
kernel(x, out, -(1 << 31))
kernel(x, out, (1 << 31) - 1)
print(taken(), len(made))
""",
        STUB_QUIET="1",
    )
    assert printed[0] == "2 1"
    assert printed[1:15] == ["R042", "R044", "R045", "R043", "R041", "R047", "R046", "R046", "R040", "R040", "R040", "R046", "R046", "R043"]
    assert printed[15] == "R040 R040 R078"
    assert printed[16] == "0 1"
    assert printed[17].startswith("4 ")


def test_values_and_streams_that_change(library: Library) -> None:
    lines = run(
        library,
        """
x, y, out = Tensor((128,)), Tensor((128,)), Tensor((128,))
print(*(f"{value.data_ptr():x}" for value in (x, y, out)))
kernel = count[3]
for arguments in ((x, out, 1), (x, out, 1), (y, out, 1), (y, out, 7), (x, x, 7)):
    kernel(*arguments)
kernel(x, out, 1, stream=0x55)
kernel(x, out, 1)
cx = NdArray((128,))
for n in (1, 1, 2):
    kernel(cx, out, n)
print(len(made))
""",
    )
    x, y, out = lines[0].split()
    launches = [line for line in lines if line.startswith("grid")]
    assert all(line.startswith("grid 3 1 1 block 128 1 1") for line in launches)
    assert [tuple(line.split(" arguments ")[1].split()[:3]) for line in launches[:7]] == [
        (x, out, "1"),
        (x, out, "1"),
        (y, out, "1"),
        (y, out, "7"),
        (x, x, "7"),
        (x, out, "1"),
        (x, out, "1"),
    ]
    assert [line.split(" stream ")[1].split()[0] for line in launches[4:7]] == ["64", "85", "64"]
    assert len(launches) == 10 and lines[-1] == "2"


def test_what_the_kernel_leaves_alone_is_passed_as_0(library: Library) -> None:
    lines = run(
        library,
        """
from dataclasses import replace
plain = samples.artifact("count", (samples.pointer("a"), replace(samples.pointer("b"), used=False), samples.scalar("n", "i32")), "ret;")
x, out, other = Tensor((128,)), Tensor((128,)), Tensor((8, 16), strides=(1, 8))
print(f"{x.data_ptr():x}", f"{out.data_ptr():x}")
print(code(lambda: plain[3](x, other, 1)))
kernel = plain[3]
kernel(x, out, 1)
kernel(x, out, 2)
kernel(x, other, 3)
print(code(lambda: kernel(x, NdArray((8,), "float64"), 4)), code(lambda: kernel(x, 5, 4)))
""",
    )
    x, out = lines[0].split()
    assert [line.split(" arguments ")[1].split()[:3] for line in lines if line.startswith("grid")] == [
        [x, out, "1"],
        [x, "0", "2"],
        [x, "0", "3"],
    ]
    assert [line for line in lines if line.startswith("R")] == ["R044", "R042 R041"]


def test_a_launch_warns_once(library: Library) -> None:
    """A plan is made behind the first launch, which has warned of what TMA stores do behind odd rows."""
    assert run(
        library,
        """
import warnings
warnings.simplefilter("always")
stored = samples.artifact("stored", (samples.Parameter("m", "tensor_map", "f32", samples.TensorMapTemplate("f32", 2, (8, 8), "none")),), "ret;")
odd = Tensor((8, 30), strides=(32, 1))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    stored[1](odd)
    stored[1](odd)
print(len(told), "R037" in str(told[0].message))
""",
        STUB_QUIET="1",
    ) == ["1 True"]


def test_floats(library: Library) -> None:
    lines = run(
        library,
        """
x, out = Tensor((128,)), Tensor((128,))
kernel = samples.scale()[1]
for value in (1.5, 2, float("inf"), float("nan"), -float("inf"), 3.4028234663852886e38, np.float32(0.5), np.float32(0.5), 0.0, -0.0, np.float64(3)):
    kernel(x, out, value)
print(len(made))
for value in (1e39, 10**400, np.float64(1e39), True, "1"):
    print(code(lambda: kernel(x, out, value)))
steps = samples.artifact("steps", (samples.pointer("a"), samples.pointer("b"), samples.scalar("n", "u16")), "ret;")[1]
for value in (np.int64(3), np.int64(4), np.uint8(5)):
    steps(x, out, value)
print(code(lambda: steps(x, out, np.int64(70000))))
""",
    )
    words = [line.split(" arguments ")[1].split()[2] for line in lines if line.startswith("grid")]
    assert words[:11] == [
        "3fc00000",
        "40000000",
        "7f800000",
        "7fc00000",
        "ff800000",
        "7f7fffff",
        "3f000000",
        "3f000000",
        "0",
        "80000000",
        "40400000",
    ]
    # Of Python's numbers one plan, made again for the one value between the bound and the type's greatest; one for each of numpy's types.
    assert lines[11] == "4"
    assert lines[12:17] == ["R047", "R047", "R047", "R046", "R046"]
    assert [int(word, 16) & 0xFFFF for word in words[11:]] == [3, 4, 5] and lines[-1] == "R047"


def test_two_gpus_in_turn(library: Library) -> None:
    printed = run(
        library,
        """
first = (Tensor((128,)), Tensor((128,)))
second = (Tensor((128,), device=1), Tensor((128,), device=1))
kernel = count[1]
for number in range(50):
    kernel(*first, number)
    kernel(*second, number)
print(len(made), taken())
print(code(lambda: kernel(first[0], second[1], 1)), code(lambda: kernel(second[0], first[1], 1)), taken())
""",
        STUB_QUIET="1",
    )
    assert printed == ["2 100", "R043 R043 0"]


def test_maps_over_tensors(library: Library) -> None:
    lines = run(
        library,
        """
mapped = samples.artifact("mapped", (
    samples.pointer("x"),
    samples.Parameter("m", "tensor_map", "f32", samples.TensorMapTemplate("f32", 2, (32, 8), "128B")),
    samples.scalar("n", "i32")), "ret;")
x, image, other = Tensor((128,)), Tensor((16, 64)), Tensor((16, 64))
padded = Tensor((16, 64), strides=(96, 1), like=image)
short = Tensor((8, 64), like=image)
from fa4dsl.runtime.cuda.tensor_map import _cache
kernel = mapped[1]
for value in (image, image, other, image, padded, short, image):
    kernel(x, value, 7)
print(len(_cache), len(made))
ready = tiled(image, (32, 8), "128B")
for _ in range(3):
    kernel(x, ready, 7)
for value in (Tensor((16, 64), "int32"), Tensor((16, 63)), Tensor((16, 64), device=1), Tensor((64,)), tiled(image, (32, 4), "128B")):
    print(code(lambda: kernel(x, value, 7)))
print(len(_cache), len(made), stub.stub_launches())
# Maps alone do not show whose stream is current: it is asked for at every launch, by one plan.
alone = samples.artifact("alone", (mapped.manifest.parameters[1], samples.scalar("a", "i64"), samples.scalar("n", "i32")), "ret;")[1]
alone(ready, 0, 0)
alone(ready, 0, 0)
alone(tiled(NdArray((16, 64)), (32, 8), "128B"), 0, 0)
print(len(made))
""",
    )
    launches = [line for line in lines if line.startswith("grid")]
    assert len(launches) == 13
    rest = [line for line in lines if not line.startswith("grid")]
    assert rest[0] == "4 1"
    assert rest[1:6] == ["R042", "R022", "R043", "R034", "R034"]
    assert rest[6].startswith("4 2 10"), rest
    assert [line.split(" stream ")[1].split()[0] for line in launches[10:]] == ["64"] * 3 and rest[7] == "3"


def test_threads_do_not_take_each_others_values(library: Library) -> None:
    lines = run(
        library,
        """
sets = [(Tensor((128,)), Tensor((128,)), number) for number in range(6)]
print(*(f"{a.data_ptr():x},{b.data_ptr():x},{n:x}" for a, b, n in sets))
kernel = count[1]
kernel(*sets[0])
sys.setswitchinterval(1e-6)
def work(arguments):
    for _ in range(60):
        kernel(*arguments)
threads = [threading.Thread(target=work, args=(item,)) for item in sets]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
""",
    )
    expected = [tuple(item.split(",")) for item in lines[0].split()]
    launched = [tuple(line.split(" arguments ")[1].split()[:3]) for line in lines[1:]]
    assert sorted(launched) == sorted([*expected[:1], *(item for item in expected for _ in range(60))])


def test_a_launch_says_what_it_is(library: Library) -> None:
    assert run(library, "print(count[1].__name__, count[1] is count[1], sorted(count.launchers))") == ["launch of count True [1]"]


def test_unloading(library: Library) -> None:
    printed = run(
        library,
        """
import gc
from fa4dsl.runtime import Artifact, unload_collected
x, out = Tensor((128,)), Tensor((128,))
kernel = count[1]
assert count.unload() == 0
kernel(x, out, 1)
kernel(x, out, 1)
print(stub.stub_modules(), count.unload(), stub.stub_modules(), count.unload())
# A launcher that is held loads the kernel again, and so does a new one.
kernel(x, out, 1)
count[1](x, out, 2)
kernel(x, out, 3)
print(stub.stub_modules(), len(made))
second = (Tensor((128,), device=1), Tensor((128,), device=1))
kernel(*second, 1)
print(stub.stub_modules(), count.unload(), stub.stub_modules())
with Artifact(count.manifest, count.ptx) as short:
    short[2](x, out, 1)
    print(stub.stub_modules())
print(stub.stub_modules())
# Nothing is unloaded by itself; what nobody has any more, when it is asked for.
def use():
    Artifact(count.manifest, count.ptx)[1](x, out, 1)
    Artifact(count.manifest, count.ptx)[1](x, out, 1)
use()
held = Artifact(count.manifest, count.ptx)[3]
held(x, out, 1)
gc.collect()
print(stub.stub_modules(), unload_collected(), stub.stub_modules(), unload_collected())
held(x, out, 1)
# Many grids: a launcher whose preparation is no longer kept must not launch what has been unloaded.
first = count[1]
first(x, out, 1)
for grid in range(2, 1100):
    count[grid](x, out, 1)
count.unload()
first(x, out, 1)
stub.stub_set(b"capturing", 1)
print(code(count.unload))
stub.stub_set(b"capturing", 0)
first(x, out, 1)
print(unload_collected(), stub.stub_stale())
del held
""",
        STUB_QUIET="1",
    )
    assert printed == ["1 1 0 0", "1 3", "2 2 0", "1", "0", "3 2 1 0", "R102", "1 0"]


def test_no_launch_of_a_kernel_that_another_thread_unloads(library: Library) -> None:
    printed = run(
        library,
        """
import time
x, out = Tensor((128,)), Tensor((128,))
kernel = count[1]
kernel(x, out, 0)
sys.setswitchinterval(1e-5)
ended = False
launched = [0] * 4
def work(number):
    while not ended:
        kernel(x, out, number)
        count[1 + number](x, out, launched[number])
        launched[number] += 1
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
[thread.start() for thread in threads]
for _ in range(40):
    count.unload()
    time.sleep(0.002)
ended = True
[thread.join() for thread in threads]
count.unload()
print(stub.stub_stale(), stub.stub_modules(), all(launched))
""",
        STUB_QUIET="1",
    )
    assert printed == ["0 0 True"]


def test_a_forked_child_unloads_nothing_of_its_parent(library: Library) -> None:
    printed = run(
        library,
        """
import os
x, out = Tensor((128,)), Tensor((128,))
count[1](x, out, 1)
child = os.fork()
if child == 0:
    print(count.unload(), stub.stub_modules())
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
print(stub.stub_modules())
""",
        STUB_QUIET="1",
    )
    assert printed == ["1 1", "1"]


def test_where_no_array_or_only_empty_ones_say_where(library: Library) -> None:
    """Empty arrays on a GPU launch there. Without arrays a launch goes where its stream says, whatever went before."""
    assert run(
        library,
        """
empty = Tensor((0, 16))
kernel = count[1]
for n in range(3):
    kernel(empty, empty, n)
kernel(Tensor((128,)), empty, 4)
print(taken())
alone = samples.artifact("alone", (samples.scalar("n", "i32"),), "ret;")[1]
for stream in (None, 5, None, 5, None):
    alone(1, stream=stream)
print(taken())
""",
        STUB_QUIET="1",
    ) == ["4", "2"]
