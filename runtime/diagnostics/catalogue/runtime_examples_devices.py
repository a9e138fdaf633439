"""Examples of the diagnostics of GPUs: what a user writes; the tests run them over a stand-in for the driver."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples

_KERNEL = """{imports}import numpy as np

from fa4dsl import Pointer, block, f32, kernel, thread
{more}

@kernel(threads={threads}{options})
def scale(x: Pointer[f32], factor: f32):
    i = block.index() * {threads} + thread.index()
    x[i] = x[i] * factor


"""


def _script(body: str, imports: str = "", more: str = "", options: str = "", threads: int = 128) -> str:
    """The kernel with what is done to it; `imports` and `more` stand before and behind the kernel's own."""
    return _KERNEL.format(imports=imports, more=more, options=options, threads=threads) + body


def _launch(options: str, grid: int = 2, kernel_options: str = "", threads: int = 128, comment: str = "") -> str:
    """One launch with host arrays."""
    words = f"# {comment}\n" if comment else ""
    body = f"x = np.ones({threads * grid}, np.float32)\n{words}scale.launch({grid}, (x, 2.0), {options})\n"
    return _script(body, options=kernel_options, threads=threads)


_REPLACE = "from dataclasses import replace\n\n"
_CUPY = "import cupy\n"

_TILE = """import numpy as np

from fa4dsl import Pointer, TensorMap, block, elect, f32, kernel, mbarrier, shared, thread


@kernel(threads=32)
def first_row(source: TensorMap, target: Pointer[f32]):
    tile = shared(f32, ({rows}, 32))
    landed = mbarrier(1)
    block.sync()
    with elect():
        landed.arrive(bytes=tile.bytes)
        source.load(tile, (0, 0), landed)
    landed.wait()
    target[thread.index()] = tile[0, thread.index()]


# a driver that takes no box of 256 rows, though the documents allow it
first_row.launch(1, (np.zeros((512, 32), np.float32), np.zeros(32, np.float32)), copy=True)
"""

_SHIFT = """import numpy as np

from fa4dsl import Pointer, f32, kernel, thread


@kernel(threads=128)
def shift(source: Pointer[f32], target: Pointer[f32]):
    target[thread.index()] = source[thread.index()]


x = np.arange(129, dtype=np.float32)
shift.launch(1, ({source}, x[1:]), copy=True)
"""

_MEET = '''import numpy as np

from fa4dsl import Pointer, atomic, i32, kernel, thread


@kernel(threads=1024)
def meet(arrived: Pointer[i32], ctas: i32):
    """Every CTA waits until all have arrived."""
    if thread.index() == 0:
        atomic.add(arrived, 1, order="release", scope="gpu")
        while arrived.load(0, order="acquire", scope="gpu") < ctas:
            pass


# 132 SMs hold two CTAs each, 264 at once: more would keep each other out, and wait for ever
meet.launch({grid}, (np.zeros(1, np.int32), {grid}), {options}watchdog=0.1)
'''

_WORKERS = """import multiprocessing

import numpy as np

from fa4dsl import Pointer, f32, kernel, thread


@kernel(threads=128)
def scale(x: Pointer[f32], factor: f32):
    x[thread.index()] = x[thread.index()] * factor


def work(factor):
    scale.launch(1, (np.ones(128, np.float32), factor), copy=True)


if __name__ == "__main__":
{first}    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.map(work, [2.0, 3.0])
"""

_CAPTURE = """stream = cupy.cuda.Stream(non_blocking=True)
stream.begin_capture()
{launch}
graph = stream.end_capture()
"""

_BEYOND = "x = np.ones(256, np.float32)\n# the array has elements for two CTAs\nscale.launch({grid}, (x, 2.0), copy=True)\n"

EXAMPLES: Examples = {
    "R035": (_TILE.format(rows=256), _TILE.format(rows=128)),
    "R043": (
        _script('x = cupy.ones(256, cupy.float32)\nscale.launch(2, (x, 2.0), device="simulator")\n', _CUPY),
        _script('x = np.ones(256, np.float32)\nscale.launch(2, (x, 2.0), device="simulator")\n', _CUPY),
    ),
    "R050": (_SHIFT.format(source="x[:-1]"), _SHIFT.format(source="x[:-1].copy()")),
    "R051": (_launch('device="cuda"'), _launch('device="cuda", copy=True')),
    "R063": (_launch("dynamic_shared_bytes=240_000, copy=True"), _launch("dynamic_shared_bytes=100_000, copy=True")),
    "R064": (
        _script(
            """artifact = scale.compile()  # for 128 threads: the code says so (.reqntid)
larger = replace(artifact, manifest=replace(artifact.manifest, block=(256, 1, 1)))
larger.launch(1, (np.ones(256, np.float32), 2.0), copy=True)
""",
            _REPLACE,
        ),
        _script("artifact = scale.compile()\nartifact.launch(2, (np.ones(256, np.float32), 2.0), copy=True)\n"),
    ),
    "R065": (
        _launch("copy=True", grid=16, kernel_options=", cluster=16", comment="a GPU whose GPCs have room for 12 CTAs"),
        _launch("copy=True", grid=16, kernel_options=", cluster=8", comment="a GPU whose GPCs have room for 12 CTAs"),
    ),
    "R066": (
        _launch("cooperative=True, copy=True", grid=1000, threads=1024),
        _launch("cooperative=True, copy=True", grid=264, threads=1024),
    ),
    "R068": (
        _launch("copy=True", kernel_options=', target="sm_100a"', comment="a GPU of compute capability 9.0"),
        _launch("copy=True", kernel_options=', target="sm_90a"', comment="a GPU of compute capability 9.0"),
    ),
    "R069": (
        _script(
            """artifact = scale.compile()
# PTX of a toolkit that is newer than the driver
newer = replace(artifact, cubin=None, ptx=artifact.ptx.replace(".version 8.6", ".version 9.9"))
newer.launch(2, (np.ones(256, np.float32), 2.0), copy=True)
""",
            _REPLACE,
        ),
        _script("artifact = scale.compile()\nartifact.launch(2, (np.ones(256, np.float32), 2.0), copy=True)\n"),
    ),
    "R070": (_launch("copy=True"), _launch('device="simulator"')),
    "R071": (
        _script(
            'os.environ["CUDA_VISIBLE_DEVICES"] = ""  # as a batch system may set it\n'
            "scale.launch(2, (np.ones(256, np.float32), 2.0), copy=True)\n",
            "import os\n\n",
        ),
        _script(
            'os.environ["CUDA_VISIBLE_DEVICES"] = "0"\nscale.launch(2, (np.ones(256, np.float32), 2.0), copy=True)\n',
            "import os\n\n",
        ),
    ),
    "R072": (
        _script(
            "# a machine with two GPUs, 0 and 1\nprint(occupancy(scale.compile(), device=2))\n",
            more="from fa4dsl.runtime import occupancy\n",
        ),
        _script(
            "# a machine with two GPUs, 0 and 1\nprint(occupancy(scale.compile(), device=1))\n",
            more="from fa4dsl.runtime import occupancy\n",
        ),
    ),
    "R073": (
        "$ pip uninstall cuda-bindings\n$ python -c \"from fa4dsl.runtime.cuda.device import gpu; print(gpu().attribute('CLOCK_RATE'))\"\n",
        '$ pip install "cuda-bindings>=13,<14"\n$ python -c "from fa4dsl.runtime.cuda.device import gpu; print(gpu().attribute(\'CLOCK_RATE\'))"\n',
    ),
    "R074": (_WORKERS.format(first="    work(1.0)  # starts CUDA in this process\n"), _WORKERS.format(first="")),
    "R075": (_script(_BEYOND.format(grid=2000)), _script(_BEYOND.format(grid=2))),
    "R076": (
        _script("x = np.ones(1 << 20, np.float32)  # 4 MiB, on a GPU with 2 MiB left\nscale.launch(x.size // 128, (x, 2.0), copy=True)\n"),
        _script(
            "x = np.ones(1 << 20, np.float32)  # 4 MiB, on a GPU with 2 MiB left\n"
            "for part in np.split(x, 4):\n    scale.launch(part.size // 128, (part, 2.0), copy=True)\n"
        ),
    ),
    "R077": (
        _MEET.format(grid=1000, options="copy=True, "),
        _MEET.format(grid=264, options="copy=True, cooperative=True, "),
    ),
    "R078": (_launch('copy=True, stream="default"'), _launch("copy=True, stream=0")),
    "R079": (
        _script("x = np.ones(256, np.float32)\n" + _CAPTURE.format(launch="scale.launch(2, (x, 2.0), copy=True, stream=stream)"), _CUPY),
        _script("x = cupy.ones(256, cupy.float32)\n" + _CAPTURE.format(launch="scale.launch(2, (x, 2.0), stream=stream)"), _CUPY),
    ),
    "R080": (
        _script(
            """x = cupy.ones(256, cupy.float32)
handle = cupy.cuda.Stream(non_blocking=True).ptr  # the stream ends here, with the last reference to it
scale.launch(2, (x, 2.0), stream=handle)
""",
            _CUPY,
        ),
        _script(
            """x = cupy.ones(256, cupy.float32)
stream = cupy.cuda.Stream(non_blocking=True)
scale.launch(2, (x, 2.0), stream=stream)
stream.synchronize()
""",
            _CUPY,
        ),
    ),
}
