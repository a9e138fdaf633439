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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fa4dsl.frontend.functions import device_function as device_function
    from fa4dsl.kernel_object import BoundKernel as BoundKernel, Kernel as Kernel, kernel as kernel
    from fa4dsl.language.asynchronous import (
        copy_async as copy_async,
        copy_async_commit as copy_async_commit,
        copy_async_wait as copy_async_wait,
        store_async as store_async,
    )
    from fa4dsl.language.atomics import atomic as atomic, reduce as reduce
    from fa4dsl.language.barriers import mbarrier as mbarrier
    from fa4dsl.language.collectives import (
        ballot as ballot,
        match_any as match_any,
        redux as redux,
        shuffle as shuffle,
        shuffle_down as shuffle_down,
        shuffle_up as shuffle_up,
        shuffle_xor as shuffle_xor,
        vote_all as vote_all,
        vote_any as vote_any,
        warp_reduce as warp_reduce,
    )
    from fa4dsl.language.control import (
        clock as clock,
        inline_ptx as inline_ptx,
        launch_dependents as launch_dependents,
        nanosleep as nanosleep,
        static_assert as static_assert,
        trap as trap,
        wait_dependencies as wait_dependencies,
    )
    from fa4dsl.language.fences import fence as fence, fence_proxy_async as fence_proxy_async
    from fa4dsl.language.indices import block as block, cluster as cluster, grid as grid, lane as lane, thread as thread, warp as warp
    from fa4dsl.language.math import (
        ceil as ceil,
        cos as cos,
        exp2 as exp2,
        floor as floor,
        fma as fma,
        leading_zeros as leading_zeros,
        log2 as log2,
        max3 as max3,
        maximum as maximum,
        min3 as min3,
        minimum as minimum,
        popcount as popcount,
        rcp as rcp,
        rsqrt as rsqrt,
        sin as sin,
        sqrt as sqrt,
        tanh as tanh,
        where as where,
    )
    from fa4dsl.language.matrix import load_matrix as load_matrix, mma as mma, store_matrix as store_matrix
    from fa4dsl.language.named_barriers import named_barrier as named_barrier, warpgroup as warpgroup
    from fa4dsl.language.pipeline import pipeline as pipeline
    from fa4dsl.language.python_functions import static_range as static_range
    from fa4dsl.language.registers import registers as registers, vector as vector
    from fa4dsl.language.roles import elect as elect, role as role
    from fa4dsl.language.shared import shared as shared
    from fa4dsl.language.tma import bulk_load as bulk_load, bulk_push as bulk_push, bulk_store as bulk_store, tma as tma
    from fa4dsl.language.warpgroup_mma import (
        accumulator as accumulator,
        wgmma as wgmma,
        wgmma_commit as wgmma_commit,
        wgmma_fence as wgmma_fence,
        wgmma_wait as wgmma_wait,
    )
    from fa4dsl.runtime.diagnostics import Fa4dslError as Fa4dslError, Fa4dslWarning as Fa4dslWarning
    from fa4dsl.types import (
        Constexpr as Constexpr,
        DType as DType,
        Pointer as Pointer,
        RaggedTensorMap as RaggedTensorMap,
        TensorMap as TensorMap,
        bf16 as bf16,
        bool_ as bool_,
        e4m3 as e4m3,
        e5m2 as e5m2,
        f16 as f16,
        f32 as f32,
        f64 as f64,
        i16 as i16,
        i32 as i32,
        i64 as i64,
        i8 as i8,
        swizzle128 as swizzle128,
        swizzle32 as swizzle32,
        swizzle64 as swizzle64,
        u16 as u16,
        u32 as u32,
        u64 as u64,
        u8 as u8,
    )

_MODULES: dict[str, tuple[str, ...]] = {
    "fa4dsl.frontend.functions": ("device_function",),
    "fa4dsl.kernel_object": (
        "BoundKernel",
        "Kernel",
        "kernel",
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
    "fa4dsl.language.barriers": ("mbarrier",),
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
        "exp2",
        "floor",
        "fma",
        "leading_zeros",
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
    "fa4dsl.language.python_functions": ("static_range",),
    "fa4dsl.language.registers": (
        "registers",
        "vector",
    ),
    "fa4dsl.language.roles": (
        "elect",
        "role",
    ),
    "fa4dsl.language.shared": ("shared",),
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
