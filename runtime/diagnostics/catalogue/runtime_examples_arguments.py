"""Examples of the diagnostics of tensor maps, arguments and the grid: launches on the simulator with numpy arrays."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples

_SCALE = """import numpy as np

from fa4dsl import Pointer, block, f32, kernel, thread


@kernel(threads=128)
def scale(x: Pointer[f32], factor: f32):
    i = block.index() * 128 + thread.index()
    x[i] = x[i] * factor


"""

_FILL = """import numpy as np

from fa4dsl import Pointer, i32, kernel, thread


@kernel(threads=128)
def fill(x: Pointer[i32], value: i32):
    x[thread.index()] = value


x = np.zeros(128, np.int32)
"""

_PAIR = """import numpy as np

from fa4dsl import Pointer, block, cluster, i32, kernel, thread


@kernel(threads=32, cluster=2)
def ranks(x: Pointer[i32]):
    if thread.index() == 0:
        x[block.index()] = cluster.rank()


x = np.zeros(64, np.int32)
"""

_TILE = """import numpy as np

from fa4dsl import Pointer, TensorMap, block, elect, f32, kernel, mbarrier, shared, thread
from fa4dsl.runtime import tiled


@kernel(threads=32)
def first_tile(source: TensorMap, target: Pointer[f32]):
    tile = shared(f32, (16, 32))
    landed = mbarrier(1)
    block.sync()
    with elect():
        landed.arrive(bytes=tile.bytes)
        source.load(tile, (0, 0), landed)
    landed.wait()
    target[thread.index()] = tile[0, thread.index()]


"""

_TILED = "import numpy as np\n\nfrom fa4dsl.runtime import tiled\n\n"
_RAGGED = "import numpy as np\n\nfrom fa4dsl.runtime import ragged\n\n"

_CHANNELS = """from fa4dsl.runtime import TensorMapDescription

# channels in groups of 8: [height, width, 8] of f16, 16 bytes a pixel
TensorMapDescription(
    "f16", sizes=({sizes}), strides_bytes=({strides}), box=({box}), element_strides=({ones}), interleave="16B"
).check()
"""

_RELEASED = '''class Activations:
    """An array of a framework of our own, which exports DLPack."""

    def __init__(self, shape):
        self.values = np.zeros(shape, np.float32)
        self.released = False

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __dlpack__(self, **options):
        if self.released:
            raise BufferError("the memory has gone back to its pool")
        return self.values.__dlpack__(**options)


x = Activations(256)
'''

EXAMPLES: Examples = {
    "R028": (
        _TILED + "image = np.zeros((8, 40), np.float32)\ntiled(image[:, 1:33], (32, 8))\n",
        _TILED + "image = np.zeros((8, 40), np.float32)\ntiled(image[:, 4:36], (32, 8))\n",
    ),
    "R031": (
        _CHANNELS.format(sizes="8, 64", strides="16,", box="8, 64", ones="1, 1"),
        _CHANNELS.format(sizes="8, 64, 32", strides="16, 1024", box="8, 64, 1", ones="1, 1, 1"),
    ),
    "R032": (
        _RAGGED + "queries = np.zeros((100, 8, 64), np.float32)\nragged(queries[:, :4], rows=64, columns=64)\n",
        _RAGGED + "queries = np.zeros((100, 8, 64), np.float32)\nragged(queries, rows=64, columns=64)\n",
    ),
    "R034": (
        _TILE + "image = np.zeros((16, 64), np.float32)\nfirst_tile[1](tiled(image, (32, 8)), np.zeros(32, np.float32))\n",
        _TILE + "image = np.zeros((16, 64), np.float32)\nfirst_tile[1](tiled(image, (32, 16)), np.zeros(32, np.float32))\n",
    ),
    "R040": (
        _SCALE + "scale[2](np.ones(256, np.float32))\n",
        _SCALE + "scale[2](np.ones(256, np.float32), 2.0)\n",
    ),
    "R044": (
        _SCALE + "matrix = np.ones((256, 8), np.float32)\nscale[2](matrix[:, 3], 2.0)\n",
        _SCALE + "matrix = np.ones((8, 256), np.float32)\nscale[2](matrix[3], 2.0)\n",
    ),
    "R045": (
        _SCALE + "packet = np.zeros(2 + 1024, np.uint8)  # a header of two bytes, then 256 numbers\n"
        "scale[2](packet[2:].view(np.float32), 2.0)\n",
        _SCALE + "packet = np.zeros(2 + 1024, np.uint8)  # a header of two bytes, then 256 numbers\n"
        "scale[2](packet[2:].copy().view(np.float32), 2.0)\n",
    ),
    "R046": (
        _SCALE + 'scale[2](np.ones(256, np.float32), "2")\n',
        _SCALE + 'scale[2](np.ones(256, np.float32), float("2"))\n',
    ),
    "R047": (
        _FILL + "fill[1](x, 3_000_000_000)\n",
        _FILL + "fill[1](x, 2_000_000_000)\n",
    ),
    "R048": (
        _SCALE + "x = np.broadcast_to(np.float32(1), 256).copy()\nx.flags.writeable = False\nscale[2](x, 2.0)\n",
        _SCALE + "x = np.broadcast_to(np.float32(1), 256).copy()\nscale[2](x, 2.0)\n",
    ),
    "R049": (
        _SCALE + _RELEASED + "x.released = True\nscale[2](x, 2.0)\n",
        _SCALE + _RELEASED + "scale[2](x, 2.0)\nx.released = True\n",
    ),
    "R060": (
        _SCALE + "x = np.ones(100, np.float32)\nscale[x.size // 128](x, 2.0)\n",
        _SCALE + "x = np.ones(256, np.float32)\nscale[x.size // 128](x, 2.0)\n",
    ),
    "R061": (
        _PAIR + "ranks[63](x)\n",
        _PAIR + "ranks[64](x)\n",
    ),
    "R062": (
        _SCALE + "scale.launch(32, (np.ones(32 * 128, np.float32), 2.0), cluster=32)\n",
        _SCALE + "scale.launch(32, (np.ones(32 * 128, np.float32), 2.0), cluster=8)\n",
    ),
    "R067": (
        _SCALE + 'scale.launch(2, (np.ones(256, np.float32), 2.0), device="gpu")\n',
        _SCALE + 'scale.launch(2, (np.ones(256, np.float32), 2.0), device="simulator")\n',
    ),
    "R091": (
        _PAIR + "from fa4dsl.runtime.autotune import autotune\n\nautotune([9, 21, 63], lambda grid: ranks.launch(grid, [x]).seconds)\n",
        _PAIR + "from fa4dsl.runtime.autotune import autotune\n\nautotune([8, 20, 64], lambda grid: ranks.launch(grid, [x]).seconds)\n",
    ),
}
