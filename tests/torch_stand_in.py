"""A stand-in for as much of torch as fa4dsl's operators use: CPU tensors over numpy arrays, and operators that are called, not traced."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np


class Dtype:
    def __init__(self, name: str, like: Any) -> None:
        self.name, self.like = name, like

    def __repr__(self) -> str:
        return f"torch.{self.name}"


FLOAT32, BFLOAT16, INT32 = Dtype("float32", np.float32), Dtype("bfloat16", ml_dtypes.bfloat16), Dtype("int32", np.int32)
FLOAT8 = Dtype("float8_e4m3fn", ml_dtypes.float8_e4m3fn)


class Device(SimpleNamespace):
    def __str__(self) -> str:
        return str(self.type)


class Tensor:
    """A CPU tensor."""

    device = Device(type="cpu", index=None)
    layout = "strided"

    def __init__(self, values: Any, dtype: Dtype) -> None:
        self.values, self.dtype = np.asarray(values, dtype.like), dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def dim(self) -> int:
        return self.values.ndim

    def data_ptr(self) -> int:
        return self.values.ctypes.data

    def element_size(self) -> int:
        return self.values.itemsize

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.values.itemsize for step in self.values.strides)

    def is_neg(self) -> bool:
        return False

    is_conj = is_neg

    def is_contiguous(self) -> bool:
        return bool(self.values.flags.c_contiguous)

    def get_device(self) -> int:
        return -1

    def reshape(self, *shape: int) -> Tensor:
        return Tensor(self.values.reshape(*shape), self.dtype)

    view = reshape

    def permute(self, *order: int) -> Tensor:
        moved = Tensor(self.values, self.dtype)
        moved.values = self.values.transpose(order)
        return moved

    def new_zeros(self, shape: int | tuple[int, ...]) -> Tensor:
        return Tensor(np.zeros(shape, self.dtype.like), self.dtype)

    def contiguous(self) -> Tensor:
        return Tensor(np.ascontiguousarray(self.values), self.dtype)

    def new_empty(self, shape: int | tuple[int, ...], dtype: Dtype | None = None) -> Tensor:
        wanted = dtype or self.dtype
        return Tensor(np.empty(shape, wanted.like), wanted)


def install() -> None:
    """Puts it into `sys.modules`."""
    torch: Any = ModuleType("torch")
    operators = SimpleNamespace()

    def custom_op(name: str, function: Callable[..., Any], mutates_args: Any, schema: str) -> Callable[..., Any]:
        def operator(*arguments: Any, **named: Any) -> Any:
            return function(*arguments, **named)

        operator.register_fake = lambda fake: None  # type: ignore[attr-defined]
        setattr(operators, name.partition("::")[2], operator)
        return operator

    def full(*shape: int, value: float, dtype: Dtype) -> Tensor:
        return Tensor(np.full(shape, value, dtype.like), dtype)

    torch.Tensor, torch.strided = Tensor, "strided"
    torch.float32, torch.bfloat16, torch.int32, torch.float8_e4m3fn = FLOAT32, BFLOAT16, INT32, FLOAT8
    torch.zeros = lambda *shape, dtype=FLOAT32: full(*shape, value=0, dtype=dtype)
    torch.ones = lambda *shape, dtype=FLOAT32: full(*shape, value=1, dtype=dtype)
    torch.tensor = lambda values, dtype=FLOAT32: Tensor(values, dtype)
    torch.cuda = SimpleNamespace(is_initialized=lambda: False)
    torch.library = SimpleNamespace(custom_op=custom_op)
    torch.ops = SimpleNamespace(fa4dsl=operators)
    sys.modules["torch"] = torch
