"""One well-formed use of every operation of the dialect (several where an attribute chooses the instruction), as MLIR text."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

from fa4dsl.passes.dialect.constraints import EXACT_TYPES, Signature, segment_sizes, signature
from fa4dsl.passes.dialect.rules import CONVERSIONS, INDICES, L2_POLICIES, accumulator_count, mma_registers
from fa4dsl.passes.dialect.table import OPERATIONS


@dataclass(frozen=True)
class Sample:
    """A use of `operation`; `types` are those of open operand slots by name, `results` of all results."""

    operation: str
    attributes: dict[str, Any] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    results: tuple[str, ...] | None = None
    variadic: int = 0
    """How many values a variadic operand takes."""

    @property
    def label(self) -> str:
        chosen = [f"{key}={value}" for key, value in self.attributes.items()] + list(self.types.values())
        return f"{self.operation}({', '.join(chosen)})"


_ARRIVE = [{"order": order, "scope": scope} for order, scope in product(("release", "relaxed"), ("cta", "cluster"))]
_WAIT = [{"order": order, "scope": scope} for order, scope in product(("acquire", "relaxed"), ("cta", "cluster"))]
_POINTERS = ("!llvm.ptr", "!llvm.ptr<1>", "!llvm.ptr<3>", "!llvm.ptr<7>")


def _alloc() -> list[Sample]:
    array = {"name": "sample", "dtype": "f32", "shape": [4, 4], "alignment": 16, "swizzle": "none"}
    barrier = {"name": "sample_barrier", "count": 2, "arrivals": 3, "scope": "cta"}
    return [
        Sample("shared_alloc", array),
        Sample("shared_alloc", {**array, "overlay": "array"}),
        Sample("mbarrier_alloc", barrier),
    ]


def _memory() -> list[Sample]:
    found = []
    values = ("i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "vector<2xf16>", "vector<4xf32>", "vector<2xi64>", "vector<8xbf16>")
    for value in values:
        found.append(Sample("load", {"order": "weak", "cache": "nc"}, {"address": "!llvm.ptr<1>"}, (value,)))
        found.append(Sample("store", {"order": "weak", "cache": "cs"}, {"address": "!llvm.ptr<1>", "value": value}))
    for pointer, scope in product(_POINTERS, ("cta", "cluster", "gpu", "sys")):
        for order in ("relaxed", "acquire"):
            found.append(Sample("load", {"order": order, "scope": scope}, {"address": pointer}, ("i32",)))
        for order in ("relaxed", "release"):
            found.append(Sample("store", {"order": order, "scope": scope}, {"address": pointer, "value": "f32"}))
    for pointer in _POINTERS:
        found.append(Sample("load", {"order": "volatile"}, {"address": pointer}, ("i64",)))
        found.append(Sample("store", {"order": "volatile"}, {"address": pointer, "value": "i64"}))
        for order in ("relaxed", "acquire", "release", "acq_rel"):
            common = {"order": order, "scope": "cluster"}
            found.append(Sample("atomic", {"kind": "add", **common}, {"address": pointer, "value": "i32"}, ("i32",)))
            found.append(Sample("compare_and_swap", common, {"address": pointer, "expected": "i64", "desired": "i64"}, ("i64",)))
    for kind in ("add", "sub", "and", "or", "xor", "exch", "min", "max", "umin", "umax", "inc", "dec", "fadd"):
        types = ("f32", "f64") if kind == "fadd" else ("i32",) if kind in ("inc", "dec") else ("i32", "i64")
        for value in types:
            common = {"kind": kind, "order": "relaxed", "scope": "gpu"}
            found.append(Sample("atomic", common, {"address": "!llvm.ptr<1>", "value": value}, (value,)))
            if kind not in ("exch", "sub"):
                found.append(Sample("reduce", common, {"address": "!llvm.ptr<1>", "value": value}))
    found.append(Sample("reduce", {"kind": "add", "order": "release", "scope": "cluster"}, {"address": "!llvm.ptr<7>", "value": "i32"}))
    return found


def _barriers() -> list[Sample]:
    found = [Sample("mbarrier_expect_tx", {"scope": scope}) for scope in ("cta", "cluster")]
    for order in _ARRIVE:
        found += [Sample(name, {"count": 2, **order}) for name in ("mbarrier_arrive", "mbarrier_arrive_remote")]
        found += [Sample(name, order) for name in ("mbarrier_arrive_expect_tx", "mbarrier_arrive_expect_tx_remote")]
    for order in _WAIT:
        found.append(Sample("mbarrier_wait", order))
        found += [Sample("mbarrier_test", {**order, "suspend": suspend}) for suspend in (False, True)]
    found += [Sample(f"named_barrier_{word}", {"threads": 64, "name": "pair"}) for word in ("sync", "arrive")]
    found += [Sample("cluster_arrive", {"order": order}) for order in ("release", "relaxed")]
    found.append(Sample("cluster_wait", {"order": "acquire"}))
    found += [
        Sample("fence", {"order": order, "scope": scope})
        for order, scope in product(("acq_rel", "sc", "acquire", "release"), ("cta", "cluster", "gpu", "sys"))
    ]
    found += [Sample("fence_proxy_async", {"space": space}) for space in ("shared::cta", "shared::cluster", "global", "all")]
    return found


def _copies() -> list[Sample]:
    found = []
    for rank in range(1, 6):
        found.append(Sample("tma_load", {"bytes": 1024}, variadic=rank))
        found.append(Sample("tma_load_multicast", {"bytes": 1024}, variadic=rank))
        found.append(Sample("tma_store", {"bytes": 1024, "reduce": "none"}, variadic=rank))
    for reduction in ("add", "min", "max", "inc", "dec", "and", "or", "xor"):
        found.append(Sample("tma_store", {"bytes": 1024, "reduce": reduction}, variadic=2))
    for policy in L2_POLICIES:
        for name in ("tma_load", "tma_load_multicast"):
            found.append(Sample(name, {"bytes": 1024, "cache": policy}, variadic=2))
        found.append(Sample("tma_store", {"bytes": 1024, "reduce": "none", "cache": policy}, variadic=2))
        found += [Sample(name, {"cache": policy}) for name in ("bulk_load", "bulk_load_multicast", "bulk_store")]
    found += [Sample("bulk_wait", {"pending": 1, "read": read}) for read in (False, True)]
    for value in ("i32", "f32", "vector<2xf32>", "vector<4xf32>", "i64", "vector<8xbf16>"):
        found.append(Sample("store_async", {}, {"value": value}))
    found += [Sample("copy_async", {"bytes": size, "cache": "ca"}) for size in (4, 8, 16)]
    found.append(Sample("copy_async", {"bytes": 16, "cache": "cg"}))
    found.append(Sample("copy_async_wait", {"pending": 2}))
    return found


def _warp() -> list[Sample]:
    found = [Sample("index", {"what": what}) for what in INDICES]
    for mode, width, value in product(("idx", "up", "down", "bfly"), (32, 8), ("i32", "f32")):
        found.append(Sample("shuffle", {"mode": mode, "width": width}, {"value": value}, (value,)))
    found += [Sample("vote", {"mode": mode}, {}, ("i32" if mode == "ballot" else "i1",)) for mode in ("any", "all", "uni", "ballot")]
    found += [Sample("warp_reduce", {"kind": kind}) for kind in ("add", "min", "max", "umin", "umax", "and", "or", "xor")]
    found += [Sample("match", {"mode": "any"}, {"value": value}) for value in ("i32", "i64")]
    for name, flush in product(("exp2", "log2", "rcp", "rsqrt", "sqrt", "sin", "cos"), (False, True)):
        found.append(Sample("approximate", {"function": name, "ftz": flush}, {"value": "f32"}, ("f32",)))
    found.append(Sample("approximate", {"function": "tanh", "ftz": False}, {"value": "f32"}, ("f32",)))
    for to, (sources, result) in CONVERSIONS.items():
        found.append(Sample("convert", {"to": to}, {"values": sources[0]}, (result,), len(sources)))
    found += [Sample("set_max_registers", {"count": 232, "direction": direction}) for direction in ("decrease", "increase")]
    found.append(
        Sample("inline_ptx", {"text": "add.u32 $0, $1, $2;", "constraints": "=r,r,r", "pure": True}, {"operands": "i32"}, ("i32",), 2)
    )
    text = "{ add.u32 $0, $2, $2; sub.u32 $1, $2, $2; }"
    found.append(Sample("device_print", {"format": "%d %*d%%"}, {"values": "i32"}, variadic=3))
    found.append(Sample("device_print", {"format": "%g"}, {"values": "f64"}, variadic=1))
    found.append(Sample("device_print", {"format": "%p %s"}, {"values": "!llvm.ptr"}, variadic=2))
    found.append(Sample("device_print", {"format": "nothing"}))
    found.append(
        Sample("inline_ptx", {"text": text, "constraints": "=r,=r,r,~{memory}", "pure": False}, {"operands": "i32"}, ("i32", "i32"), 1)
    )
    return found


def _matrix() -> list[Sample]:
    found = [Sample("wgmma_wait", {"pending": 0}, {"accumulators": "f32"}, ("f32",) * 4, 4), Sample("wgmma_wait", {"pending": 1})]
    for swizzle in ("none", "32B", "64B", "128B"):
        found.append(Sample("wgmma_descriptor", {"leading": 16, "stride": 1024, "swizzle": swizzle}))
    kinds = (
        ("bf16", "bf16", "f32"),
        ("f16", "f16", "f32"),
        ("f16", "f16", "f16"),
        ("tf32", "tf32", "f32"),
        ("e4m3", "e5m2", "f32"),
        ("e4m3", "e4m3", "f16"),
        ("s8", "u8", "s32"),
    )
    for (a, b, d), n in product(kinds, (8, 64, 256)):
        element = {"f32": "f32", "f16": "vector<2xf16>", "s32": "i32"}[d]
        count = accumulator_count(n, d)
        common = {"n": n, "a_type": a, "b_type": b, "d_type": d, "negate_a": False, "negate_b": d != "s32"}
        majors = ("k", "mn") if a in ("f16", "bf16") else ("k",)
        for major in majors:
            form = {**common, "a_major": major, "b_major": major}
            found.append(Sample("wgmma", form, {"accumulators": element}, (element,) * count, count))
        register = {**common, "b_major": majors[-1]}
        found.append(Sample("wgmma_register_a", register, {"accumulators": element}, (element,) * count, count))
    shapes = (
        ("m16n8k16", "bf16", "bf16", "f32"),
        ("m16n8k16", "f16", "f16", "f32"),
        ("m16n8k16", "f16", "f16", "f16"),
        ("m16n8k8", "bf16", "bf16", "f32"),
        ("m16n8k8", "tf32", "tf32", "f32"),
        ("m16n8k4", "tf32", "tf32", "f32"),
        ("m16n8k32", "e4m3", "e5m2", "f32"),
        ("m16n8k32", "s8", "u8", "s32"),
        ("m16n8k16", "s8", "s8", "s32"),
        ("m8n8k16", "u8", "u8", "s32"),
    )
    for shape, a, b, c in shapes:
        counts = mma_registers(shape, a, c, c)
        form = {"shape": shape, "a_type": a, "b_type": b, "c_type": c, "d_type": c}
        # Every register may be given as i32; the results are too.
        found.append(Sample("mma", form, {"registers": "i32"}, ("i32",) * counts[3], sum(counts[:3])))
    for count, transpose in product((1, 2, 4), (False, True)):
        found.append(Sample("load_matrix", {"count": count, "transpose": transpose}, {}, ("i32",) * count))
        found.append(Sample("store_matrix", {"transpose": transpose}, {}, None, count))
    return found


def samples() -> list[Sample]:
    """All samples; every operation of the table has one."""
    found = [*_alloc(), *_memory(), *_barriers(), *_copies(), *_warp(), *_matrix()]
    covered = {sample.operation for sample in found}
    for operation in OPERATIONS:
        if operation.name in covered:
            continue
        shape = signature(operation.name)
        assert shape is not None
        assert all(slot.optional for slot in shape.attributes), f"{operation.name} has attributes but no sample"
        found.append(Sample(operation.name))
    return found


_GIVEN = {"shared": "%array", "mbarrier": "%barrier", "tensor_map": "%map", "i16": "%h", "i64": "%l", "i1": "%flag"}


def _attribute(kind: str, value: Any) -> str:
    if kind == "str":
        return f'"{value}"'
    if kind == "int":
        return f"{value} : i64"
    if kind == "bool":
        return str(value).lower()
    if kind == "ints":
        return f"array<i64: {', '.join(map(str, value))}>"
    return str(value)


def _operands(sample: Sample, shape: Signature, number: int) -> tuple[list[str], list[str], list[str]]:
    """(lines that make operands, names, types)"""
    lines, names, types = [], [], []
    for slot in shape.operands:
        for _ in range(sample.variadic if slot.variadic else 1):
            text = (
                sample.types.get(slot.name)
                or EXACT_TYPES.get(slot.constraint)
                or {"integer": "i32", "scalar": "i32", "value": "i32"}[slot.constraint]
            )
            types.append(text)
            if slot.constraint in _GIVEN:
                names.append(_GIVEN[slot.constraint])
                continue
            name = f"%v{number}_{len(names)}"
            lines.append(_made(name, text))
            names.append(name)
    return lines, names, types


def _made(name: str, text: str) -> str:
    """A line that makes a run-time value of a type (from the kernel's parameters, so that nothing folds)."""
    pointers = {"!llvm.ptr": "%generic", "!llvm.ptr<1>": "%p", "!llvm.ptr<3>": "%local", "!llvm.ptr<7>": "%remote"}
    if text in pointers:
        source = pointers[text]
        return f"{name} = llvm.getelementptr {source}[16] : ({text}) -> {text}, i8"
    if text == "i32":
        return f"{name} = arith.addi %n, %n : i32"
    return f"{name} = llvm.load %p : !llvm.ptr<1> -> {text}"


def _use(sample: Sample, number: int) -> list[str]:
    """The lines of one use; its results are stored, so that they are not dead."""
    shape = signature(sample.operation)
    assert shape is not None
    lines, names, types = _operands(sample, shape, number)
    kinds = {slot.name: slot.constraint for slot in shape.attributes}
    given = {
        key: f"{value}{number}" if key == "name" and "alloc" in sample.operation else value for key, value in sample.attributes.items()
    }
    attributes = ", ".join(f"{key} = {_attribute(kinds[key], value)}" for key, value in given.items())
    results = (
        list(sample.results)
        if sample.results is not None
        else [EXACT_TYPES[slot.constraint] for slot in shape.results if not slot.variadic]
    )
    result = f"%r{number}"
    left = f"{result}:{len(results)} = " if results else ""
    for word, slots, count in (("operand", shape.operands, len(types)), ("result", shape.results, len(results))):
        if slots and slots[0].constraint == "values":
            attributes += f", {word}SegmentSizes = array<i32: {', '.join(map(str, segment_sizes(count)))}>"
    lines.append(f'{left}"fa4.{sample.operation}"({", ".join(names)}) {{{attributes}}} : ({", ".join(types)}) -> ({", ".join(results)})')
    stores = [f"llvm.store {result}#{i}, %p : {text}, !llvm.ptr<1>" for i, text in enumerate(results) if not text.startswith("!fa4")]
    return lines + stores


def kernel(*uses: Sample) -> str:
    """A kernel with one use after the other."""
    body = "\n".join(f"    {line}" for number, sample in enumerate(uses) for line in _use(sample, number))
    return f"""module {{ gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {{
  func.func @kernel(%p: !llvm.ptr<1>, %map: !fa4.tensor_map, %n: i32, %h: i16, %l: i64) attributes {{fa4.kernel,
      fa4.block = array<i32: 128, 1, 1>, fa4.cluster = array<i32: 2, 1, 1>, fa4.min_blocks = 1 : i32, fa4.fences = "manual",
      fa4.parameters = [{{name = "p", kind = "pointer", dtype = "u8"}}, {{name = "map", kind = "tensor_map", dtype = "f32",
      tensor_map = {{dtype = "f32", rank = 2 : i64, box = array<i64: 32, 8>}}}}, {{name = "n", kind = "scalar", dtype = "i32"}},
      {{name = "h", kind = "scalar", dtype = "i16"}}, {{name = "l", kind = "scalar", dtype = "i64"}}]}} {{
    %zero = arith.constant 0 : i32
    %flag = arith.cmpi slt, %n, %zero : i32
    %array = "fa4.shared_alloc"() {{name = "array", dtype = f32, shape = array<i64: 1024>, alignment = 128 : i64, swizzle = "none"}} : () -> !fa4.shared
    %barrier = "fa4.mbarrier_alloc"() {{name = "barrier", count = 4 : i64, arrivals = 1 : i64, scope = "cluster"}} : () -> !fa4.mbarrier
    %local = "fa4.shared_address"(%array, %n) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %remote = "fa4.peer_address"(%local, %n) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
    %generic = llvm.addrspacecast %p : !llvm.ptr<1> to !llvm.ptr
{body}
    return
  }}
}} }}
"""
