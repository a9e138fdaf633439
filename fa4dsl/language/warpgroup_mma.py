"""wgmma: matrix products of a warpgroup, operands in swizzled shared arrays or registers, accumulators in registers.

    acc = accumulator(f32, 128)                    # 64 x 128, spread over the 128 threads
    wgmma(q, slot.k.T, into=acc)                   # acc += q @ k.T; q is (64, K), k is stored (128, K)
    wgmma_commit()
    wgmma_wait(acc)

Descriptors are derived from the arrays: their swizzle, the place of the part, and which dimension is contiguous. Executed by whole
warpgroups. Layout of the accumulator (`accumulator_place`): thread t of the warpgroup, w = t // 32, l = t % 32, holds element i at row
16 w + l // 4 + 8 * (i // 2 % 2) and column 8 * (i // 4) + 2 * (l % 4) + i % 2.
"""

from __future__ import annotations

from typing import Annotated, Any

from fa4dsl.frontend.arguments import Kind, between, one_of
from fa4dsl.frontend.trace import Trace, current
from fa4dsl.frontend.values import Value, Vector, constant, describe, is_integer
from fa4dsl.language.matrix import INSTRUCTION_TYPES, accumulator_types, packed_words, same_kind
from fa4dsl.language.registers import RegisterArray, registers
from fa4dsl.language.shared import SharedArray, Transposed
from fa4dsl.types import SWIZZLE_BYTES, DType, bool_, f16, f32, i32

ROWS = 64
"""Rows of a product by one warpgroup."""
ELEMENT_K = {16: 16, 8: 32, 32: 8}
"""K of one instruction by bits of the element."""
INPUTS = ("bf16", "f16", "e4m3", "e5m2", "i8", "u8")


class Operand:
    """A shared operand: rows are M or N, columns K; `major` says which of both is contiguous in memory."""

    def __init__(self, array: SharedArray | Transposed, is_a: bool, place: Any) -> None:
        trace = current()
        stored = array.array if isinstance(array, Transposed) else array
        turned = isinstance(array, Transposed)
        self.array = stored
        # A is (M, K) and B is (K, N): the contiguous last dimension is K for A as stored, N for B as stored.
        self.major = "k" if turned != is_a else "mn"
        if len(stored.shape) == 2:
            panels, outer, inner = 1, *stored.shape
        elif len(stored.shape) == 3:
            panels, outer, inner = stored.shape
        else:
            trace.fail("L068", place, problem=f"an operand is (rows, columns) or (panels, rows, columns), not {list(stored.shape)}")
        self.panels, self.outer, self.inner = panels, outer, inner
        self.rows, self.k = (outer, panels * inner) if self.major == "k" else (panels * inner, outer)
        span = SWIZZLE_BYTES[stored.swizzle]
        if inner * stored.dtype.bytes != span:
            columns = span // stored.dtype.bytes
            trace.fail("L069", place, name=stored.name, swizzle=stored.swizzle, columns=columns, inner=inner)
        if self.major == "mn" and stored.dtype.bits != 16:
            trace.fail(
                "L068", place, problem=f"{stored.dtype} operands must have K contiguous; only 16-bit types may be stored the other way"
            )
        self.span = span

    def descriptor(self, trace: Trace, step: int, k: int) -> Any:
        """The descriptor of the `step`-th slice of `k` columns."""
        size = self.array.dtype.bytes
        panel_bytes = self.outer * self.span
        if self.major == "k":
            column = step * k
            offset = column // self.inner * panel_bytes + column % self.inner * size
            leading, stride = (16, 8 * self.span) if self.array.swizzle != "none" else (panel_bytes, 8 * self.span)
        else:
            offset = step * k * self.span
            leading, stride = max(panel_bytes, 16), 8 * self.span
            if self.array.swizzle == "none":
                leading, stride = stride, max(panel_bytes, 16)
        base = self.array.byte_offset
        where = SharedArray(self.array.allocation, self.array.dtype, self.array.shape, base + offset if offset else base)
        attributes = {"leading": leading, "stride": stride, "swizzle": self.array.swizzle}
        return trace.fa4("wgmma_descriptor", [self.array.allocation.handle, where.offset_value()], attributes).result


def accumulator(
    dtype: Annotated[DType, one_of(f32, f16, i32, code="L068")] = f32, columns: int = 64, name: str = "accumulator"
) -> RegisterArray:
    """Zeros for a product of 64 x `columns`, spread over the 128 threads of a warpgroup: ``columns / 2`` elements a thread.

    `dtype`: f32 for operands of floats, f16 (half the registers) for those of f16, e4m3 and e5m2, i32 for those of i8 and u8.
    `accumulator_place` says which elements a thread has, `store_accumulator` writes them to shared memory.
    """
    trace = current()
    if not is_integer(columns) or columns % 8 or not 8 <= columns <= 256:
        trace.fail("L068", trace.place_of(columns), problem=f"a product has 8 to 256 columns, a multiple of 8, not {describe(columns)}")
    return registers(dtype, columns // 2, name=name)


def _in_shared_memory(value: Any) -> bool:
    array = value.array if isinstance(value, Transposed) else value
    return isinstance(array, SharedArray) and array.rank is None


FACTOR_B = Kind("a shared array of this CTA, or its .T,", _in_shared_memory, code="L068")
FACTOR_A = Kind(
    "a shared array of this CTA, its .T or a register array",
    lambda value: isinstance(value, RegisterArray) or _in_shared_memory(value),
    code="L068",
)
Predicate = Kind(
    "True, False or a run-time bool", lambda value: isinstance(value, bool) or (isinstance(value, Value) and value.type == bool_)
)


def wgmma(
    a: Annotated[Any, FACTOR_A],
    b: Annotated[Any, FACTOR_B],
    into: RegisterArray | None = None,
    *,
    accumulate: Annotated[bool | Value, Predicate] = True,
) -> RegisterArray:
    """into = a @ b (+ into), asynchronously; K is unrolled into as many instructions as it takes.

    Args:
        a: (64, K): a shared array, or `.T` of one stored (K, 64), or this thread's fragment in registers (``K / 2`` elements of bf16 or f16:
            an accumulator converted with ``.to(bf16)``). bf16, f16, e4m3, e5m2, i8 or u8; of one type with `b`, or both 8-bit floats,
            or both 8-bit integers. 8-bit operands have K contiguous: as stored for `a`, `.T` of the stored array for `b`.
        b: (K, N): a shared array stored (K, N), or `.T` of one stored (N, K). A row of a stored array is exactly its swizzle's span (64
            columns of bf16 for 128B); wider operands have a leading dimension of panels, (panels, rows, 64).
        into: the accumulator (`accumulator`): f32, f16 for operands of f16 and 8-bit floats, i32 for integers; a new one, f32 or i32, not
            accumulated into, if left out. Integer sums wrap around.
        accumulate: False overwrites `into`; a run-time bool is the instruction's predicate.

    Returns the accumulator. Its registers may be read only after `wgmma_wait`. Emits wgmma.fence first. Raises L068, L069.
    """
    trace = current()
    right = Operand(b, False, trace.place_of(b))
    dtype = right.array.dtype
    if dtype.name not in INPUTS:
        trace.fail("L068", trace.place_of(b), problem=f"operands are {', '.join(INPUTS)}, not {dtype}")
    k = ELEMENT_K[dtype.bits]
    from_registers = isinstance(a, RegisterArray)
    words: list[Value] = []
    left: Operand | None = None
    if from_registers:
        words = packed_words(a)
        depth = a.width * 2
        left_type = a.dtype
    else:
        left = Operand(a, True, trace.place_of(a))
        depth, left_type = left.k, left.array.dtype
        if left.rows != ROWS:
            trace.fail("L068", trace.place_of(a), problem=f"A has {left.rows} rows, a warpgroup multiplies {ROWS}")
    if not same_kind(left_type, dtype) or depth != right.k or depth % k:
        problem = f"A is {left_type} with K = {depth}, B is {dtype} with K = {right.k}; both must be equal and a multiple of {k}"
        trace.fail("L068", trace.place_of(a), problem=problem)
    columns = right.rows
    if columns % 8 or not 8 <= columns <= 256:
        trace.fail("L068", trace.place_of(b), problem=f"B has {columns} columns, 8 to 256 in steps of 8 are possible")
    if dtype.is_integer and columns % 16 and columns not in (8, 24):
        trace.fail("L068", trace.place_of(b), problem=f"B has {columns} columns; products of {dtype} have 8, 24 or a multiple of 16")
    possible = accumulator_types(dtype)
    if into is None:
        into, accumulate = accumulator(possible[0], columns), False
    if into.width != columns // 2 or into.dtype not in possible:
        wanted = f"{columns // 2} {' or '.join(map(str, possible))}"
        trace.fail("L068", trace.place_of(into), problem=f"the accumulator has {into.width} {into.dtype}, the product needs {wanted}")
    attributes = {
        "n": columns,
        "a_type": INSTRUCTION_TYPES[left_type.name],
        "b_type": INSTRUCTION_TYPES[dtype.name],
        "d_type": INSTRUCTION_TYPES[into.dtype.name],
        "b_major": right.major,
        "negate_a": False,
        "negate_b": False,
    }
    trace.fa4("wgmma_fence")
    values = _in_registers(into)
    results = [str(value.type) for value in values]
    for step in range(depth // k):
        adds = accumulate if step == 0 else True
        predicate = (adds if isinstance(adds, Value) else constant(bool(adds), bool_)).ir
        descriptor = right.descriptor(trace, step, k)
        if left is None:
            fragment = [word.ir for word in words[4 * step : 4 * step + 4]]
            made = trace.fa4("wgmma_register_a", [*fragment, descriptor, predicate, *values], attributes, results)
        else:
            operands = [left.descriptor(trace, step, k), descriptor, predicate, *values]
            made = trace.fa4("wgmma", operands, {**attributes, "a_major": left.major}, results)
        values = list(made.results)
    _take(into, values)
    return into


def _in_registers(item: RegisterArray) -> list[Any]:
    """The accumulator as the instructions have it: f16 in pairs, everything else an element each."""
    if item.dtype.bits == 16:
        pairs = zip(item.elements[::2], item.elements[1::2], strict=True)
        return [Vector(item.dtype, 2, elements=list(pair)).packed for pair in pairs]
    return [element.ir for element in item.elements]


def _take(item: RegisterArray, values: list[Any]) -> None:
    """The elements of an accumulator are those that an instruction gave."""
    if item.dtype.bits == 16:
        item.elements = [element for value in values for element in Vector(item.dtype, 2, packed=value).elements]
    else:
        item.elements = [Value(value, item.dtype) for value in values]


def wgmma_fence() -> None:
    """Orders register accesses before the next wgmma: wgmma.fence. `wgmma` emits it by itself."""
    current().fa4("wgmma_fence")


def wgmma_commit() -> None:
    """Closes the warpgroup's group of wgmma: wgmma.commit_group."""
    current().fa4("wgmma_commit")


def wgmma_wait(*accumulators: RegisterArray, pending: Annotated[int, between(0, 7)] = 0) -> None:
    """Waits until at most `pending` groups are unfinished; the given accumulators may be read afterwards: wgmma.wait_group."""
    trace = current()
    parts = [_in_registers(item) for item in accumulators]
    values = [value for part in parts for value in part]
    made = trace.fa4("wgmma_wait", values, {"pending": pending}, [str(value.type) for value in values])
    results = list(made.results)
    for item, part in zip(accumulators, parts, strict=True):
        _take(item, results[: len(part)])
        del results[: len(part)]
