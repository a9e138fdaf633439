"""ld, st, ldu and their qualifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fa4dsl.runtime.ptx.instruction import Address, Instruction, Operand, Register, Sink, Symbol, Vector
from fa4dsl.runtime.ptx.module import TYPE_BYTES
from fa4dsl.runtime.simulator.access import Generic, Resolver, Target, pieces
from fa4dsl.runtime.simulator.decoder import WIDTH_DTYPE, Decoder, handles
from fa4dsl.runtime.simulator.program import Step
from fa4dsl.runtime.simulator.selection import Ints, Row, Selection

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.simulator.events import Access, Order, Scope

_SPACES = {
    "global": "global",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared::cluster",
    "local": "local",
    "const": "const",
    "param": "param",
}
_ORDERS = {"weak", "relaxed", "acquire", "release", "volatile", "mmio", "acq_rel", "sc"}
_SCOPES = {"cta", "cluster", "gpu", "sys"}
_IGNORED_PREFIXES = ("L1::", "L2::", "unified")
_IGNORED = {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "uniform"}


@dataclass(frozen=True)
class MemoryWords:
    """The modifiers of a memory instruction."""

    space: str | None
    order: Order
    scope: Scope
    vector: int
    type: str
    rest: tuple[str, ...]
    cache_hint: bool


def memory_words(decoder: Decoder, instruction: Instruction, default_order: Order = "weak", default_scope: Scope = "sys") -> MemoryWords:
    """Reads space, order, scope, vector and type from the mnemonic; other words are left in `rest`."""
    space: str | None = None
    order: Any = default_order
    scope: Any = default_scope
    vector, kind, hint = 1, "", False
    rest: list[str] = []
    for word in instruction.modifiers:
        base = word.split("::")[0]
        if word in _SPACES or (base == "param" and word.startswith("param::")):
            space = _SPACES.get(word, "param")
        elif word in _ORDERS:
            order = "relaxed" if word == "mmio" else word
        elif word in _SCOPES:
            scope = word
        elif word in ("v2", "v4", "v8"):
            vector = int(word[1:])
        elif word == "L2::cache_hint":
            hint = True
        elif word in TYPE_BYTES and word != "pred":
            kind = word
        elif word in _IGNORED or word.startswith(_IGNORED_PREFIXES):
            continue
        else:
            rest.append(word)
    if not kind:
        decoder.unknown(instruction)
    if vector * TYPE_BYTES[kind] > 16:
        decoder.unknown(instruction)
    if order == "volatile":
        scope = "sys"
    return MemoryWords(space, order, scope, vector, kind, tuple(rest), hint)


def make_target(
    decoder: Decoder, instruction: Instruction, operand: Operand, space: str | None, size: int, alignment: int | None = None
) -> Target:
    """The resolver of an address operand."""
    row, offset = decoder.address(instruction, operand)
    named = decoder.address_space(instruction, operand)
    if space is None and named is not None and named != "global":
        # an unqualified access by name goes to the variable's own space
        space = {"shared": "shared", "local": "local", "const": "const", "param": "param"}[named]
    if space == "param":
        space = "const" if decoder.function.entry and (named is None or _is_kernel_parameter(decoder, operand)) else "local"
    if space is None:
        return Generic(decoder.machine, instruction, row, offset, size, alignment)
    return Resolver(decoder.machine, instruction, space, row, offset, size, alignment)


def _is_kernel_parameter(decoder: Decoder, operand: Operand) -> bool:
    return isinstance(operand, Address) and isinstance(operand.base, Symbol) and decoder.is_kernel_parameter(operand.base.name)


def watch(
    decoder: Decoder, instruction: Instruction, access: Access, order: Order, scope: Scope, element: int, count: int = 1
) -> Callable[..., None]:
    """A function that tells the checker, the shadow and the measures about an access of `count` elements at each of the offsets."""
    machine = decoder.machine
    checker, measures = machine.checker, machine.measures
    grid = machine.grid
    size = element * count
    # Unoptimised code copies objects whose padding, or all of which, is never written: only a value that is computed with can do harm.
    copied = access == "read" and element == size and _only_copied(decoder, instruction)

    def tell(resolver: Resolver, threads: Selection, offsets: Ints, values: Callable[[], Any] | None = None) -> None:
        space = resolver.event_space
        if measures is not None:
            measures.access(instruction, resolver, threads, offsets, size, access)
        arena = resolver.arena
        if arena.written is not None:
            if access != "write" and not (copied and resolver.event_space is None):
                _look_for_unwritten(machine, instruction, resolver, threads, offsets, size)
            if access != "read":
                arena.mark(offsets, size)
        if checker is None or space is None:
            return
        remote = resolver.space == "shared::cluster"
        if remote and isinstance_generic(resolver):
            remote = bool((offsets // grid.shared_stride != grid.cta[threads]).any())
        numbers = grid.event_thread[threads]
        addresses = offsets + resolver.event_base()
        # a vector is a set of scalar accesses of at most 64 bits
        checker.access(instruction, numbers, space, addresses, size, access, order, scope, remote, values)

    return tell


def isinstance_generic(resolver: Resolver) -> bool:
    """Whether the resolver belongs to a generic address (its offset then carries the window)."""
    return resolver.offset < -(1 << 32)


def _only_copied(decoder: Decoder, instruction: Instruction) -> bool:
    """Whether the loaded value is only stored again, somewhere outside global memory."""
    target = instruction.operands[0] if instruction.operands else None
    return isinstance(target, Register) and target.name not in decoder.computed_with()


def _look_for_unwritten(machine: Any, instruction: Instruction, resolver: Resolver, threads: Selection, offsets: Ints, size: int) -> None:
    written = resolver.arena.written
    assert written is not None
    if size in (1, 2, 4, 8):
        view = written.views[size]
        bad = view[offsets >> (size.bit_length() - 1)] != view.dtype.type((1 << 8 * size) - 1)
    else:
        bad = ~written.bytes[offsets[:, None] + np.arange(size)].all(axis=1)
    if bad.any():
        index = int(np.flatnonzero(bad)[0])
        thread = int(machine.grid.arange[threads][index])
        machine.note("S101", instruction, thread, size=size, space=resolver.space, address=hex(int(resolver.values(threads)[index])))


def needs_watch(decoder: Decoder, target: Target) -> bool:
    """Whether anybody wants to know about accesses through `target`."""
    machine = decoder.machine
    if isinstance(target, Resolver) and target.space == "const":
        return False
    return machine.checker is not None or machine.measures is not None


def _hint_count(words: MemoryWords) -> int:
    return 1 if words.cache_hint else 0


@handles("ld", "ldu")
def load(decoder: Decoder, instruction: Instruction) -> Step:
    """``ld{.weak|.relaxed|.acquire|.volatile|.mmio}{.scope}{.space}{.v2|.v4}.type d, [a]``."""
    words = memory_words(decoder, instruction)
    if words.rest:
        decoder.unknown(instruction)
    decoder.count(instruction, 2, 3)
    width = TYPE_BYTES[words.type]
    targets = instruction.operands[0]
    elements = targets.elements if isinstance(targets, Vector) else (targets,)
    if len(elements) != words.vector and not (words.type == "b128" and len(elements) == 1):
        decoder.wrong(instruction, f"{words.vector} destination registers needed, {len(elements)} given")
    outs: list[Row | None] = []
    for item in elements:
        row = None if isinstance(item, Sink) else decoder.register_of(instruction, item)
        if row is not None and row.dtype.itemsize < width:
            decoder.wrong(instruction, "the destination register is too narrow")
        if row is not None and words.type[0] == "s" and row.dtype.itemsize > width:
            row = row.view(f"i{row.dtype.itemsize}")
        outs.append(row)
    constant = _parameter(decoder, instruction, words, outs, width)
    if constant is not None:
        return constant
    target = make_target(decoder, instruction, instruction.operands[1], words.space, width * words.vector)
    tell = watch(decoder, instruction, "read", words.order, words.scope, width, words.vector) if needs_watch(decoder, target) else None
    strong = words.order != "weak"
    machine = decoder.machine
    read = _reader(outs, width, words.type[0] == "s")

    if isinstance(target, Resolver) and tell is None and not strong:
        resolve, arena = target.resolve, target.arena

        def fast(threads: Selection) -> None:
            read(arena, resolve(threads), threads)

        return Step(fast)

    def run(threads: Selection) -> None:
        for resolver, part in pieces(target, threads):
            offsets = resolver.resolve(part)
            if tell is not None:
                tell(resolver, part, offsets)
            read(resolver.arena, offsets, part)
        if strong:
            machine.polled = True

    return Step(run, visible=strong)


def _parameter(decoder: Decoder, instruction: Instruction, words: MemoryWords, outs: list[Row | None], width: int) -> Step | None:
    """A kernel parameter read by name is a constant."""
    operand = instruction.operands[1]
    if (
        words.space != "param"
        or not decoder.function.entry
        or not isinstance(operand, Address)
        or not _is_kernel_parameter(decoder, operand)
        or width > 8
    ):
        return None
    assert isinstance(operand.base, Symbol)
    item = decoder.variable(instruction, operand.base.name)
    start = decoder.storage.offset(decoder.function.name, item) + operand.base.offset + operand.offset
    inside = operand.base.offset + operand.offset
    if inside < 0 or inside + width * words.vector > item.size:
        decoder.wrong(instruction, f"reads past the end of parameter {item.name} ({item.size} bytes)")
    if start % width:
        decoder.wrong(instruction, "the parameter address is not aligned")
    view = decoder.machine.memory.constants.bytes
    dtype = np.dtype(f"{'i' if words.type[0] == 's' else 'u'}{width}")
    values = [view[start + index * width : start + (index + 1) * width].view(dtype)[0] for index in range(words.vector)]
    pairs = [(out, value) for out, value in zip(outs, values, strict=True) if out is not None]

    def run(threads: Selection) -> None:
        for out, value in pairs:
            out[threads] = value

    return Step(run)


def _reader(outs: list[Row | None], width: int, signed: bool) -> Callable[[Any, Ints, Selection], None]:
    if width == 16:
        (wide,) = outs

        def read_wide(arena: Any, offsets: Ints, threads: Selection) -> None:
            if wide is not None:
                pairs = arena.rows(8, 2)[offsets >> 4]
                wide["low"][threads] = pairs[:, 0]
                wide["high"][threads] = pairs[:, 1]

        return read_wide
    shift = width.bit_length() - 1
    dtype = np.dtype(f"i{width}")
    if len(outs) == 1:
        (out,) = outs

        def read(arena: Any, offsets: Ints, threads: Selection) -> None:
            if out is not None:
                values = arena.views[width][offsets >> shift]
                out[threads] = values.view(dtype) if signed else values

        return read
    count = len(outs)
    vector_shift = shift + count.bit_length() - 1
    pairs = [(index, out) for index, out in enumerate(outs) if out is not None]

    def read_vector(arena: Any, offsets: Ints, threads: Selection) -> None:
        values = arena.rows(width, count)[offsets >> vector_shift]
        if signed:
            values = values.view(dtype)
        for index, out in pairs:
            out[threads] = values[:, index]

    return read_vector


@handles("st")
def store(decoder: Decoder, instruction: Instruction) -> Step | None:
    """``st{.weak|.relaxed|.release|.volatile|.mmio}{.scope}{.space}{.v2|.v4}.type [a], b``. (``st.async`` and ``st.bulk`` are elsewhere.)"""
    if instruction.modifiers[:1] == ("async",):
        from fa4dsl.runtime.simulator.instructions.copies import store_async

        return store_async(decoder, instruction)
    words = memory_words(decoder, instruction)
    if words.rest:
        decoder.unknown(instruction)
    decoder.count(instruction, 2, 3)
    width = TYPE_BYTES[words.type]
    source = instruction.operands[1]
    elements = source.elements if isinstance(source, Vector) else (source,)
    if len(elements) != words.vector:
        decoder.wrong(instruction, f"{words.vector} source registers needed, {len(elements)} given")
    rows = [decoder.source(instruction, item, WIDTH_DTYPE.get(width, np.uint64)) for item in elements]
    if any(row.dtype.itemsize < width or row.dtype == np.bool_ for row in rows):
        decoder.wrong(instruction, "the source register is too narrow")
    target = make_target(decoder, instruction, instruction.operands[0], words.space, width * words.vector)
    if isinstance(target, Resolver) and target.space == "const":
        decoder.wrong(instruction, "constants and kernel parameters cannot be written")
    tell = watch(decoder, instruction, "write", words.order, words.scope, width, words.vector) if needs_watch(decoder, target) else None
    write = _writer(rows, width)
    dtype = WIDTH_DTYPE.get(width)

    def stored(threads: Selection) -> Callable[[], Any]:
        """The values written, one row for each thread."""
        return lambda: np.stack([row[threads] if dtype is None else row[threads].astype(dtype) for row in rows], axis=1)

    machine = decoder.machine
    strong = words.order != "weak"

    def run(threads: Selection) -> None:
        for resolver, part in pieces(target, threads):
            if resolver.space != "local":
                machine.progress_marks += 1
            offsets = resolver.resolve(part)
            if resolver.space == "const":
                machine.fault(
                    "S016",
                    instruction,
                    int(machine.grid.arange[part][0]),
                    what="writes to the constant bank",
                    how="copy the parameter to local memory first",
                )
            if tell is not None:
                tell(resolver, part, offsets, stored(part))
            write(resolver.arena, offsets, part)

    return Step(run, visible=strong)


def _writer(rows: list[Row], width: int) -> Callable[[Any, Ints, Selection], None]:
    if width == 16:
        (wide,) = rows

        def write_wide(arena: Any, offsets: Ints, threads: Selection) -> None:
            values = wide[threads]
            arena.rows(8, 2)[offsets >> 4] = np.stack([values["low"], values["high"]], axis=-1)

        return write_wide
    shift = width.bit_length() - 1
    if len(rows) == 1:
        (row,) = rows

        def write(arena: Any, offsets: Ints, threads: Selection) -> None:
            arena.views[width][offsets >> shift] = row[threads]

        return write
    count = len(rows)
    vector_shift = shift + count.bit_length() - 1
    dtype = WIDTH_DTYPE[width]

    def write_vector(arena: Any, offsets: Ints, threads: Selection) -> None:
        values = np.empty((len(offsets), count), dtype)
        for index, source in enumerate(rows):
            values[:, index] = source[threads]
        arena.rows(width, count)[offsets >> vector_shift] = values

    return write_vector
