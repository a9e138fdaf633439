"""The C part of the launch path: it is there, keeps nothing, forgets nothing, and stands aside where it must. What it takes and refuses is held by
`test_launch_plans`, which runs over it and over the Python plans alike."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import stand_in_driver

from fa4dsl.runtime.cuda.native_part import native

ROOT = Path(__file__).resolve().parent.parent.parent
PRELUDE = f"""
import ctypes, gc, os, sys, threading
sys.path.insert(0, {str(ROOT / "tests")!r})
import framework_stand_ins
import ptx_samples as samples
from fa4dsl.runtime.cuda.driver import recent
from fa4dsl.runtime.cuda.native_part import native
from fa4dsl.runtime.diagnostics import Fa4dslError
Tensor, NdArray = framework_stand_ins.install(0x40, exchange=True)
stub = ctypes.CDLL("libcuda.so.1")
x, out = Tensor((128,)), Tensor((128,))
count = samples.artifact("count", (samples.pointer("a", access="in"), samples.pointer("b"), samples.scalar("n", "i32")), "ret;")
mapped = samples.artifact("mapped", (samples.Parameter("m", "tensor_map", "f32", samples.TensorMapTemplate("f32", 2, (32, 8), "128B")),
                                     samples.scalar("f", "f32"), samples.pointer("a")), "ret;")
"""


def run(folder: Path, program: str, *, shown: bool = False, **environment: str) -> list[str]:
    """The program's lines; with `shown`, also the stand-in driver's, one for each launch."""
    quiet = {} if shown else {"STUB_QUIET": "1"}
    return stand_in_driver.run(folder, PRELUDE + program, **quiet, **environment).splitlines()


def test_it_is_built_where_there_is_a_compiler() -> None:
    assert native is not None or shutil.which("cc") is None


def test_launches_are_native(folder: Path) -> None:
    assert run(
        folder, "kernel = count[1]\nkernel(x, out, 1)\nprint(type(kernel).__module__, kernel, native.lends_view(x), native.lends_view(5))"
    ) == ["fa4dsl.runtime.cuda._native <launch of count> True False"]


def test_the_table_of_a_known_version_behind_a_newer_one(folder: Path) -> None:
    program = "print(native.lends_view(x))\nkernel = count[1]\nfor n in range(3): kernel(x, out, n)\nprint(stub.stub_launches())"
    assert run(folder, program, STUB_EXCHANGE="newer") == ["True", "3"]


def test_what_was_launched_is_told_after_a_fault(folder: Path) -> None:
    printed = run(
        folder,
        """
square = Tensor((16, 64))
for arguments in ((square, 0.1, out), (square, 0.1, out), (square, float("inf"), out)):
    mapped[2](*arguments)
kernel = count[3]
kernel(x, out, 1)
for n in (-5, -5, 7):
    kernel(x, out, n)
print(recent.describe().replace(f"{out.data_ptr():#x}", "OUT").replace(f"{x.data_ptr():#x}", "X"))
stub.stub_set(b"launch", 700)
try:
    kernel(x, out, 8)
except Fa4dslError as error:
    print(error.code, "count[3x1x1]" in str(error) and "n=7" in str(error))
stub.stub_set(b"launch", 1)
try:
    kernel(x, out, 9)
except Fa4dslError as error:
    print(error.code)
kernel(x, out, 10)
print(stub.stub_launches())
""",
    )
    first = "mapped[2x1x1](m=tensor map, f=0.1, a=OUT); mapped[2x1x1](m=tensor map, f=inf, a=OUT)"
    rest = "; ".join(f"count[3x1x1](a=X, b=OUT, n={n})" for n in (1, -5, 7))
    # The first launch of each is noted in full and again by its plan.
    assert printed[0].replace("f=0.1, a=OUT); mapped[2x1x1](m=tensor map, f=0.1", "f=0.1", 1) == f"{first}; {rest}"
    assert printed[1:] == ["R075 True", "R080", "8"]


def test_it_keeps_nothing(folder: Path) -> None:
    """Arguments are released after launches and misses, a launcher with all that it refers to once nobody has it."""
    assert run(
        folder,
        """
import resource, weakref
from fa4dsl.runtime import Artifact
kernel, other = count[1], mapped[1]
square, wrong = Tensor((16, 64)), Tensor((128,), "float64")
big = 1 << 20
def once(number):
    kernel(x, out, big)
    other(square, 2.5, out)
    kernel(x, out, number, stream=5)
    for bad in ((x, wrong, 1), (x, out), (x, out, big * big), (x, out, None)):
        try:
            kernel(*bad)
        except Fa4dslError:
            pass
    try:
        kernel(x, out, 1, named=3)
    except Fa4dslError:
        pass
for number in range(30):
    once(number)
counts = [sys.getrefcount(item) for item in (x, out, square, wrong, big, kernel, None.__class__)]
gc.collect()
blocks = sys.getallocatedblocks()
for number in range(300):
    once(number % 30)
print([sys.getrefcount(item) for item in (x, out, square, wrong, big, kernel, None.__class__)] == counts, (gc.collect(), sys.getallocatedblocks() - blocks < 50)[1])
for number in range(20000):
    kernel(x, out, number)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for number in range(100000):
    kernel(x, out, number)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256)
short = Artifact(count.manifest, count.ptx)
short[1](x, out, 1)
short[1](Tensor((128,), device=1), Tensor((128,), device=1), 1)
short[1](NdArray((128,)), NdArray((128,)), 1)
gone = weakref.ref(short)
del short
gc.collect()
print(gone())
""",
    ) == ["True True", "True", "None"]


def test_more_maps_than_are_kept(folder: Path) -> None:
    """Also of extents that differ alone, so that many begin at one place of the table."""
    assert run(
        folder,
        """
base = Tensor((64, 64))
tensors = [Tensor((8 + number % 8, 32), strides=(32 + 4 * (number // 8), 1), like=base) for number in range(64)]
tensors += [Tensor((16, 32)) for _ in range(1100)]
kernel = mapped[1]
for _ in range(2):
    for tensor in tensors:
        kernel(tensor, 1.0, out)
print(stub.stub_launches())
""",
    ) == ["2328"]


def test_maps_are_their_tensors(folder: Path) -> None:
    """The bytes that a launch passes are those of a map made beforehand over the same tensor, whatever was launched in between."""
    lines = run(
        folder,
        """
from fa4dsl.runtime import tiled
base = Tensor((64, 64))
tensors = [Tensor((8 + number % 8, 32), strides=(32 + 4 * (number // 8), 1), like=base) for number in range(32)] + [Tensor((16, 64)) for _ in range(8)]
kernel = mapped[1]
kernel(tensors[0], 1.0, out)
order = [(7 * number) % len(tensors) for number in range(3 * len(tensors))]
for place in order:
    kernel(tensors[place], 1.0, out)
    kernel(tiled(tensors[place], (32, 8), "128B"), 1.0, out)
""",
        shown=True,
        STUB_FIRST_WORDS="16",
    )
    launches = [line for line in lines if line.startswith("grid")][1:]
    assert len(launches) == 2 * 3 * 40
    assert all(given == ready for given, ready in zip(launches[::2], launches[1::2], strict=True))
    assert len(set(launches)) == 40


def test_subclasses_and_tensors_without_storage_are_looked_at_in_python(folder: Path) -> None:
    assert run(
        folder,
        """
class Wrapper(Tensor):
    __slots__ = ()
    @property
    def dtype(self):
        raise RuntimeError("asked in Python")
class Plain(Tensor):
    __slots__ = ()
kernel = count[1]
kernel(x, out, 1)
for n in range(3):
    kernel(Plain((128,)), out, n)
print(stub.stub_launches())
empty = Tensor((128,))
empty._view = 0
kernel(empty, out, 1)
print(stub.stub_launches())
""",
    ) == ["4", "5"]


def test_in_a_thread_without_a_context(folder: Path) -> None:
    assert run(
        folder,
        """
stub.stub_set(b"need_context", 1)
kernel = count[1]
kernel(x, out, 1)
def work():
    for n in range(200):
        kernel(x, out, n)
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
prepared = next(iter(next(iter(count._kernels.values())).launches))
print(stub.stub_launches(), len(prepared.blocks) <= 9)
""",
    ) == ["1601 True"]


@pytest.mark.parametrize("parameters", [257, 60])
def test_kernels_that_it_does_not_take(folder: Path, parameters: int) -> None:
    """More parameters, or more bytes of them, than it has room for: such a kernel launches through a Python plan."""
    kind = (
        'samples.scalar(f"n{i}", "i32")'
        if parameters == 257
        else 'samples.Parameter(f"m{i}", "tensor_map", "f32", samples.TensorMapTemplate("f32", 2, (32, 8), "128B"))'
    )
    assert run(
        folder,
        f"""
wide = samples.artifact("wide", (samples.pointer("a"), *({kind} for i in range({parameters - 1}))), "ret;")
kernel = wide[1]
square = Tensor((16, 64))
for n in range(3):
    kernel(out, *([n] * {parameters - 1} if {parameters} == 257 else [square] * {parameters - 1}))
print(type(kernel).__name__, stub.stub_launches())
""",
    ) == ["function 3"]


def test_installing_without_a_compiler(tmp_path: Path) -> None:
    """The build goes on without the C part."""
    for folder in ("fa4dsl", "passes", "runtime"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for file in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, tmp_path / file)
    for compiler, built in (("false", 0), ("cc", 1)):
        command = [
            sys.executable,
            "-W",
            "ignore",
            "setup.py",
            "-q",
            "build_ext",
            "--build-lib",
            compiler,
            "--build-temp",
            f"{compiler}_temp",
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={"CC": compiler, "PATH": "/usr/bin:/bin"})
        assert done.returncode == 0, done.stderr
        assert "warning: " not in done.stderr.replace("WARNING: ", "") or compiler == "false", done.stderr
        assert len(list((tmp_path / compiler).rglob("_native*.so"))) == built, done.stderr
