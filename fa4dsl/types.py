"""The types of kernel parameters and values.

Scalars: i8 i16 i32 i64, u8 u16 u32 u64, f16 bf16 f32 f64, e4m3 e5m2 (8-bit floats), bool_ (one predicate). `Pointer[f32]` is a global
pointer, `TensorMap` and `RaggedTensorMap` are TMA descriptors, `Constexpr` marks what is known when the kernel is compiled.

A type called on a number or a run-time value converts it, explicitly: ``f32(0)``, ``i64(index)``, ``bf16(x)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

Kind = Literal["int", "uint", "float", "bool"]
Space = Literal["global", "shared", "cluster", "generic"]


if TYPE_CHECKING:
    # To a type checker these are classes with the operators of the values that they name.
    from fa4dsl.typed_values import DType as DType
    from fa4dsl.typed_values import Pointer as Pointer
    from fa4dsl.typed_values import RaggedTensorMap as RaggedTensorMap
    from fa4dsl.typed_values import TensorMap as TensorMap
    from fa4dsl.typed_values import bf16 as bf16
    from fa4dsl.typed_values import bool_ as bool_
    from fa4dsl.typed_values import e4m3 as e4m3
    from fa4dsl.typed_values import e5m2 as e5m2
    from fa4dsl.typed_values import f16 as f16
    from fa4dsl.typed_values import f32 as f32
    from fa4dsl.typed_values import f64 as f64
    from fa4dsl.typed_values import i8 as i8
    from fa4dsl.typed_values import i16 as i16
    from fa4dsl.typed_values import i32 as i32
    from fa4dsl.typed_values import i64 as i64
    from fa4dsl.typed_values import u8 as u8
    from fa4dsl.typed_values import u16 as u16
    from fa4dsl.typed_values import u32 as u32
    from fa4dsl.typed_values import u64 as u64
else:

    @dataclass(frozen=True)
    class DType:
        """A scalar type. `kind` holds the signedness: int is signed, uint unsigned."""

        name: str
        kind: Kind
        bits: int
        mlir: str
        """The MLIR type of a value held in a register (8-bit floats travel as i8)."""

        @property
        def bytes(self) -> int:
            """Size in memory, bytes."""
            return max(self.bits // 8, 1)

        @property
        def is_integer(self) -> bool:
            return self.kind in ("int", "uint")

        @property
        def is_float(self) -> bool:
            return self.kind == "float"

        @property
        def memory_type(self) -> str:
            """The MLIR type that names the element in `fa4.shared_alloc`."""
            return {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}.get(self.name, self.mlir)

        def limits(self) -> tuple[int, int]:
            """The smallest and largest value of an integer type."""
            if self.kind == "int":
                return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
            return 0, (1 << self.bits) - 1

        def __str__(self) -> str:
            return self.name

        def __repr__(self) -> str:
            return self.name

        def __call__(self, value: Any) -> Any:
            """Converts a number, a run-time value or a vector to this type (floats round to nearest even, to integers towards zero)."""
            from fa4dsl.frontend.convert import convert

            return convert(value, self)

    i8 = DType("i8", "int", 8, "i8")
    i16 = DType("i16", "int", 16, "i16")
    i32 = DType("i32", "int", 32, "i32")
    i64 = DType("i64", "int", 64, "i64")
    u8 = DType("u8", "uint", 8, "i8")
    u16 = DType("u16", "uint", 16, "i16")
    u32 = DType("u32", "uint", 32, "i32")
    u64 = DType("u64", "uint", 64, "i64")
    f16 = DType("f16", "float", 16, "f16")
    bf16 = DType("bf16", "float", 16, "bf16")
    f32 = DType("f32", "float", 32, "f32")
    f64 = DType("f64", "float", 64, "f64")
    e4m3 = DType("e4m3", "float", 8, "i8")
    e5m2 = DType("e5m2", "float", 8, "i8")
    bool_ = DType("bool", "bool", 1, "i1")


SCALARS: dict[str, DType] = {dtype.name: dtype for dtype in (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, e4m3, e5m2, bool_)}
"""All scalar types by name."""


@dataclass(frozen=True)
class PointerType:
    """A pointer to elements of `dtype` in a memory space."""

    dtype: DType
    space: Space = "global"

    @property
    def name(self) -> str:
        return f"Pointer[{self.dtype}]" if self.space == "global" else f"Pointer[{self.dtype}, {self.space}]"

    @property
    def mlir(self) -> str:
        number = {"generic": 0, "global": 1, "shared": 3, "cluster": 7}[self.space]
        return f"!llvm.ptr<{number}>" if number else "!llvm.ptr"

    def __str__(self) -> str:
        return self.name


if not TYPE_CHECKING:

    class Pointer:
        """`Pointer[dtype]`: annotation of a parameter that points to global memory."""

        def __class_getitem__(cls, dtype: Any) -> PointerType:
            if not isinstance(dtype, DType):
                raise TypeError(f"Pointer[...] takes a scalar type such as f32, not {dtype!r}")
            return PointerType(dtype)

    class TensorMap:
        """Annotation of a TMA descriptor over a dense array.

        The box, element type and swizzle come from the shared arrays that the kernel loads into or stores from; the launcher encodes the
        descriptor from the array passed at launch.
        """

        form = "tiled"

    class RaggedTensorMap:
        """Annotation of a TMA descriptor over packed sequences, ``[rows, heads, depth]`` or ``[rows, heads, group, depth]``, whose stores stop at the last
        valid row of a tile.

        See `fa4dsl.language.tma.RaggedMapValue.store`.
        """

        form = "wrapped"


class Constexpr:
    """Annotation (optional) of a keyword-only parameter: a value known when the kernel is compiled. `Constexpr[int]` reads well too."""

    def __class_getitem__(cls, item: Any) -> type[Constexpr]:
        return cls


Swizzle = Literal["none", "32B", "64B", "128B"]

SWIZZLE_BYTES: dict[str, int] = {"none": 16, "32B": 32, "64B": 64, "128B": 128}
"""The span within which a swizzle mode permutes 16-byte chunks; also the largest inner box of its tensor maps, bytes."""

swizzle32: Swizzle = "32B"
swizzle64: Swizzle = "64B"
swizzle128: Swizzle = "128B"
