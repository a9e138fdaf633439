"""Names that authors bring along from CUDA C++, Triton, CuTe and numpy, and what they are called here."""

from __future__ import annotations

_TYPES = {
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    "bfloat16": "bf16",
    "float8e4nv": "e4m3",
    "float8_e4m3fn": "e4m3",
    "float8e5": "e5m2",
    "float8_e5m2": "e5m2",
    "half": "f16",
    "double": "f64",
}

_CALLS = {
    "threadIdx": 'thread.index("x")',
    "blockIdx": 'block.index("x")',
    "blockDim": 'block.dim("x"), or thread.count()',
    "gridDim": 'grid.dim("x")',
    "warpSize": "32; a lane is lane.index()",
    "laneid": "lane.index()",
    "program_id": 'block.index("x")',
    "num_programs": 'grid.dim("x")',
    "syncthreads": "block.sync()",
    "__syncthreads": "block.sync()",
    "__syncwarp": "warp.sync()",
    "syncwarp": "warp.sync()",
    "__shfl_sync": "shuffle(value, lane)",
    "__shfl_xor_sync": "shuffle_xor(value, mask)",
    "__shfl_down_sync": "shuffle_down(value, delta)",
    "__shfl_up_sync": "shuffle_up(value, delta)",
    "__ballot_sync": "ballot(condition)",
    "__any_sync": "vote_any(condition)",
    "__all_sync": "vote_all(condition)",
    "__threadfence": "fence()",
    "__popc": "popcount(value)",
    "__clz": "leading_zeros(value)",
    "__ldg": 'pointer.load(index, cache="nc")',
    "atomicAdd": "atomic.add(pointer, value), or reduce.add(pointer, value) where the old value is not used",
    "atomicMax": "atomic.max(pointer, value)",
    "atomicMin": "atomic.min(pointer, value)",
    "atomicCAS": "atomic.compare_and_swap(pointer, expected, desired)",
    "atomicExch": "atomic.exchange(pointer, value)",
    "atomic_add": "atomic.add(pointer, value), or reduce.add(pointer, value) where the old value is not used",
    "printf": "device_print(...)",
    "expf": "exp(value)",
    "__expf": "exp(value)",
    "exp2f": "exp2(value)",
    "logf": "log(value)",
    "sqrtf": "sqrt(value)",
    "rsqrtf": "rsqrt(value)",
    "tanhf": "tanh(value)",
    "erff": "erf(value)",
    "fmaxf": "max(a, b)",
    "fminf": "min(a, b)",
    "fabsf": "abs(value)",
    "__float2bfloat16": "value.to(bf16)",
    "inf": 'float("inf")',
    "INFINITY": 'float("inf")',
    "nan": 'float("nan")',
    "pi": "math.pi, with `import math` at the top of the module",
    "arange": "thread.index(): a value is one thread's, and a loop or a vector covers several elements",
    "zeros": "registers(f32, shape) for a thread's own array, accumulator(f32, columns) for a product, shared(f32, shape) for the CTA's",
    "full": "registers(f32, shape, fill=value)",
    "dot": "wgmma(a, b.T, into=acc) of a warpgroup, or mma(a, b, c) of a warp",
    "cdiv": "(a + b - 1) // b",
    "constexpr": "a keyword-only parameter: what stands after * is known at compile time",
    "range_constexpr": "static_range(...)",
    "static_for": "static_range(...)",
    "sigmoid": "rcp(1.0 + exp(-value))",
    "cast": "value.to(dtype)",
    "cp_async": "copy_async(array, indices, pointer)",
    "elect_one": "`with elect():`",
    "elect_sync": "`with elect():`",
    "cute": "the objects of this language: shared arrays, TensorMap parameters and pointers carry shape, type and swizzle",
    "tl": "fa4dsl's own names: block.index() for program_id, pointer.load and pointer.store, wgmma for dot",
}


_ATTRIBUTES = {
    "astype": "value.to(dtype)",
    "cast": "value.to(dtype)",
    "item": "the value itself: it is a scalar",
    "view": "value.bitcast(dtype)",
    "max": 'max(value), or warp_reduce(value, "max") over the lanes of a warp',
    "sum": "sum(value), or warp_reduce(value) over the lanes of a warp",
}


def familiar_attribute(name: str) -> str:
    """What to write in place of an unknown attribute of a run-time value; "" where the name says nothing."""
    return _ATTRIBUTES.get(name, "")


def familiar(name: str) -> str:
    """What to write in place of an unknown name, as a mend; "" where the name says nothing."""
    if name in _TYPES:
        return f"the type is called {_TYPES[name]} here: from fa4dsl import {_TYPES[name]}"
    return f"write {_CALLS[name]}" if name in _CALLS else ""
