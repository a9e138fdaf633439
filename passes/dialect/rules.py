"""Legal values of the dialect's attributes, beside the table they belong to.

`value_problem` looks at one attribute; `operation_problem` at what several attributes and the types must agree on. Sources:
PTX ISA sections on ld/st/atom, mbarrier, cp.async.bulk.tensor, wgmma, mma, setmaxnreg.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fa4dsl.passes.dialect.inline_ptx import constraint_problem
from fa4dsl.runtime.printf_format import FLOATS, Conversion, Malformed, parse_format

SWIZZLES = ("none", "32B", "64B", "128B")
SCOPES = ("cta", "cluster", "gpu", "sys")
BARRIER_SCOPES = ("cta", "cluster")
ATOMIC_KINDS = ("add", "sub", "and", "or", "xor", "exch", "min", "max", "umin", "umax", "inc", "dec", "fadd")
INDICES = (
    *(f"{what}.{axis}" for what in ("thread", "block", "block_dim", "grid_dim", "cluster_block", "cluster_id") for axis in "xyz"),
    "cluster.rank",
    "cluster.size",
    "lane",
    "warp",
)
L2_POLICIES = ("evict_first", "evict_last", "evict_normal", "evict_unchanged")
WGMMA_K = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
"""K of m64nNkK by the element type of A and B."""
MMA_SHAPES = ("m8n8k16", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32")
CONVERSIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "rn.bf16x2.f32": (("f32", "f32"), "vector<2xbf16>"),
    "rn.relu.bf16x2.f32": (("f32", "f32"), "vector<2xbf16>"),
    "rz.bf16x2.f32": (("f32", "f32"), "vector<2xbf16>"),
    "rn.f16x2.f32": (("f32", "f32"), "vector<2xf16>"),
    "rn.relu.f16x2.f32": (("f32", "f32"), "vector<2xf16>"),
    "rz.f16x2.f32": (("f32", "f32"), "vector<2xf16>"),
    "rn.satfinite.e4m3x2.f32": (("f32", "f32"), "i16"),
    "rn.satfinite.e5m2x2.f32": (("f32", "f32"), "i16"),
    "rn.satfinite.e4m3x2.f16x2": (("vector<2xf16>",), "i16"),
    "rn.satfinite.e5m2x2.f16x2": (("vector<2xf16>",), "i16"),
    "rn.f16x2.e4m3x2": (("i16",), "vector<2xf16>"),
    "rn.f16x2.e5m2x2": (("i16",), "vector<2xf16>"),
    "rn.tf32.f32": (("f32",), "i32"),
    "rz.tf32.f32": (("f32",), "i32"),
    "rna.tf32.f32": (("f32",), "i32"),
    "rn.bf16.f32": (("f32",), "bf16"),
    "rz.bf16.f32": (("f32",), "bf16"),
    "rn.f16.f32": (("f32",), "f16"),
    "rz.f16.f32": (("f32",), "f16"),
    **{f"{mode}i.s32.f32": (("f32",), "i32") for mode in ("rn", "rz", "rm", "rp")},
    **{f"{mode}i.u32.f32": (("f32",), "i32") for mode in ("rn", "rz", "rm", "rp")},
    **{f"{mode}i.f32.f32": (("f32",), "f32") for mode in ("rn", "rz", "rm", "rp")},
}
"""`convert`'s words: operand types (packed operands lowest element first) and result type."""


def _one_of(*values: Any) -> Callable[[Any], str]:
    return lambda value: "" if value in values else "one of " + ", ".join(map(str, values))


def _between(low: int, high: int, step: int = 1) -> Callable[[Any], str]:
    multiple = f", a multiple of {step}" if step > 1 else ""
    return lambda value: "" if low <= value <= high and value % step == 0 else f"{low} to {high}{multiple}"


def _power_of_two(low: int, high: int) -> Callable[[Any], str]:
    return lambda value: "" if low <= value <= high and value & (value - 1) == 0 else f"a power of two, {low} to {high}"


def _shape(value: Any) -> str:
    return "" if value and all(size >= 1 for size in value) else "at least one dimension, each of size 1 or more"


def _nonempty(value: Any) -> str:
    return "" if value else "a name"


_ARRIVE = {"order": _one_of("release", "relaxed"), "scope": _one_of(*BARRIER_SCOPES)}
_WAIT = {"order": _one_of("acquire", "relaxed"), "scope": _one_of(*BARRIER_SCOPES)}
_COUNT = _between(1, 2**20 - 1)
_NAMED = {"threads": _between(32, 1024, 32)}
_BULK_BYTES = _between(16, 2**20 - 16, 16)
_CACHE = {"cache": _one_of(*L2_POLICIES)}
_BOX = {"bytes": _BULK_BYTES, **_CACHE}
_WGMMA = {
    "n": _between(8, 256, 8),
    "a_type": _one_of(*WGMMA_K),
    "b_type": _one_of(*WGMMA_K),
    "d_type": _one_of("f32", "f16", "s32"),
    "a_major": _one_of("k", "mn"),
    "b_major": _one_of("k", "mn"),
}
_MMA_INPUTS = _one_of("f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8")

RULES: dict[str, dict[str, Callable[[Any], str]]] = {
    "shared_alloc": {
        "name": _nonempty,
        "shape": _shape,
        "alignment": _power_of_two(1, 1024),
        "swizzle": _one_of(*SWIZZLES),
    },
    "load": {
        "order": _one_of("weak", "relaxed", "acquire", "volatile"),
        "scope": _one_of(*SCOPES),
        "cache": _one_of("nc", "ca", "cg", "cs", "lu", "cv"),
    },
    "store": {
        "order": _one_of("weak", "relaxed", "release", "volatile"),
        "scope": _one_of(*SCOPES),
        "cache": _one_of("wb", "cg", "cs", "wt"),
    },
    "atomic": {
        "kind": _one_of(*ATOMIC_KINDS),
        "order": _one_of("relaxed", "acquire", "release", "acq_rel"),
        "scope": _one_of(*SCOPES),
    },
    "compare_and_swap": {"order": _one_of("relaxed", "acquire", "release", "acq_rel"), "scope": _one_of(*SCOPES)},
    "reduce": {
        "kind": _one_of(*(kind for kind in ATOMIC_KINDS if kind not in ("exch", "sub"))),
        "order": _one_of("relaxed", "release"),
        "scope": _one_of(*SCOPES),
    },
    "mbarrier_alloc": {"name": _nonempty, "count": _between(1, 4096), "arrivals": _COUNT, "scope": _one_of(*BARRIER_SCOPES)},
    "mbarrier_arrive": {"count": _COUNT, **_ARRIVE},
    "mbarrier_arrive_remote": {"count": _COUNT, **_ARRIVE},
    "mbarrier_expect_tx": {"scope": _one_of(*BARRIER_SCOPES)},
    "mbarrier_arrive_expect_tx": _ARRIVE,
    "mbarrier_arrive_expect_tx_remote": _ARRIVE,
    "mbarrier_wait": _WAIT,
    "mbarrier_test": _WAIT,
    "named_barrier_sync": _NAMED,
    "named_barrier_arrive": _NAMED,
    "cluster_arrive": {"order": _one_of("release", "relaxed")},
    "cluster_wait": {"order": _one_of("acquire")},
    "index": {"what": _one_of(*INDICES)},
    "fence": {"order": _one_of("acq_rel", "sc", "acquire", "release"), "scope": _one_of(*SCOPES)},
    "fence_proxy_async": {"space": _one_of("shared::cta", "shared::cluster", "global", "all")},
    "tma_load": _BOX,
    "tma_load_multicast": _BOX,
    "tma_store": {"reduce": _one_of("none", "add", "min", "max", "inc", "dec", "and", "or", "xor"), **_BOX},
    "bulk_load": _CACHE,
    "bulk_load_multicast": _CACHE,
    "bulk_store": _CACHE,
    "bulk_wait": {"pending": _between(0, 63)},
    "copy_async": {"bytes": _one_of(4, 8, 16), "cache": _one_of("ca", "cg")},
    "copy_async_wait": {"pending": _between(0, 63)},
    "shuffle": {"mode": _one_of("idx", "up", "down", "bfly"), "width": _power_of_two(1, 32)},
    "vote": {"mode": _one_of("any", "all", "uni", "ballot")},
    "warp_reduce": {"kind": _one_of("add", "min", "max", "umin", "umax", "and", "or", "xor")},
    "match": {"mode": _one_of("any")},
    "approximate": {"function": _one_of("exp2", "log2", "rcp", "rsqrt", "sqrt", "tanh", "sin", "cos")},
    "convert": {"to": _one_of(*CONVERSIONS)},
    "wgmma_wait": {"pending": _between(0, 7)},
    "wgmma_descriptor": {
        "leading": _between(0, (2**14 - 1) * 16, 16),
        "stride": _between(0, (2**14 - 1) * 16, 16),
        "swizzle": _one_of(*SWIZZLES),
    },
    "wgmma": _WGMMA,
    "wgmma_register_a": _WGMMA,
    "mma": {
        "shape": _one_of(*MMA_SHAPES),
        "a_type": _MMA_INPUTS,
        "b_type": _MMA_INPUTS,
        "c_type": _one_of("f16", "f32", "s32"),
        "d_type": _one_of("f16", "f32", "s32"),
    },
    "load_matrix": {"count": _one_of(1, 2, 4)},
    "set_max_registers": {"count": _between(24, 256, 8), "direction": _one_of("increase", "decrease")},
}


def value_problem(operation: str, attribute: str, value: Any) -> str:
    """What `attribute` of `operation` may be, where `value` is not it; "" where it is legal."""
    rule = RULES.get(operation, {}).get(attribute)
    return rule(value) if rule else ""


def _ordered_access(attributes: Mapping[str, Any], _operands: Sequence[str], _results: Sequence[str]) -> str:
    order = attributes["order"]
    if order in ("weak", "volatile") and "scope" in attributes:
        return f"order = {order} takes no scope"
    if order not in ("weak", "volatile") and "scope" not in attributes:
        return f"order = {order} needs a scope"
    if order != "weak" and "cache" in attributes:
        return "only a weak access takes a cache hint"
    return ""


def _ordered_load(attributes: Mapping[str, Any], operands: Sequence[str], results: Sequence[str]) -> str:
    if attributes.get("cache") == "nc" and operands[0] != "!llvm.ptr<1>":
        return "cache = nc needs a pointer to global memory (!llvm.ptr<1>)"
    return _ordered_access(attributes, operands, results) or _access_size(results[0])


def _ordered_store(attributes: Mapping[str, Any], operands: Sequence[str], results: Sequence[str]) -> str:
    return _ordered_access(attributes, operands, results) or _access_size(operands[0])


BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64}


def bits_of(text: str) -> int:
    """Bits of a scalar, 1-D vector or pointer type given as MLIR text; 0 where it has none."""
    if text.startswith("vector<"):
        *sizes, element = text[7:-1].split("x")
        count = 1
        for size in sizes:
            count *= int(size)
        return count * bits_of(element)
    if text.startswith("!llvm.ptr"):
        return 32 if text in ("!llvm.ptr<3>", "!llvm.ptr<7>", "!llvm.ptr<5>") else 64
    return int(text[1:]) if text[0] == "i" and text[1:].isdigit() else BITS.get(text, 0)


def _access_size(text: str) -> str:
    bits = bits_of(text)
    return "" if bits in (8, 16, 32, 64, 128) else f"one access moves 1, 2, 4, 8 or 16 bytes; {text} has {bits / 8:g}"


def _atomic(attributes: Mapping[str, Any], operands: Sequence[str], _results: Sequence[str]) -> str:
    kind, value = attributes["kind"], operands[1]
    if kind == "fadd":
        return "" if value in ("f32", "f64") else f"kind = fadd takes f32 or f64, not {value}"
    if kind in ("inc", "dec"):
        return "" if value == "i32" else f"kind = {kind} takes i32, not {value}"
    return "" if value in ("i32", "i64") else f"kind = {kind} takes i32 or i64, not {value}"


def _same(first: int) -> Callable[[Mapping[str, Any], Sequence[str], Sequence[str]], str]:
    def rule(_attributes: Mapping[str, Any], operands: Sequence[str], results: Sequence[str]) -> str:
        return "" if operands[first] == results[0] else f"the result is {results[0]}, its operand {operands[first]}"

    return rule


def _both(*rules: Callable[..., str]) -> Callable[..., str]:
    return lambda *arguments: next((problem for rule in rules if (problem := rule(*arguments))), "")


def _shuffle(_attributes: Mapping[str, Any], operands: Sequence[str], _results: Sequence[str]) -> str:
    return "" if bits_of(operands[0]) == 32 else f"a shuffle moves 32 bits a lane, not {operands[0]}"


def _vote(attributes: Mapping[str, Any], _operands: Sequence[str], results: Sequence[str]) -> str:
    wanted = "i32" if attributes["mode"] == "ballot" else "i1"
    return "" if results[0] == wanted else f"mode = {attributes['mode']} gives {wanted}, not {results[0]}"


def _match(_attributes: Mapping[str, Any], operands: Sequence[str], _results: Sequence[str]) -> str:
    return "" if operands[0] in ("i32", "i64") else f"match compares i32 or i64, not {operands[0]}"


def _approximate(attributes: Mapping[str, Any], operands: Sequence[str], _results: Sequence[str]) -> str:
    if operands[0] != "f32":
        return f"the hardware's approximations take f32, not {operands[0]}"
    return "tanh has no flushing form: ftz must be false" if attributes["function"] == "tanh" and attributes["ftz"] else ""


def _convert(attributes: Mapping[str, Any], operands: Sequence[str], results: Sequence[str]) -> str:
    sources, target = CONVERSIONS[attributes["to"]]
    if tuple(operands) == sources and results[0] == target:
        return ""
    return f"{attributes['to']} takes ({', '.join(sources)}) and gives {target}, not ({', '.join(operands)}) to {results[0]}"


def _coordinates(first: int) -> Callable[[Mapping[str, Any], Sequence[str], Sequence[str]], str]:
    def rule(_attributes: Mapping[str, Any], operands: Sequence[str], _results: Sequence[str]) -> str:
        count = len(operands) - first
        return "" if 1 <= count <= 5 else f"a tensor map has 1 to 5 dimensions, not {count} coordinates"

    return rule


def _copy_async(attributes: Mapping[str, Any], _operands: Sequence[str], _results: Sequence[str]) -> str:
    return "cache = cg copies 16 bytes" if attributes["cache"] == "cg" and attributes["bytes"] != 16 else ""


def _store_async(_attributes: Mapping[str, Any], operands: Sequence[str], _results: Sequence[str]) -> str:
    bits = bits_of(operands[0])
    return "" if bits in (32, 64, 128) else f"st.async moves 4, 8 or 16 bytes, not {bits / 8:g}"


def accumulator_count(n: int, d_type: str) -> int:
    """Values of one thread's m64nN accumulator: f32 and s32 one each, f16 in pairs (vector<2xf16>)."""
    return n // 4 if d_type == "f16" else n // 2


def _wgmma(first: int) -> Callable[[Mapping[str, Any], Sequence[str], Sequence[str]], str]:
    def rule(attributes: Mapping[str, Any], operands: Sequence[str], results: Sequence[str]) -> str:
        a, b, d, n = (attributes[key] for key in ("a_type", "b_type", "d_type", "n"))
        if a != b and not {a, b} <= {"e4m3", "e5m2"} and not {a, b} <= {"s8", "u8"}:
            return f"A is {a} and B is {b}: they must be of one kind"
        if (d == "s32") != (a in ("s8", "u8")) or (d == "f16" and a not in ("f16", "e4m3", "e5m2")):
            return f"{a} accumulates in {'s32' if a in ('s8', 'u8') else 'f32 or f16' if a in ('f16', 'e4m3', 'e5m2') else 'f32'}, not {d}"
        if d == "s32" and n not in (8, 16, 24) and n % 16:
            return f"integer wgmma has n of 8, 16, 24 or multiples of 16 from 32, not {n}"
        if d == "s32" and (attributes["negate_a"] or attributes["negate_b"]):
            return "integer wgmma cannot negate its inputs"
        if a not in ("f16", "bf16") and (attributes.get("a_major", "k"), attributes["b_major"]) != ("k", "k"):
            return f"{a} operands must be K-major"
        wanted, element = accumulator_count(n, d), {"f32": "f32", "f16": "vector<2xf16>", "s32": "i32"}[d]
        for what, types in (("accumulators", operands[first:]), ("results", results)):
            if list(types) != [element] * wanted:
                return f"m64n{n} with d_type = {d} has {wanted} {what} of {element} a thread, not {len(types)} ({', '.join(sorted(set(types)))})"
        return ""

    return rule


def _wgmma_wait(_attributes: Mapping[str, Any], operands: Sequence[str], results: Sequence[str]) -> str:
    return "" if list(operands) == list(results) else "every accumulator that goes in comes out, with the same type"


_MMA_INPUTS_OF = {
    "m16n8k4": ("tf32",),
    "m16n8k8": ("f16", "bf16", "tf32"),
    "m16n8k16": ("f16", "bf16", "s8", "u8"),
    "m16n8k32": ("e4m3", "e5m2", "s8", "u8"),
    "m8n8k16": ("s8", "u8"),
}
_ELEMENT_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}


def mma_registers(shape: str, a_type: str, c_type: str, d_type: str) -> tuple[int, int, int, int]:
    """32-bit registers a lane holds of A, B, C and D: the tile's bits over 32 lanes."""
    m, nk = shape[1:].split("n")
    n, k = nk.split("k")
    rows, columns, depth = int(m), int(n), int(k)
    bits = _ELEMENT_BITS[a_type]
    c, d = (rows * columns // (64 if item == "f16" else 32) for item in (c_type, d_type))
    return rows * depth * bits // 1024, columns * depth * bits // 1024, c, d


def _mma(attributes: Mapping[str, Any], operands: Sequence[str], results: Sequence[str]) -> str:
    shape, a, b, c, d = (attributes[key] for key in ("shape", "a_type", "b_type", "c_type", "d_type"))
    legal = _MMA_INPUTS_OF[shape]
    if a not in legal or b not in legal or (a != b and a not in ("e4m3", "e5m2", "s8", "u8")):
        return f"{shape} multiplies {', '.join(legal)}, not {a} by {b}"
    integer = a in ("s8", "u8")
    if integer != (c == "s32") or integer != (d == "s32"):
        return f"{a} accumulates in {'s32' if integer else 'floats'}, not {c} to {d}"
    if (
        (c != d and shape != "m16n8k16")
        or ("f16" in (c, d) and a not in ("f16", "e4m3", "e5m2"))
        or (a in ("e4m3", "e5m2") and "f16" in (c, d))
    ):
        return f"{shape} with {a} has no form with C in {c} and D in {d}"
    counts = mma_registers(shape, a, c, d)
    if len(operands) != sum(counts[:3]) or len(results) != counts[3]:
        return f"{shape} takes {counts[0]} registers of A, {counts[1]} of B and {counts[2]} of C and gives {counts[3]}, not {len(operands)} and {len(results)}"
    return ""


def _load_matrix(attributes: Mapping[str, Any], _operands: Sequence[str], results: Sequence[str]) -> str:
    return "" if len(results) == attributes["count"] else f"count = {attributes['count']}, but {len(results)} results"


def _store_matrix(_attributes: Mapping[str, Any], operands: Sequence[str], _results: Sequence[str]) -> str:
    count = len(operands) - 1
    return "" if count in (1, 2, 4) else f"stmatrix stores 1, 2 or 4 matrices, not {count}"


def _device_print(attributes: Mapping[str, Any], operands: Sequence[str], _results: Sequence[str]) -> str:
    wanted: list[str] = []
    for piece in parse_format(attributes["format"].encode()):
        if isinstance(piece, Malformed):
            return "a % of the format begins no conversion; %% prints one"
        if isinstance(piece, Conversion):
            wanted += ["i32"] if piece.width == -1 else []
            wanted.append("f64" if piece.type in FLOATS else "!llvm.ptr" if piece.type in "ps" else f"i{8 * piece.bytes}")
    return "" if list(operands) == wanted else f"the format takes ({', '.join(wanted)}), not ({', '.join(operands)})"


_TOGETHER: dict[str, Callable[[Mapping[str, Any], Sequence[str], Sequence[str]], str]] = {
    "load": _ordered_load,
    "store": _ordered_store,
    "atomic": _both(_atomic, _same(1)),
    "reduce": _atomic,
    "compare_and_swap": _both(
        _same(1), lambda _a, operands, _r: "" if operands[1] == operands[2] in ("i16", "i32", "i64") else "it compares i16, i32 or i64"
    ),
    "shuffle": _both(_shuffle, _same(0)),
    "vote": _vote,
    "match": _match,
    "approximate": _both(_approximate, _same(0)),
    "convert": _convert,
    "tma_load": _coordinates(5),
    "tma_load_multicast": _coordinates(6),
    "tma_store": _coordinates(3),
    "copy_async": _copy_async,
    "store_async": _store_async,
    "wgmma": _wgmma(3),
    "wgmma_register_a": _wgmma(6),
    "wgmma_wait": _wgmma_wait,
    "mma": _mma,
    "inline_ptx": lambda attributes, operands, results: constraint_problem(
        attributes["text"], attributes["constraints"], operands, results
    ),
    "device_print": _device_print,
    "load_matrix": _load_matrix,
    "store_matrix": _store_matrix,
}


def operation_problem(operation: str, attributes: Mapping[str, Any], operands: Sequence[str], results: Sequence[str]) -> str:
    """What an operation's attributes and types (as MLIR text) must agree on but do not; "" where they agree."""
    rule = _TOGETHER.get(operation)
    return rule(attributes, operands, results) if rule else ""
