"""fa4dsl: a Python language for warp-specialised NVIDIA kernels.

    from fa4dsl import Pointer, block, f32, i32, kernel, thread

    @kernel(threads=256)
    def scale(x: Pointer[f32], factor: f32, n: i32):
        i = block.index() * 256 + thread.index()
        if i < n:
            x[i] = x[i] * factor

    scale[grid](x, 2.0, n)

Names are loaded when first used: importing the package loads neither MLIR nor CUDA.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fa4dsl.frontend.functions import DeviceFunction as DeviceFunction
    from fa4dsl.frontend.functions import device_function as device_function
    from fa4dsl.kernel_object import BoundKernel as BoundKernel
    from fa4dsl.kernel_object import Kernel as Kernel
    from fa4dsl.kernel_object import kernel as kernel
    from fa4dsl.language.accumulators import accumulator_place as accumulator_place
    from fa4dsl.language.accumulators import store_accumulator as store_accumulator
    from fa4dsl.language.asynchronous import (
        copy_async as copy_async,
    )
    from fa4dsl.language.asynchronous import (
        copy_async_commit as copy_async_commit,
    )
    from fa4dsl.language.asynchronous import (
        copy_async_wait as copy_async_wait,
    )
    from fa4dsl.language.asynchronous import (
        store_async as store_async,
    )
    from fa4dsl.language.atomics import atomic as atomic
    from fa4dsl.language.atomics import reduce as reduce
    from fa4dsl.language.barriers import Barrier as Barrier
    from fa4dsl.language.barriers import mbarrier as mbarrier
    from fa4dsl.language.collectives import (
        ballot as ballot,
    )
    from fa4dsl.language.collectives import (
        match_any as match_any,
    )
    from fa4dsl.language.collectives import (
        redux as redux,
    )
    from fa4dsl.language.collectives import (
        shuffle as shuffle,
    )
    from fa4dsl.language.collectives import (
        shuffle_down as shuffle_down,
    )
    from fa4dsl.language.collectives import (
        shuffle_up as shuffle_up,
    )
    from fa4dsl.language.collectives import (
        shuffle_xor as shuffle_xor,
    )
    from fa4dsl.language.collectives import (
        vote_all as vote_all,
    )
    from fa4dsl.language.collectives import (
        vote_any as vote_any,
    )
    from fa4dsl.language.collectives import (
        warp_reduce as warp_reduce,
    )
    from fa4dsl.language.control import (
        clock as clock,
    )
    from fa4dsl.language.control import (
        inline_ptx as inline_ptx,
    )
    from fa4dsl.language.control import (
        launch_dependents as launch_dependents,
    )
    from fa4dsl.language.control import (
        nanosleep as nanosleep,
    )
    from fa4dsl.language.control import (
        static_assert as static_assert,
    )
    from fa4dsl.language.control import (
        trap as trap,
    )
    from fa4dsl.language.control import (
        wait_dependencies as wait_dependencies,
    )
    from fa4dsl.language.fences import fence as fence
    from fa4dsl.language.fences import fence_proxy_async as fence_proxy_async
    from fa4dsl.language.indices import block as block
    from fa4dsl.language.indices import cluster as cluster
    from fa4dsl.language.indices import grid as grid
    from fa4dsl.language.indices import lane as lane
    from fa4dsl.language.indices import thread as thread
    from fa4dsl.language.indices import warp as warp
    from fa4dsl.language.math import (
        ceil as ceil,
    )
    from fa4dsl.language.math import (
        cos as cos,
    )
    from fa4dsl.language.math import (
        erf as erf,
    )
    from fa4dsl.language.math import (
        exp as exp,
    )
    from fa4dsl.language.math import (
        exp2 as exp2,
    )
    from fa4dsl.language.math import (
        floor as floor,
    )
    from fa4dsl.language.math import (
        fma as fma,
    )
    from fa4dsl.language.math import (
        leading_zeros as leading_zeros,
    )
    from fa4dsl.language.math import (
        log as log,
    )
    from fa4dsl.language.math import (
        log2 as log2,
    )
    from fa4dsl.language.math import (
        max3 as max3,
    )
    from fa4dsl.language.math import (
        maximum as maximum,
    )
    from fa4dsl.language.math import (
        min3 as min3,
    )
    from fa4dsl.language.math import (
        minimum as minimum,
    )
    from fa4dsl.language.math import (
        popcount as popcount,
    )
    from fa4dsl.language.math import (
        rcp as rcp,
    )
    from fa4dsl.language.math import (
        rsqrt as rsqrt,
    )
    from fa4dsl.language.math import (
        sin as sin,
    )
    from fa4dsl.language.math import (
        sqrt as sqrt,
    )
    from fa4dsl.language.math import (
        tanh as tanh,
    )
    from fa4dsl.language.math import (
        where as where,
    )
    from fa4dsl.language.matrix import load_matrix as load_matrix
    from fa4dsl.language.matrix import mma as mma
    from fa4dsl.language.matrix import store_matrix as store_matrix
    from fa4dsl.language.named_barriers import named_barrier as named_barrier
    from fa4dsl.language.named_barriers import warpgroup as warpgroup
    from fa4dsl.language.pipeline import pipeline as pipeline
    from fa4dsl.language.printing import device_print as device_print
    from fa4dsl.language.python_functions import static_range as static_range
    from fa4dsl.language.registers import RegisterArray as RegisterArray
    from fa4dsl.language.registers import registers as registers
    from fa4dsl.language.registers import vector as vector
    from fa4dsl.language.roles import elect as elect
    from fa4dsl.language.roles import role as role
    from fa4dsl.language.shared import SharedArray as SharedArray
    from fa4dsl.language.shared import shared as shared
    from fa4dsl.language.tma import bulk_load as bulk_load
    from fa4dsl.language.tma import bulk_push as bulk_push
    from fa4dsl.language.tma import bulk_store as bulk_store
    from fa4dsl.language.tma import tma as tma
    from fa4dsl.language.warpgroup_mma import (
        accumulator as accumulator,
    )
    from fa4dsl.language.warpgroup_mma import (
        wgmma as wgmma,
    )
    from fa4dsl.language.warpgroup_mma import (
        wgmma_commit as wgmma_commit,
    )
    from fa4dsl.language.warpgroup_mma import (
        wgmma_fence as wgmma_fence,
    )
    from fa4dsl.language.warpgroup_mma import (
        wgmma_wait as wgmma_wait,
    )
    from fa4dsl.runtime.diagnostics import Fa4dslError as Fa4dslError
    from fa4dsl.runtime.diagnostics import Fa4dslWarning as Fa4dslWarning
    from fa4dsl.types import (
        Constexpr as Constexpr,
    )
    from fa4dsl.types import (
        DType as DType,
    )
    from fa4dsl.types import (
        Pointer as Pointer,
    )
    from fa4dsl.types import (
        RaggedTensorMap as RaggedTensorMap,
    )
    from fa4dsl.types import (
        TensorMap as TensorMap,
    )
    from fa4dsl.types import (
        bf16 as bf16,
    )
    from fa4dsl.types import (
        bool_ as bool_,
    )
    from fa4dsl.types import (
        e4m3 as e4m3,
    )
    from fa4dsl.types import (
        e5m2 as e5m2,
    )
    from fa4dsl.types import (
        f16 as f16,
    )
    from fa4dsl.types import (
        f32 as f32,
    )
    from fa4dsl.types import (
        f64 as f64,
    )
    from fa4dsl.types import (
        i8 as i8,
    )
    from fa4dsl.types import (
        i16 as i16,
    )
    from fa4dsl.types import (
        i32 as i32,
    )
    from fa4dsl.types import (
        i64 as i64,
    )
    from fa4dsl.types import (
        swizzle32 as swizzle32,
    )
    from fa4dsl.types import (
        swizzle64 as swizzle64,
    )
    from fa4dsl.types import (
        swizzle128 as swizzle128,
    )
    from fa4dsl.types import (
        u8 as u8,
    )
    from fa4dsl.types import (
        u16 as u16,
    )
    from fa4dsl.types import (
        u32 as u32,
    )
    from fa4dsl.types import (
        u64 as u64,
    )

_MODULES: dict[str, tuple[str, ...]] = {
    "fa4dsl.frontend.functions": (
        "DeviceFunction",
        "device_function",
    ),
    "fa4dsl.kernel_object": (
        "BoundKernel",
        "Kernel",
        "kernel",
    ),
    "fa4dsl.language.accumulators": (
        "accumulator_place",
        "store_accumulator",
    ),
    "fa4dsl.language.asynchronous": (
        "copy_async",
        "copy_async_commit",
        "copy_async_wait",
        "store_async",
    ),
    "fa4dsl.language.atomics": (
        "atomic",
        "reduce",
    ),
    "fa4dsl.language.barriers": ("Barrier", "mbarrier"),
    "fa4dsl.language.collectives": (
        "ballot",
        "match_any",
        "redux",
        "shuffle",
        "shuffle_down",
        "shuffle_up",
        "shuffle_xor",
        "vote_all",
        "vote_any",
        "warp_reduce",
    ),
    "fa4dsl.language.control": (
        "clock",
        "inline_ptx",
        "launch_dependents",
        "nanosleep",
        "static_assert",
        "trap",
        "wait_dependencies",
    ),
    "fa4dsl.language.fences": (
        "fence",
        "fence_proxy_async",
    ),
    "fa4dsl.language.indices": (
        "block",
        "cluster",
        "grid",
        "lane",
        "thread",
        "warp",
    ),
    "fa4dsl.language.math": (
        "ceil",
        "cos",
        "erf",
        "exp",
        "exp2",
        "floor",
        "fma",
        "leading_zeros",
        "log",
        "log2",
        "max3",
        "maximum",
        "min3",
        "minimum",
        "popcount",
        "rcp",
        "rsqrt",
        "sin",
        "sqrt",
        "tanh",
        "where",
    ),
    "fa4dsl.language.matrix": (
        "load_matrix",
        "mma",
        "store_matrix",
    ),
    "fa4dsl.language.named_barriers": (
        "named_barrier",
        "warpgroup",
    ),
    "fa4dsl.language.pipeline": ("pipeline",),
    "fa4dsl.language.printing": ("device_print",),
    "fa4dsl.language.python_functions": ("static_range",),
    "fa4dsl.language.registers": (
        "RegisterArray",
        "registers",
        "vector",
    ),
    "fa4dsl.language.roles": (
        "elect",
        "role",
    ),
    "fa4dsl.language.shared": ("SharedArray", "shared"),
    "fa4dsl.language.tma": (
        "bulk_load",
        "bulk_push",
        "bulk_store",
        "tma",
    ),
    "fa4dsl.language.warpgroup_mma": (
        "accumulator",
        "wgmma",
        "wgmma_commit",
        "wgmma_fence",
        "wgmma_wait",
    ),
    "fa4dsl.runtime.diagnostics": (
        "Fa4dslError",
        "Fa4dslWarning",
    ),
    "fa4dsl.types": (
        "Constexpr",
        "DType",
        "Pointer",
        "RaggedTensorMap",
        "TensorMap",
        "bf16",
        "bool_",
        "e4m3",
        "e5m2",
        "f16",
        "f32",
        "f64",
        "i16",
        "i32",
        "i64",
        "i8",
        "swizzle128",
        "swizzle32",
        "swizzle64",
        "u16",
        "u32",
        "u64",
        "u8",
    ),
}
# In a checkout the two lower floors stand beside this folder; installed, they are inside it.
_CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if os.path.isfile(os.path.join(_CHECKOUT, "passes", "dialect", "table.py")):
    __path__.append(_CHECKOUT)

_WHERE = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module 'fa4dsl' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
