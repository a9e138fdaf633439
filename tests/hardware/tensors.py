"""Programs of tiled tensor copies: loads, stores and reductions of random rank, box, strides, swizzle and place, in and out of bounds."""

from __future__ import annotations

from dataclasses import dataclass

from hardware.builder import Builder
from hardware.memory import wait
from hardware.program import Program

TYPES = {"uint8": 1, "uint16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
_REDUCTIONS = {
    "int32": ("add", "min", "max", "and", "or", "xor"),
    "uint32": ("add", "min", "max", "inc", "dec", "and", "or", "xor"),
    "uint64": ("add", "min", "max", "and", "or", "xor"),
    "float16": ("add", "min", "max"),
    "bfloat16": ("add", "min", "max"),
    "float32": ("add",),
    "float64": ("add",),
}
_FLAVOUR = {"float16": "f16x2", "bfloat16": "bf16x2", "float32": "f32", "float64": "f64"}
LIMIT = 8192


@dataclass
class Shape:
    """A tensor and its box, innermost first."""

    dtype: str
    element: int
    sizes: list[int]
    strides: list[int]
    box: list[int]
    element_strides: list[int]
    swizzle: str

    @property
    def taken(self) -> list[int]:
        """Elements that one box takes along each dimension."""
        return [-(-box // stride) for box, stride in zip(self.box, self.element_strides, strict=True)]

    @property
    def box_bytes(self) -> int:
        total = self.element
        for count in self.taken:
            total *= count
        return total

    @property
    def tile_bytes(self) -> int:
        """Shared memory that a box takes: rows narrower than the swizzle's span begin a span each."""
        row = self.taken[0] * self.element
        return self.box_bytes // row * max(row, 0 if self.swizzle == "none" else int(self.swizzle[:-1]))

    @property
    def tensor_bytes(self) -> int:
        """From the first byte to beyond the last."""
        if len(self.sizes) == 1:
            return -(-self.sizes[0] * self.element // 16) * 16
        return self.strides[-1] * self.sizes[-1]


def _shape(builder: Builder, dtypes: dict[str, int]) -> Shape:
    draw = builder.random
    while True:
        dtype = draw.choice(list(dtypes))
        element, rank = dtypes[dtype], draw.randint(1, 5)
        swizzle = draw.choice(["none", "32B", "64B", "128B"])
        span = 256 * element if swizzle == "none" else int(swizzle[:-1])
        unit = 16 // element if element < 16 else 1
        narrow = swizzle != "none" and draw.random() < 0.3
        columns = span // element // unit
        first = unit * (draw.randint(1, columns) if narrow or swizzle == "none" else columns)
        box = [first] + [draw.choice([1, 1, 2, 3, 4, 5, 8, 16]) for _ in range(rank - 1)]
        strides_of = [1] + [draw.choice([1, 1, 1, 2, 3]) for _ in range(rank - 1)]
        sizes = [draw.randint(1, max(2, first * 2))] + [draw.randint(1, 9) for _ in range(rank - 1)]
        strides, row = [], -(-sizes[0] * element // 16) * 16
        for size in sizes[1:]:
            row += 16 * draw.choice([0, 0, 0, 1, 2])
            strides.append(row)
            row *= size
        shape = Shape(dtype, element, sizes, strides, box, strides_of, swizzle)
        if first <= 256 and shape.tile_bytes <= LIMIT // 2 and shape.tensor_bytes <= 16384 and max(box) <= 256:
            return shape


def _map(builder: Builder, shape: Shape, buffer: str, offset: int, fill: str) -> str:
    """Adds the map; returns a register with its generic address."""
    index = len(builder.maps)
    builder.maps.append(
        {
            "buffer": buffer,
            "dtype": shape.dtype,
            "sizes": shape.sizes,
            "strides_bytes": shape.strides,
            "box": shape.box,
            "element_strides": shape.element_strides,
            "swizzle": shape.swizzle,
            "oob_fill": fill,
            "offset": offset,
        }
    )
    register = builder.fresh(64)
    builder.say(f"mov.u64 {register}, map{index}; cvta.param.u64 {register}, {register};")
    return register


def _coordinates(builder: Builder, shape: Shape, negative: bool) -> str:
    draw = builder.random
    unit = 16 // shape.element
    found = []
    for index, (size, box) in enumerate(zip(shape.sizes, shape.box, strict=True)):
        low = -box - 1 if negative and draw.random() < 0.4 else 0
        value = draw.randint(low, max(size, 1) + 1)
        found.append(value // unit * unit if index == 0 else value)
    return ", ".join(map(str, found))


def tensors(name: str, seed: int) -> Program:
    """One map, used by up to three copies of one direction."""
    builder = Builder(name, "tensor", seed, block=64)
    draw = builder.random
    direction = draw.choice(["load", "load", "store", "reduce"])
    dtypes = TYPES
    if direction == "reduce":
        dtypes = {name: 2 if "16" in name else 8 if "64" in name else 4 for name in _REDUCTIONS}
    shape = _shape(builder, dtypes)
    fill = draw.choice(["zero", "nan"]) if "float" in shape.dtype and direction == "load" else "zero"
    flavour = _FLAVOUR.get(shape.dtype, "i32")
    builder.declarations.append(f"\t.shared .align 1024 .b8 tile{name}[{LIMIT}]; .shared .align 8 .b64 bar{name};")
    tile, bar, first, index, more = builder.fresh(32), builder.fresh(32), builder.fresh(1), builder.fresh(32), builder.fresh(1)
    builder.say(f"mov.u32 {tile}, tile{name}; mov.u32 {bar}, bar{name}; setp.eq.u32 {first}, {builder.lane_index}, 0;")
    builder.say(f"@{first} mbarrier.init.shared.b64 [{bar}], 1;")
    # fill the tile
    source = builder.reserve(flavour, LIMIT // (8 if flavour == "f64" else 4))
    place, address, value, top = builder.fresh(32), builder.fresh(64), builder.fresh(32), builder.label()
    builder.say(f"mul.lo.u32 {index}, {builder.lane_index}, 4;")
    builder.say(f"{top}: cvt.u64.u32 {address}, {index}; add.u64 {address}, {address}, {builder.x}; add.u32 {place}, {index}, {tile};")
    builder.say(f"ld.global.b32 {value}, [{address}+{source}]; st.shared.b32 [{place}], {value};")
    builder.say(f"add.u32 {index}, {index}, {4 * builder.block}; setp.lt.u32 {more}, {index}, {LIMIT}; @{more} bra {top};")
    # a box off the swizzle's period, or rows narrower than its span, is legal but not what one means: no checks then
    period = {"none": 128, "32B": 256, "64B": 512, "128B": 1024}[shape.swizzle]
    off = draw.random() < 0.25
    narrow = shape.swizzle != "none" and shape.box[0] * shape.element < int(shape.swizzle[:-1])
    builder.check = not (off or narrow)
    at = (128 if off else period) * draw.randrange((LIMIT - shape.tile_bytes) // 1024 + 1)
    rank = len(shape.sizes)
    target = builder.fresh(32)
    if direction == "load":
        size = max(shape.tensor_bytes, 16)
        start = builder.reserve(flavour, size // (8 if flavour == "f64" else 4))
        pointer = _map(builder, shape, "x", start, fill)
        builder.say("fence.proxy.async; bar.sync 0;")
        for round_number in range(draw.randint(1, 2)):
            builder.say(f"add.u32 {target}, {tile}, {at};")
            space = draw.choice(["shared::cluster", "shared::cta"])
            line = builder.say(
                f"@{first} mbarrier.arrive.expect_tx.shared::cta.b64 _, [{bar}], {shape.box_bytes}; @{first} cp.async.bulk.tensor.{rank}d.{space}.global"
                f".tile.mbarrier::complete_tx::bytes [{target}], [{pointer}, {{{_coordinates(builder, shape, True)}}}], [{bar}];"
            )
            wait(builder, bar, str(round_number & 1))
            builder.dump_shared(tile, LIMIT, f"{direction} {shape}", line)
            builder.say("fence.proxy.async; bar.sync 0;")
        return builder.finish()
    start = builder.output(16, shape.tensor_bytes // 16 + 1)
    if direction == "reduce":
        where = builder.fresh(64)
        builder.say(f"add.u64 {where}, {builder.o}, {start};")
        builder.fill_global(where, shape.tensor_bytes, flavour.replace("f64", "finite_f64"))
    pointer = _map(builder, shape, "o", start, "zero")
    builder.say(f"fence.proxy.async; bar.sync 0; add.u32 {target}, {tile}, {at};")
    line = 0
    for _ in range(draw.randint(1, 3) if direction == "store" else 1):
        operation = f".{draw.choice(_REDUCTIONS[shape.dtype])}" if direction == "reduce" else ""
        name_of = "cp.reduce.async.bulk.tensor" if operation else "cp.async.bulk.tensor"
        line = builder.say(
            f"@{first} {name_of}.{rank}d.global.shared::cta{operation}.tile.bulk_group [{pointer}, {{{_coordinates(builder, shape, False)}}}], [{target}]; "
            f"@{first} cp.async.bulk.commit_group; @{first} cp.async.bulk.wait_group 0;"
        )
    builder.remember(start, 4, shape.tensor_bytes // 4, line, f"{direction} {shape}")
    return builder.finish()
