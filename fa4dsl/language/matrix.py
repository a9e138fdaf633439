"""Warp-level matrix operations: ldmatrix, stmatrix, mma. Executed by whole warps."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fa4dsl.frontend.arguments import Kind, one_of
from fa4dsl.frontend.convert import bitcast
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Value, Vector, as_value, describe
from fa4dsl.language.memory import PointerValue
from fa4dsl.language.registers import RegisterArray
from fa4dsl.types import DType, PointerType, bf16, f16, f32, i16, i32, u16, u32

ELEMENTS = {"m16n8k16": (8, 4, 4), "m16n8k8": (4, 2, 4), "m16n8k32": (16, 8, 4)}
"""Elements a thread holds of A, B and C by shape."""
INSTRUCTION_TYPES = {name: name for name in ("bf16", "f16", "e4m3", "e5m2", "f32")} | {"i8": "s8", "u8": "u8", "i32": "s32"}
"""The types of operands and accumulators as the instructions of the tensor cores call them."""

SHAPES_OF_8_BITS = {True: ("m16n8k32",), False: ("m16n8k32", "m16n8k16")}
"""What `mma` multiplies 8-bit types as, by whether they are floats."""


def same_kind(left: DType, right: DType) -> bool:
    """Whether one instruction multiplies them: equal types, two 8-bit floats, or two 8-bit integers."""
    return left == right or (left.bits == right.bits == 8 and left.is_float == right.is_float)


def accumulator_types(dtype: DType) -> tuple[DType, ...]:
    """What products of a type may be added up in; the first is what is meant where nobody says."""
    if dtype.is_integer:
        return (i32,)
    return (f32,) if dtype.name == "bf16" else (f32, f16)


def _are_registers(values: Any) -> bool:
    if isinstance(values, tuple | list):
        return all(isinstance(item, Value) and isinstance(item.type, DType) for item in values)
    return isinstance(values, Vector | RegisterArray)


Shape = Literal["m16n8k16", "m16n8k8", "m16n8k32"]


def _shared_pointer(words: str, *bits: int) -> Kind:
    return Kind(
        f"a pointer to {words} elements of this CTA's shared memory",
        lambda value: isinstance(value, PointerValue) and value.type == PointerType(value.dtype, "shared") and value.dtype.bits in bits,
        mend="pass the address of an element of a shared array: tile.pointer((row, column))",
        code="L068",
    )


SharedPointer = Annotated[PointerValue, _shared_pointer("16-bit", 16)]
SmallPointer = Annotated[PointerValue, _shared_pointer("8- or 16-bit", 8, 16)]
Fragment = Annotated[Any, Kind("registers (a register array or a vector)", lambda value: isinstance(value, Vector | RegisterArray))]


Fragments = Annotated[Any, Kind("registers (a register array, a vector or a tuple of run-time values)", _are_registers)]


def packed_words(values: Any) -> list[Value]:
    """16-bit (or 8-bit) elements packed into 32-bit registers, lowest first; 32-bit elements as they are."""
    elements = list(values.elements) if isinstance(values, Vector | RegisterArray) else list(values)
    if not elements or not isinstance(elements[0], Value):
        current().fail("L068", current().place_of(values), problem=f"it takes registers, not {describe(values)}")
    dtype = elements[0].dtype
    per_word = 32 // dtype.bits
    if per_word <= 1:
        return elements
    if len(elements) % per_word:
        current().fail("L068", current().place_of(values), problem=f"{len(elements)} elements of {dtype} do not fill 32-bit registers")
    groups = [elements[start : start + per_word] for start in range(0, len(elements), per_word)]
    return [bitcast(Vector(dtype, per_word, elements=group), u32) for group in groups]


def load_matrix(
    address: SmallPointer,
    count: Annotated[int, one_of(1, 2, 4, code="L102")] = 4,
    *,
    transpose: bool = False,
    dtype: Annotated[DType, one_of(f16, bf16, i16, u16)] | None = None,
) -> Vector:
    """Loads `count` (1, 2, 4) 8x8 matrices of 16-bit elements from shared memory: ldmatrix.

    Lane l gives the address of a row: rows 8i..8i+7 of matrix i come from lanes 8i..8i+7. Returns 2 * count elements of `dtype` (by default
    the pointer's): a thread's fragment, two of each matrix. Of 8-bit elements two neighbours in a row are one of 16 bits, which transposing keeps
    together: 4 * count are returned.
    """
    trace = current()
    made = trace.fa4("load_matrix", [address.ir], {"count": count, "transpose": transpose}, ["i32"] * count)
    words = Vector(u32, count, elements=[Value(result, u32) for result in made.results])
    if count == 1:
        return Vector(u32, 1, elements=words.elements).bitcast(dtype or address.dtype)  # type: ignore[no-any-return]
    return words.bitcast(dtype or address.dtype)  # type: ignore[no-any-return]


def store_matrix(address: SharedPointer, values: Fragments, *, transpose: bool = False) -> None:
    """Stores 1, 2 or 4 8x8 matrices of 16-bit elements, two elements of each from every thread: stmatrix. Addresses as in `load_matrix`."""
    trace = current()
    if isinstance(values, tuple | list):
        dtype = values[0].type if values else f32
        values = Vector(dtype, len(values), elements=[as_value(item, dtype) for item in values])
    if values.dtype.bits != 16 or values.width not in (2, 4, 8):
        problem = f"store_matrix takes 2, 4 or 8 elements of 16 bits as `values`, not {describe(values)}"
        trace.fail("L068", trace.place_of(values), problem=problem)
    words = packed_words(values)
    trace.fa4("store_matrix", [address.ir, *(word.ir for word in words)], {"transpose": transpose})


def mma(a: Fragment, b: Fragment, c: RegisterArray | Vector, shape: Shape = "m16n8k16") -> Vector:
    """D = A * B + C on one warp: mma.sync, A row-major, B column-major. Returns D, of C's type and in its layout.

    `a`, `b`: this thread's fragments: 8 and 4 elements of bf16 or f16 for m16n8k16 (4 and 2 for m16n8k8), 16 and 8 elements of 8 bits for
    m16n8k32, of one type or both 8-bit floats or both 8-bit integers (i8, u8; also 8 and 4 for m16n8k16). `c`: 4 elements, f32 for floats,
    i32 for integers, f16 for f16. Raises L068 for types and counts that do not fit.
    """
    trace = current()
    first, counts = a.dtype, ELEMENTS[shape]
    if first.name not in INSTRUCTION_TYPES or first.bits > 16:
        problem = f"mma {shape} takes fragments of bf16, f16, an 8-bit float or 8-bit integer, not {describe(a)}"
        trace.fail("L068", trace.place_of(a), problem=problem)
    if not same_kind(first, b.dtype):
        trace.fail("L068", trace.place_of(b), problem=f"A is {describe(a)} and B {describe(b)}; both are of one type")
    legal = SHAPES_OF_8_BITS[first.is_float] if first.bits == 8 else ("m16n8k16", "m16n8k8")
    if shape not in legal:
        trace.fail("L068", trace.place_of(shape), problem=f"{first} is multiplied as {' or '.join(legal)}, not {shape}")
    possible = (i32,) if first.is_integer else (f32, f16) if first == f16 else (f32,)
    if c.dtype not in possible:
        wanted = " or ".join(map(str, possible))
        trace.fail("L068", trace.place_of(c), problem=f"C and D are {wanted} for operands of {first}, not {describe(c)}")
    for name, operand, count in zip("ABC", (a, b, c), counts, strict=True):
        if operand.width != count:
            trace.fail("L068", trace.place_of(operand), problem=f"{name} of {shape} has {count} elements a thread, not {operand.width}")
    types = {"a_type": first, "b_type": b.dtype, "c_type": c.dtype, "d_type": c.dtype}
    attributes = {"shape": shape, **{name: INSTRUCTION_TYPES[dtype.name] for name, dtype in types.items()}}
    added = [bitcast(word, u32) for word in packed_words(c)]
    words = [word for operand in (a, b) for word in packed_words(operand)] + added
    made = trace.fa4("mma", [word.ir for word in words], attributes, ["i32"] * len(added))
    results = [Value(result, u32) for result in made.results]
    if c.dtype.bits == 16:
        return Vector(u32, len(results), elements=results).bitcast(c.dtype)  # type: ignore[no-any-return]
    return Vector(c.dtype, c.width, elements=[bitcast(result, c.dtype) for result in results])
