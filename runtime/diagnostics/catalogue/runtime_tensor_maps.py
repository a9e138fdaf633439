"""Diagnostics of tensor maps (R020 to R039)."""

from fa4dsl.runtime.diagnostics.entry import Entry

_SOURCE = (
    "The rule is the hardware descriptor's own (cuTensorMapEncodeTiled); the driver would refuse it with a bare CUDA_ERROR_INVALID_VALUE."
)
_TILED = "from fa4dsl.runtime import tiled\nimport numpy as np\n"
_STORE = """import numpy as np
from fa4dsl import TensorMap, block, f32, kernel, shared, static_range, thread, tma

@kernel(threads=64)
def fill(left: TensorMap) -> None:
    tile = shared(f32, (8, 64))
    for row in static_range(8):
        tile[row, thread.index()] = 1.0
    block.sync()
    with thread(0):
        left.store(tile, (0, 0))
        tma.commit_and_wait()

both = np.zeros((8, 128), np.float32)
fill[1](both[:, :{columns}])
"""

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "R020",
        "A tensor map has one to five dimensions",
        "{name}: a tensor map has 1 to 5 dimensions, got {rank}",
        "merge neighbouring dimensions that are contiguous, for example with array.reshape(...)",
        _SOURCE,
        failing=_TILED + "tiled(np.zeros((1, 1, 1, 1, 1, 16), np.float32), (16, 1, 1, 1, 1, 1))",
        fixed=_TILED + "tiled(np.zeros((1, 1, 1, 1, 16), np.float32), (16, 1, 1, 1, 1))",
    ),
    Entry(
        "R021",
        "A tensor map's size is out of range",
        "{name}: dimension {dimension} (counted from the innermost, 0) has {size} elements; 1 to 4294967296 are possible",
        "give the dimension at least one element, or leave an empty array's launch out",
        _SOURCE,
        failing=_TILED + "tiled(np.zeros((0, 16), np.float32), (16, 8))",
        fixed=_TILED + "tiled(np.zeros((8, 16), np.float32), (16, 8))",
    ),
    Entry(
        "R022",
        "A tensor map's stride breaks the 16-byte rule",
        "{name}: dimension {dimension} (counted from the innermost, 0) has a stride of {stride} bytes ({elements} elements); it must be a positive "
        "multiple of {unit} bytes below 2^40",
        "pad the rows to a multiple of {unit} bytes, or copy the array into one that has such rows",
        "TMA moves 16-byte units, so every row, plane and so on must start at a multiple of 16 bytes from the base. " + _SOURCE,
        failing=_TILED + "tiled(np.zeros((8, 30), np.float32), (4, 8))",
        fixed=_TILED + "tiled(np.zeros((8, 32), np.float32), (4, 8))",
    ),
    Entry(
        "R023",
        "A box is out of range",
        "{name}: the box has {extent} elements in dimension {dimension} (counted from the innermost, 0); 1 to 256 are possible",
        "copy in several smaller boxes",
        _SOURCE,
        failing=_TILED + "tiled(np.zeros((512, 32), np.float32), (32, 512))",
        fixed=_TILED + "tiled(np.zeros((512, 32), np.float32), (32, 256))",
    ),
    Entry(
        "R024",
        "A box's row is no multiple of 16 bytes",
        "{name}: the box has {extent} elements of {dtype} in dimension 0 (the innermost), {size} bytes; it must be a multiple of 16 bytes",
        "make the box's innermost extent a multiple of {step} elements",
        _SOURCE,
        failing=_TILED + "tiled(np.zeros((8, 32), np.float32), (3, 8))",
        fixed=_TILED + "tiled(np.zeros((8, 32), np.float32), (4, 8))",
    ),
    Entry(
        "R025",
        "A box's row is wider than the swizzle",
        "{name}: the box has {extent} elements of {dtype} in dimension 0 (the innermost), {size} bytes; swizzle {swizzle} permutes within fewer",
        "copy boxes of at most {most} elements a row, or choose a wider swizzle or none",
        "A swizzle of 32, 64 or 128 bytes permutes 16-byte chunks within rows of that size, so a box's row may not be wider. " + _SOURCE,
        failing=_TILED + 'tiled(np.zeros((8, 64), np.float32), (64, 8), "128B")',
        fixed=_TILED + 'tiled(np.zeros((8, 64), np.float32), (32, 8), "128B")',
    ),
    Entry(
        "R026",
        "An element stride is out of range",
        "{name}: the element stride of dimension {dimension} (counted from the innermost, 0) is {stride}; 1 to 8 are possible",
        "use an element stride from 1 to 8, or a view with a larger stride as the array",
        _SOURCE,
        failing=_TILED + "tiled(np.zeros((64, 16), np.float32), (16, 64), element_strides=(1, 16))",
        fixed=_TILED + "tiled(np.zeros((64, 16), np.float32), (16, 64), element_strides=(1, 8))",
    ),
    Entry(
        "R027",
        "A tensor map's fields do not fit its rank",
        "{name}: {what} needs {needed} entries for rank {rank}, got {got}",
        "give one entry for each dimension, innermost first (strides_bytes: one fewer, for dimension 0 is dense)",
        "Box and element strides have one entry for each dimension of the array, in the hardware's order, innermost first: the reverse of `shape`.",
        failing=_TILED + "tiled(np.zeros((8, 32), np.float32), (32,))",
        fixed=_TILED + "tiled(np.zeros((8, 32), np.float32), (32, 8))",
    ),
    Entry(
        "R028",
        "A tensor map's base is misaligned",
        "{name}: the base address {address} must be a multiple of {unit} bytes (rest {rest})",
        "start the array at a multiple of {unit} bytes: slice by whole rows, or copy the slice",
        _SOURCE,
    ),
    Entry(
        "R029",
        "NaN fill needs a floating-point type",
        "{name}: out-of-bounds NaN fill is not possible for {dtype}",
        'use oob_fill="zero", or a map of f16, bf16, f32 or f64',
        "The descriptor can fill elements outside the array with NaN for the floating-point types that it knows; fp8 travels as raw bytes. "
        + _SOURCE,
        failing=_TILED + 'tiled(np.zeros((8, 32), np.int32), (32, 8), oob_fill="nan")',
        fixed=_TILED + 'tiled(np.zeros((8, 32), np.float32), (32, 8), oob_fill="nan")',
    ),
    Entry(
        "R030",
        "The innermost dimension is not dense",
        "{name}: the innermost dimension has a stride of {stride} bytes, its elements are {size}",
        "use an array whose last dimension is contiguous, for example array.contiguous() or numpy.ascontiguousarray(array)",
        "A tensor map has no stride for its innermost dimension: neighbours must lie side by side. " + _SOURCE,
        failing=_TILED + "tiled(np.zeros((32, 8), np.float32).T, (32, 8))",
        fixed=_TILED + "tiled(np.ascontiguousarray(np.zeros((32, 8), np.float32).T), (32, 8))",
    ),
    Entry(
        "R031",
        "Interleave has rules of its own",
        "{name}: {problem}",
        'leave interleave at "none" unless the array is in an interleaved channel layout',
        "Interleaved layouts (NC/8HWC8, NC/16HWC16) need rank 3 or more, and the 32-byte one the 32-byte swizzle. " + _SOURCE,
    ),
    Entry(
        "R032",
        "The array does not fit a ragged map",
        "{name} cannot be stored through a ragged map: {problem}",
        "pass [rows, heads, depth] (with a group: [rows, heads, group, depth]) without gaps between heads",
        "A ragged map walks sequence rows and heads as one merged dimension while another dimension of the same stride clips the tile. Both work only "
        "if rows and heads have one common stride.",
    ),
    Entry(
        "R033",
        "A ragged map's rows do not fit its group",
        "{name}: {rows} rows cannot be shared by a group of {group}",
        "use at least one row and a multiple of the group",
        "With fused query heads a tile of `rows` rows holds `rows / group` positions of the sequence.",
        failing="from fa4dsl.runtime import ragged\nimport numpy as np\nragged(np.zeros((10, 2, 3, 64), np.float32), 64, 4, group=3)",
        fixed="from fa4dsl.runtime import ragged\nimport numpy as np\nragged(np.zeros((10, 2, 4, 64), np.float32), 64, 4, group=4)",
    ),
    Entry(
        "R034",
        "The tensor map is not the one the kernel was compiled for",
        "{name}: the kernel expects {what} {expected}, the map has {got}",
        "make the map as the kernel's parameter describes it, or pass the plain array and let the launch make the map",
        "The kernel computes shared-memory addresses and transaction bytes from the box, type and swizzle it was compiled with. A map with others would "
        "move other bytes: wrong numbers or a hang.",
    ),
    Entry(
        "R035",
        "The driver refused the tensor map",
        "the driver refused the tensor map of {name} ({status}): {fields}",
        "this is beyond the rules checked before; report it with the numbers above",
        "All documented rules are checked before the driver is asked, so a refusal means that this driver or GPU has one more.",
    ),
    Entry(
        "R036",
        "A tensor map's keyword is not known",
        "{name}: {what} cannot be {got}; it is one of {words}",
        "use one of the words above",
        "The words are those of the PTX ISA's tensor chapter.",
        failing=_TILED + 'tiled(np.zeros((8, 32), np.float32), (32, 8), "96B")',
        fixed=_TILED + 'tiled(np.zeros((8, 32), np.float32), (32, 8), "128B")',
    ),
    Entry(
        "R037",
        "A TMA store overwrites what follows a row",
        "{name}: a row has {extent} x {dtype} = {row} bytes, no multiple of 16, and a TMA store that reaches a row's end overwrites the "
        "{rest} bytes behind it",
        "give the rows a length that is a multiple of 16 bytes, or write the last columns with plain stores; where those bytes are padding "
        "of your own, the warning may be filtered",
        "TMA clips a store at the end of a row by whole 16-byte chunks: a row of 12 valid bytes writes 16 (measured on an H200). Loads are "
        "exact. If the tensor is a slice of a wider one, its neighbour's first columns are lost.",
        severity="warning",
        failing=_STORE.format(columns=50),
        fixed=_STORE.format(columns=52),
    ),
)
