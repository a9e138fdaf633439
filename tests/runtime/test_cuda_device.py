"""The CUDA device against a stand-in for the driver library: what is handed to the driver, and what its answers become.

The stand-in reads the launch through NVIDIA's own header, so these tests hold the layouts that the runtime writes by hand. What real hardware does is
tested in tests/gpu.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import ptx_samples
import pytest
import stand_in_driver

PRELUDE = """
import ctypes, os, sys
sys.path.insert(0, PATH)
AS_INSTALLED
import numpy as np
import ptx_samples as samples
from fa4dsl.runtime import ArrayView, max_cluster, occupancy, ragged, tiled
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.launch import launch
stub = ctypes.CDLL("libcuda.so.1")

class There:
    '''An array that lies on the GPU, as numba shows it.'''
    def __init__(self, shape, dtype=np.float32):
        raw = np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 64, np.uint8)
        start = -raw.ctypes.data % 64
        self.data = raw[start : start + raw.nbytes - 64].view(dtype).reshape(shape)
    @property
    def address(self):
        return self.data.ctypes.data
    @property
    def __cuda_array_interface__(self):
        return {"shape": self.data.shape, "typestr": self.data.dtype.str, "data": (self.address, False), "version": 3, "strides": None}

def told(action):
    try:
        action()
    except Fa4dslError as error:
        print(error)
    else:
        print("no error")

x, out = There(128), There(128)
"""


@dataclass(frozen=True)
class Library:
    """The stand-in driver's folder, and whether launches have native plans."""

    folder: Path
    launches: str


@pytest.fixture(params=["native", "python"])
def library(folder: Path, request: pytest.FixtureRequest) -> Library:
    return Library(folder, request.param)


def run(library: Library, program: str, **environment: str) -> str:
    prelude = PRELUDE.replace("PATH", repr(str(Path(ptx_samples.__file__).parent))).replace("AS_INSTALLED", stand_in_driver.AS_INSTALLED)
    return stand_in_driver.run(library.folder, prelude + program, LAUNCHES=library.launches, **environment)


def test_the_launch_as_the_driver_reads_it(library: Library) -> None:
    lines = run(
        library,
        """
print(f"{x.address:x} {out.address:x}")
artifact = samples.scale(cluster=(2, 1, 1), dynamic=100_000)
artifact[4](x, out, 1.5)                                     # full checks
artifact[4](x, out, 2.5)                                     # prepared path
artifact[4](x, out, np.float32(3.5), stream=0x55)
launch(artifact, (2, 3), {"x": x, "out": out, "factor": 1}, cooperative=True, programmatic=True)
print(stub.stub_dynamic_limit(), stub.stub_launches())
""",
    ).splitlines()
    head = "block 128 1 1 dynamic 100000 stream"
    addresses = lines[0]
    for line, grid, stream, attributes, bits in (
        (lines[1], "4 1 1", 0, "", "3fc00000"),
        (lines[2], "4 1 1", 0, "", "40200000"),
        (lines[3], "4 1 1", 0x55, "", "40600000"),
        (lines[4], "2 3 1", 0, " cooperative 1 programmatic 1", "3f800000"),
    ):
        expected = f"grid {grid} {head} {stream} cluster 2 1 1{attributes} arguments {addresses} {bits} aligned "
        assert line.startswith(expected), (line, expected)
    assert lines[5] == "100000 4"


def test_tensor_maps(library: Library) -> None:
    lines = run(
        library,
        """
image = There((16, 64))
artifact = samples.artifact("mapped", (
    samples.pointer("x"),
    samples.Parameter("m", "tensor_map", "f32", samples.TensorMapTemplate("f32", 2, (32, 8), "128B")),
    samples.scalar("n", "i32")), "ret;")
print(f"{x.address:x} {image.address:x}")
made = tiled(image, (32, 8), "128B")
for value in (image, image, made, made):
    artifact[1](x, value, 7)
import struct
from fa4dsl.runtime.cuda.tensor_map import encode, _cache
print(*struct.unpack("<8Q", encode(made, 0)[:64])[1:], len(_cache))
shifted = ragged(There((10, 2, 16)), 8, 4)
print(struct.unpack("<Q", encode(shifted, 0)[:8])[0] - shifted.array.address)
told(lambda: artifact[1](x, tiled(image, (32, 4), "128B"), 7))
stub.stub_set(b"encode", 1)
told(lambda: encode(tiled(image, (4, 4)), 0, "m"))
""",
    ).splitlines()
    for line in lines[1:5]:
        assert line.endswith(f"arguments {lines[0]} 7 aligned 0"), line
    # rank, FLOAT32, inner size, stride, inner box, SWIZZLE_128B, no fill; one encoding for all four launches.
    assert lines[5] == "2 7 64 256 32 3 0 1"
    assert lines[6] == str(-8 * 128)
    assert "R034" in lines[7] and "R035" in lines[9] and "box=(4, 4)" in lines[9]


def test_copied_host_arrays(library: Library) -> None:
    printed = run(
        library,
        """
a, b = np.arange(128, dtype=np.float32), np.full(128, 5, np.float32)
result = launch(samples.scale(), 1, (a, b, 2.0), copy=True)
print(result.device, result.seconds, b[0])
told(lambda: launch(samples.scale(), 1, (a, b, 2.0), device="cuda"))
whole = np.zeros(160, np.float32)
told(lambda: launch(samples.scale(), 1, (whole[:128], whole[32:], 2.0), copy=True))
launch(samples.scale(), 1, (a, a, 2.0), copy=True)
output = np.ones((30, 2, 8), np.float32)
launch(samples.ragged_store(16, 8), 1, (output, 5, 25, 1, 2), copy=True)
print(output.all())
fixed = np.zeros(128, np.float32)
fixed.flags.writeable = False
launch(samples.scale(), 1, (fixed, b, 2.0), copy=True)
told(lambda: launch(samples.artifact("k", (samples.pointer("o", access="out"),), "ret;"), 1, (fixed,), copy=True))
stub.stub_set(b"capturing", 1)
told(lambda: launch(samples.scale(), 1, (a, b, 2.0), copy=True))
""",
    )
    assert "cuda 0.0015 5.0" in printed and "True" in printed
    assert [code for code in ("R051", "R050", "R048", "R079") if code not in printed] == []


def test_launches_that_cannot_fit(library: Library) -> None:
    printed = run(
        library,
        """
narrow = samples.artifact("narrow", (samples.pointer("x"),), "ret;", directives=".maxntid 64, 1, 1")
told(lambda: narrow[1](x))
told(lambda: launch(samples.large_shared(), 1, (There(1, np.int32),), dynamic_shared_bytes=240_000))
told(lambda: launch(samples.cluster_ranks(), 16, (There(16, np.int32),), cluster=16))
told(lambda: launch(samples.scale(), 265, (x, out, 1.0), cooperative=True))
stub.stub_set(b"resident", 0)
told(lambda: launch(samples.cluster_ranks(), 16, (There(16, np.int32),), cluster=8))
print(stub.stub_launches())
print(occupancy(samples.large_shared()), max_cluster(samples.cluster_ranks()))
""",
    )
    assert "R064" in printed and "at most 64 threads" in printed
    assert "R063" in printed and "240000 dynamic" in printed and "232448" in printed
    assert "R062" in printed and "at most 12 CTAs" in printed
    assert "R066" in printed and "at most 264 are resident at once (2 on each of 132 SMs)" in printed
    assert "R065" in printed
    assert "\n0\nOccupancy(sms=132, ctas_per_sm=2, cluster=(1, 1, 1), clusters=264" in printed and printed.rstrip().endswith(" 12")


def test_failures_of_the_driver(library: Library) -> None:
    printed = run(
        library,
        """
kernel = samples.scale()[1]
kernel(x, out, 1.0)
kernel(x, out, 2.0)
stub.stub_set(b"launch", 1)
told(lambda: kernel(x, out, 3.0))
stub.stub_set(b"launch", 700)
told(lambda: kernel(x, out, 4.0))
result = launch(samples.scale(), 1, (x, out, 5.0))
result.synchronize()
kernel(x, out, 6.0)
stub.stub_set(b"sync", 700)
told(result.synchronize)
stub.stub_set(b"sync", 0)
from fa4dsl.runtime.cuda.device import gpu
from fa4dsl.runtime.cuda.driver import call
told(lambda: gpu(2))
told(lambda: call("cuMemAlloc", 1 << 50))
from dataclasses import replace
good = samples.increment()
told(lambda: replace(good, ptx=good.ptx.replace("add.u32", "add.u33"))[1](There(128, np.int32), 1))
other = replace(good, manifest=replace(good.manifest, target="sm_100a"))
told(lambda: other[1](There(128, np.int32), 1))
told(lambda: kernel(x, out, 1.0, stream="the usual"))
lines = replace(good, ptx=good.ptx.replace("sm_90a", "sm_90a, debug"))
told(lambda: lines[1](There(128, np.int32), 1))
# Machine code that the driver takes hides bad PTX; where it does not, the PTX is tried.
bad = good.ptx.replace("add.u32", "add.u33")
told(lambda: replace(good, ptx=bad, cubin=b"\x7fELF now")[1](There(128, np.int32), 1))
told(lambda: replace(good, cubin=b"\x7fELF from the future")[1](There(128, np.int32), 1))
told(lambda: replace(good, ptx=bad, cubin=b"\x7fELF from the future")[1](There(128, np.int32), 1))
""",
        STUB_QUIET="1",
    )
    first, second, third, rest = printed.split("error[", 4)[1:]
    assert first.startswith("R080") and "scale over grid (1, 1, 1)" in first
    assert second.startswith("R075") and "factor=1.0); scale[1x1x1](x=0x" in second and "factor=2.0)" in second
    # After a good synchronisation only later launches are suspects.
    assert third.startswith("R075") and "factor=6.0)" in third and "factor=5.0" not in third
    assert [code for code in ("R072", "R076", "R069", "R068", "R078") if code not in rest] == []
    assert "not an instruction" in rest and rest.count("no error\n") == 3 and rest.count("R069") == 2


def test_repeated_values_are_packed_when_they_differ(library: Library) -> None:
    lines = run(
        library,
        """
y = There(128)
print(f"{x.address:x} {out.address:x} {y.address:x}")
kernel = samples.scale()[1]
for factor in (0.0, 0.0, -0.0, 0.0):
    kernel(x, out, factor)
count = samples.artifact("count", (samples.pointer("a"), samples.pointer("b"), samples.scalar("n", "i32")), "ret;")[1]
for arguments in ((x, out, 1), (x, out, 1), (x, out, 2), (x, y, 2), (x, out, 1)):
    count(*arguments)
count(x, out, 1, stream=5)
count(x, out, 1)
from fa4dsl.runtime.cuda.driver import recent
print(len(recent.launches))
""",
    ).splitlines()
    x, out, y = lines[0].split()
    expected = [(x, out, bits) for bits in ("0", "0", "80000000", "0")]
    expected += [(x, out, "1"), (x, out, "1"), (x, out, "2"), (x, y, "2"), (x, out, "1"), (x, out, "1"), (x, out, "1")]
    assert [tuple(line.split(" arguments ")[1].split()[:3]) for line in lines[1:-1]] == expected
    assert [line.split(" stream ")[1].split()[0] for line in lines[-4:-1]] == ["0", "5", "0"]
    assert lines[-1] == "11"


def test_timing(library: Library) -> None:
    printed = run(
        library,
        """
from fa4dsl.runtime.autotune import autotune
from fa4dsl.runtime.cuda.timing import seconds_per_call
kernel = samples.scale()[1]
print(round(seconds_per_call(lambda: kernel(x, out, 1.0), calls=5, warmup=2) * 1e6), stub.stub_launches())
print(autotune([1, 2], lambda grid: seconds_per_call(lambda: samples.scale()[grid](x, out, 1.0)) * grid).best)
""",
        STUB_QUIET="1",
    )
    assert printed == "300 7\n1\n"


def test_watchdog(library: Library) -> None:
    printed = run(
        library,
        """
print(launch(samples.scale(), 1, (x, out, 1.0), watchdog=5.0).seconds)
stub.stub_set(b"pending", 1)
import time
start = time.monotonic()
told(lambda: launch(samples.scale(), 1, (x, out, 2.0), watchdog=0.05))
print(0.05 <= time.monotonic() - start < 10)
stub.stub_set(b"pending", 2)
from dataclasses import replace
from fa4dsl.runtime.manifest import SharedObject
barrier = SharedObject("publish", "mbarrier", 0, 8, "u64", (1,), 8, arrivals=1024, scope="cluster", file="combine.py", line=7)
waiting = samples.scale(dynamic=64)
waiting = replace(waiting, manifest=replace(waiting.manifest, shared=(barrier,)))
told(lambda: launch(waiting, 1, (x, out, 2.0), watchdog=0.05))
""",
        STUB_QUIET="1",
    )
    printed, named = printed.split("True\n")
    assert (
        "it has not begun" in printed
        and "it has begun" in named
        and "mbarrier publish (1024 arrivals a phase, cluster scope), combine.py:7" in named
    )
    printed += "True\n"
    assert printed.startswith("0.0015\n") and "R077" in printed and "factor=2.0" in printed and printed.endswith("True\n")


def test_a_kernel_tells_what_it_waits_for(library: Library) -> None:
    printed = run(
        library,
        """
from dataclasses import replace
from fa4dsl.runtime import dump_waits
from fa4dsl.runtime.manifest import Wait
import gc
plain = samples.artifact("waiting", (samples.pointer("x"), samples.pointer("out"), samples.pointer("wait_records", "u32")), "ret;")
waits = (Wait("block", "block barrier", "", "k.py", 3), Wait("mbarrier", "full", "consumer", "k.py", 7))
waiting = replace(plain, manifest=replace(plain.manifest, waits=waits))
result = launch(waiting, 2, (x, out))
print(result.waits(), result.device)
stub.stub_set(b"wait_record", 2)
result = launch(waiting, 2, (x, out))
print(result.dump_waits())
print(dump_waits() == result.dump_waits())
waiting[1](x, out)
told(lambda: waiting[1](x, out, x))
stub.stub_set(b"pending", 2)
told(lambda: launch(waiting, 1, (x, out), watchdog=0.02))
host = np.zeros(128, np.float32)
told(lambda: launch(waiting, 1, (host, host), copy=True, watchdog=0.02))
# What nobody can read any more, and what is over, is freed at the next such launch; a hung launch's never.
stub.stub_set(b"pending", 0)
before = stub.stub_host_memory()
del result
gc.collect()
launch(waiting, 1, (x, out), watchdog=1.0)
print(before, stub.stub_host_memory())
told(lambda: launch(plain, 1, (x, out, There(64, np.uint32))).waits())
""",
        STUB_QUIET="1",
    )
    lines = printed.splitlines()
    assert lines[0] == "() cuda"
    assert lines[1] == "waiting over grid (2, 1, 1):" and lines[2].split() == [
        "CTA",
        "threads",
        "warps",
        "role",
        "waits",
        "at",
        "for",
        "phase",
        "state",
        "when",
        "it",
        "began",
        "to",
        "take",
        "long",
    ]
    row = ["0", "5", "0", "consumer", "k.py:7", "mbarrier", "full[2]", "parity", "1"]
    assert lines[3].split()[:9] == row and lines[3].endswith("1 of 3 arrivals pending, phase parity 0, 0 bytes outstanding")
    assert lines[4] == "True"
    rest = "\n".join(lines[5:])
    assert rest.count("R077") == 2 and rest.count("mbarrier full[2]") == 2 and "R040" in rest and "R101" in rest
    assert "\n3 3\n" in rest, rest


def test_checks_on_the_prepared_path(library: Library) -> None:
    printed = run(
        library,
        """
kernel = samples.scale()[1]
for _ in range(3):
    kernel(x, out, 1.0)
for arguments in ((x, There(128, np.float64), 1.0), (x, np.zeros(128, np.float32), 1.0), (x, out, "1"), (x, out, 1e39), (x, out), (x, out, 1.0, 2.0), (x, None, 1.0)):
    told(lambda: kernel(*arguments))
kernel(x, out, 1.0)
count = samples.increment()[1]
words = There(128, np.int32)
count(words, 5)
for n in (5, -(1 << 31), (1 << 31) - 1, np.int32(3)):
    count(words, n)
for n in (1 << 31, True, 1.0):
    told(lambda: count(words, n))
# The same kernel with host arrays runs on the simulator.
host = np.zeros(128, np.int32)
print(count(host, 2).device, host[0])
print(stub.stub_launches())
""",
        STUB_QUIET="1",
    )
    assert "simulator 2\n" in printed
    codes = [line[6:10] for line in printed.splitlines() if line.startswith("error[")]
    assert codes == ["R042", "R043", "R046", "R047", "R040", "R040", "R041", "R047", "R046", "R046"]
    assert printed.splitlines()[-1] == "9"


def test_threads_without_a_context(library: Library) -> None:
    printed = run(
        library,
        """
import threading
stub.stub_set(b"need_context", 1)
kernel = samples.scale()[1]
kernel(x, out, 1.0)
def work():
    for _ in range(200):
        kernel(x, out, 1.0)
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(stub.stub_launches())
""",
        STUB_QUIET="1",
    )
    assert printed == "1601\n"


def test_fork(library: Library) -> None:
    printed = run(
        library,
        """
import os, warnings
warnings.simplefilter("ignore")  # Python 3.12 warns of any fork beside threads, and numpy has some
kernel = samples.scale()[1]
kernel(x, out, 1.0)
kernel(x, out, 1.0)
child = os.fork()
if child == 0:
    told(lambda: kernel(x, out, 1.0))
    told(lambda: launch(samples.scale(), 1, (x, out, 1.0)))
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
kernel(x, out, 1.0)
print(stub.stub_launches())
""",
        STUB_QUIET="1",
    )
    assert printed.count("R074") == 2 and printed.endswith("3\n")


def test_memory_does_not_grow(library: Library) -> None:
    printed = run(
        library,
        """
import tracemalloc
kernel = samples.scale()[1]
def many():
    for number in range(10_000):
        kernel(x, out, float(number))
many()
tracemalloc.start()
before = tracemalloc.take_snapshot()
many()
grown = sum(item.size_diff for item in tracemalloc.take_snapshot().compare_to(before, "filename"))
print(grown)
""",
        STUB_QUIET="1",
    )
    assert int(printed) < 16_384


def test_streams_of_any_framework(library: Library) -> None:
    printed = run(
        library,
        """
from fa4dsl.runtime.cuda.stream import handle_of
from types import SimpleNamespace
import ctypes
class Protocol:
    def __cuda_stream__(self):
        return (0, 11)
from cuda.bindings import driver
shown = [handle_of(value) for value in (5, Protocol(), SimpleNamespace(__cuda_stream__=(0, 17)), SimpleNamespace(cuda_stream=7), SimpleNamespace(ptr=9),
         SimpleNamespace(handle=ctypes.c_void_p(13)), SimpleNamespace(handle=ctypes.c_void_p(None)), driver.CUstream(15))]
print(shown)
for value in (None, True, -1, 1.5, object()):
    told(lambda: handle_of(value))
""",
    )
    assert printed.startswith("[5, 11, 17, 7, 9, 13, 0, 15]\n") and printed.count("R078") == 5
