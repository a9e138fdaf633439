"""Diagnostics of the resource and TMA checks."""

from fa4dsl.runtime.diagnostics.catalogue import mlir_examples as m
from fa4dsl.runtime.diagnostics.entry import Entry

_ONE = (m.barrier("full"), m.init("full"), m.sync())


def _parameters(dtype: str, box: tuple[int, ...], swizzle: str = "none", rank: int | None = None) -> str:
    sizes = ", ".join(map(str, box))
    fields = f'dtype = "{dtype}", rank = {len(box) if rank is None else rank} : i64, box = array<i64: {sizes}>, swizzle = "{swizzle}"'
    return f', fa4.parameters = [{{name = "tiles", kind = "tensor_map", dtype = "{dtype}", tensor_map = {{{fields}}}}}]'


def _tma(array: str, size: int, parameters: str, coordinates: int = 2, offset: str = "%c0") -> str:
    """Thread 0 loads one box into `tile`."""
    values, types = ", ".join(["%c0"] * coordinates), ", ".join(["i32"] * coordinates)
    load = f'"fa4.tma_load"(%tiles, %tile, {offset}, %full, %c0, {values}) {{bytes = {size} : i64}} : (!fa4.tensor_map, !fa4.shared, i32, !fa4.mbarrier, i32, {types}) -> ()'
    body = (f"%bytes = arith.constant {size} : i32", m.when("%first", m.arrive_expect("full", "%bytes"), load), m.wait("full"))
    return m.kernel(array, *_ONE, *body, arguments="%tiles: !fa4.tensor_map", attributes=parameters)


def _setmaxnreg(count: int, direction: str) -> str:
    return f'"fa4.set_max_registers"() {{count = {count} : i64, direction = "{direction}"}} : () -> ()'


_ROW = m.array("tile", 8, 64, dtype="bf16", alignment=1024, swizzle="128B")
_PLAIN = m.array("tile", 8, 64, dtype="bf16", alignment=128)
_GOOD = _tma(_ROW, 1024, _parameters("bf16", (64, 8), "128B"))
_GOOD_PLAIN = _tma(_PLAIN, 1024, _parameters("bf16", (64, 8)))


def _store(name: str) -> str:
    return f'%at_{name} = "fa4.shared_address"(%{name}, %c0) : (!fa4.shared, i32) -> !llvm.ptr<3>\nllvm.store %thread, %at_{name} : i32, !llvm.ptr<3>'


def _read(name: str) -> str:
    return f"%from_{name} = llvm.load %at_{name} : !llvm.ptr<3> -> i32"


_UNDER = (m.array("scores", 128), m.array("output", 128, more=', overlay = "scores"'))

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "C140",
        "Too many threads",
        "kernel {kernel} has {threads} threads a CTA; {limit} is the most",
        "use at most {limit} threads",
        "A CTA lives on one SM, which holds no larger one. The launch would be refused.",
        failing=m.kernel(threads=2048),
        fixed=m.kernel(threads=1024),
    ),
    Entry(
        "C141",
        "Cluster too large for the target",
        "kernel {kernel} has a cluster of {size} CTAs; {target} has at most {limit}",
        "use at most {limit} CTAs, or split the work over two clusters",
        "The CTAs of a cluster run together on one group of SMs, which bounds their number.",
        failing=m.kernel(cluster=32),
        fixed=m.kernel(cluster=8),
    ),
    Entry(
        "C142",
        "A cluster larger than is portable",
        "kernel {kernel} has a cluster of {size} CTAs: more than {portable} needs a card (and a free group of SMs) that allows it",
        "nothing is wrong; the launch opts in, and fails on a card that cannot hold such a cluster",
        "Eight CTAs are guaranteed everywhere. Sixteen need the non-portable attribute, which the runtime sets, and enough SMs in one group.",
        severity="review",
        failing=m.kernel(cluster=16),
        fixed=m.kernel(cluster=8),
    ),
    Entry(
        "C143",
        "An alignment too small for the swizzle",
        "array {array!r} asks for {alignment}-byte alignment, and swizzle {swizzle} needs {needed}",
        "align the array to {needed} bytes, or leave the alignment out",
        "A swizzle permutes 16-byte chunks by bits of the shared address. A tile that does not start on the pattern's period (256, 512, 1024 bytes for 32B, 64B, 128B) is permuted differently from "
        "what its readers assume: wrong numbers, no fault.",
        failing=m.kernel(m.array("tile", 64, 64, dtype="bf16", alignment=512, swizzle="128B")),
        fixed=m.kernel(m.array("tile", 64, 64, dtype="bf16", alignment=1024, swizzle="128B")),
    ),
    Entry(
        "C144",
        "An overlay begins while the array under it is in use",
        "{array!r} lies over {under!r} and is first used before the last use of {under!r}",
        "use the overlay only after the last use of {under!r} (with a barrier between), or give it memory of its own",
        "An overlay shares memory with an earlier array whose contents must be dead. In program order their uses interleave here; whether they really meet, the simulator tells.",
        severity="review",
        failing=m.kernel(*_UNDER, _store("scores"), _store("output"), _read("scores")),
        fixed=m.kernel(*_UNDER, _store("scores"), _read("scores"), m.sync(), _store("output")),
    ),
    Entry(
        "C145",
        "setmaxnreg in the wrong direction",
        "set_max_registers {direction}s to {count}, and the threads have {current}",
        "{right} instead, or choose another count",
        "setmaxnreg.inc needs a count not below the present one, setmaxnreg.dec one not above it; else the result is undefined. At launch a thread has what the launch bounds leave it.",
        failing=m.kernel(m.role("producer", 0, 4, _setmaxnreg(40, "increase")), threads=384),
        fixed=m.kernel(m.role("producer", 0, 4, _setmaxnreg(40, "decrease")), threads=384),
    ),
    Entry(
        "C146",
        "More registers than the CTA has",
        "the registers set by hand sum to {total} ({listed}), and the CTA has {pool} ({threads} threads x {launch} at launch)",
        "lower the counts until the sum fits {pool}",
        "setmaxnreg.inc waits until the CTA's pool can give the registers, and the pool holds only what was allocated at launch. A sum above it waits for ever.",
        failing=m.kernel(
            m.role("producer", 0, 4, _setmaxnreg(160, "decrease")), m.role("consumer", 4, 8, _setmaxnreg(240, "increase")), threads=384
        ),
        fixed=m.kernel(
            m.role("producer", 0, 4, _setmaxnreg(24, "decrease")), m.role("consumer", 4, 8, _setmaxnreg(240, "increase")), threads=384
        ),
    ),
    Entry(
        "C160",
        "A tensor map's rank",
        "tensor map {map!r} has rank {rank} and the box {box}; a rank is 1 to 5, and the box has as many entries",
        "fold dimensions until at most 5 are left, and give one box extent for each",
        "cuTensorMapEncodeTiled takes 1 to 5 dimensions.",
        failing=_tma(_PLAIN, 1024, _parameters("bf16", (64, 8, 1, 1, 1, 1))),
        fixed=_GOOD_PLAIN,
    ),
    Entry(
        "C161",
        "Coordinates do not match the map's rank",
        "tensor map {map!r} has rank {rank}, and the copy gives {coordinates} coordinates",
        "give one coordinate for each dimension, innermost first",
        "The copy instruction names the number of dimensions; it must be the map's.",
        failing=_tma(_PLAIN, 1024, _parameters("bf16", (64, 8)), coordinates=3),
        fixed=_GOOD_PLAIN,
    ),
    Entry(
        "C162",
        "A box extent outside 1 to 256",
        "tensor map {map!r}: the box has extent {extent} in dimension {dimension}; 1 to 256 is legal",
        "load the tile with several boxes of at most 256 elements a dimension",
        "boxDim entries of a tensor map are at most 256.",
        failing=_tma(m.array("tile", 512, 8, alignment=128), 16384, _parameters("f32", (8, 512))),
        fixed=_tma(m.array("tile", 256, 8, alignment=128), 8192, _parameters("f32", (8, 256))),
    ),
    Entry(
        "C163",
        "The box's rows are no multiple of 16 bytes",
        "tensor map {map!r}: a row of the box has {extent} x {dtype} = {inner} bytes, which is no multiple of 16",
        "widen the box's innermost extent until its row is a multiple of 16 bytes",
        "TMA moves 16-byte units; the innermost box extent times the element size must be a multiple of 16.",
        failing=_tma(m.array("tile", 8, 4, dtype="bf16", alignment=128), 64, _parameters("bf16", (4, 8))),
        fixed=_tma(m.array("tile", 8, 8, dtype="bf16", alignment=128), 128, _parameters("bf16", (8, 8))),
    ),
    Entry(
        "C164",
        "The box's rows are not the swizzle's span",
        "tensor map {map!r}: a row of the box has {inner} bytes, and swizzle {swizzle} spans {span}",
        "make the innermost extent {most} elements and load several boxes for more, or choose another swizzle",
        "A swizzle permutes 16-byte chunks within a row of its span; a wider row has no defined place, and a narrower one takes a whole span "
        "of shared memory each, more than the box's bytes (measured on an H200).",
        failing=_tma(m.array("tile", 8, 128, dtype="bf16", alignment=1024, swizzle="128B"), 2048, _parameters("bf16", (128, 8), "128B")),
        fixed=_GOOD,
    ),
    Entry(
        "C165",
        "The copy's bytes are not its box",
        "tensor map {map!r}: the copy says {given} bytes, and its box of {box} {dtype} has {moved}",
        "say bytes = {moved}",
        "A tensor copy moves, and counts on the barrier, the whole box, also where it lies outside the tensor.",
        failing=_tma(_PLAIN, 512, _parameters("bf16", (64, 8))),
        fixed=_GOOD_PLAIN,
    ),
    Entry(
        "C166",
        "The map's swizzle is not the array's",
        "tensor map {map!r} writes with swizzle {template}, and array {array!r} is read with swizzle {swizzle}",
        "give the map and the array one swizzle",
        "The map decides where each 16-byte chunk of a row lands; whoever reads the array must undo the same permutation.",
        failing=_tma(_ROW, 1024, _parameters("bf16", (64, 8), "64B").replace("64, 8", "32, 16")),
        fixed=_GOOD,
    ),
    Entry(
        "C167",
        "The descriptor's swizzle is not the array's",
        "wgmma reads array {array!r} with swizzle {reads}, and the array has swizzle {swizzle}",
        "give the descriptor the array's swizzle",
        "The matrix descriptor names the permutation of the tile that it reads. The numbers of the modes differ between tensor maps and descriptors; the dialect uses names for both.",
        failing=m.kernel(
            m.array("tile", 64, 64, dtype="bf16", alignment=1024, swizzle="128B"), m.multiply("tile", swizzle="64B"), m.multiply_wait()
        ),
        fixed=m.kernel(m.array("tile", 64, 64, dtype="bf16", alignment=1024, swizzle="128B"), m.multiply("tile"), m.multiply_wait()),
    ),
    Entry(
        "C168",
        "A copy to a place that is not aligned",
        "{operation} at byte {offset} of {array!r} (swizzle {swizzle}): the place must be a multiple of {period}",
        "put the tile at a multiple of {period} bytes (make a ring's slot a multiple of it)",
        "Tensor copies need 128-byte, bulk copies 16-byte aligned shared addresses; a swizzled tile must start on its pattern's period, or its readers see another permutation.",
        failing=_tma(
            m.array("tile", 16, 64, dtype="bf16", alignment=1024, swizzle="128B"),
            1024,
            _parameters("bf16", (64, 8), "128B"),
            offset="%c512",
        ),
        fixed=_GOOD,
    ),
    Entry(
        "C169",
        "A copy beyond the array",
        "{operation} covers bytes {start} to {end} of {array!r}, which has {limit}",
        "make the array larger, or the copy smaller",
        "What lies behind the array belongs to another object.",
        failing=_tma(m.array("tile", 4, 64, dtype="bf16", alignment=128), 1024, _parameters("bf16", (64, 8))),
        fixed=_GOOD_PLAIN,
    ),
)
