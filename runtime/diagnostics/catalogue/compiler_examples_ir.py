"""Examples of the compiler's diagnostics in IR: small MLIR modules, as a pass' author or a reader of `fa4dsl show` writes them."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples

_KERNEL = """module {{ gpu.module @kernels {{
  func.func @kernel({arguments}) attributes {{fa4.kernel, fa4.block = array<i32: {threads}, 1, 1>}} {{
{body}
    return
  }}
}} }}
"""


def _kernel(*body: str, arguments: str = "", threads: int = 128) -> str:
    return _KERNEL.format(arguments=arguments, threads=threads, body="\n".join(f"    {line}" for line in body))


def _role(name: str, first_warp: int, warps: int, registers: int = 0) -> str:
    fields = f'name = "{name}", first_warp = {first_warp} : i32, warps = {warps} : i32, registers = {registers} : i32'
    return f"scf.execute_region {{ scf.yield }} {{fa4.role = {{{fields}}}}}"


def _array(name: str) -> str:
    fields = f'name = "{name}", dtype = f32, shape = array<i64: 64>, alignment = 16 : i64, swizzle = "none"'
    return f'%{name} = "fa4.shared_alloc"() {{{fields}}} : () -> !fa4.shared'


def _address(array: str, offset: str, name: str = "address") -> str:
    return f'%{name} = "fa4.shared_address"(%{array}, %{offset}) : (!fa4.shared, i32) -> !llvm.ptr<3>'


_STORE = "llvm.store %x, %address : f32, !llvm.ptr<3>"
_TWO = """module {{
  gpu.module @{first} {{ func.func @kernel() attributes {{fa4.kernel, fa4.block = array<i32: 128, 1, 1>}} {{ return }} }}
{second}}}
"""
_OUT = "%x: f32, %out: !llvm.ptr<1>"
_RESULT = "llvm.store %y, %out : f32, !llvm.ptr<1>"

EXAMPLES: Examples = {
    "C003": (
        _kernel('"fa4.block_synch"() : () -> ()'),
        _kernel('"fa4.block_sync"() : () -> ()'),
    ),
    "C006": (
        _kernel(_array("tile"), '%address = "fa4.shared_address"(%tile) : (!fa4.shared) -> !llvm.ptr<3>', _STORE, arguments="%x: f32"),
        _kernel(_array("tile"), "%start = arith.constant 0 : i32", _address("tile", "start"), _STORE, arguments="%x: f32"),
    ),
    "C007": (
        _kernel(
            _array("tile"),
            "%start = arith.constant 0 : i64",
            '%address = "fa4.shared_address"(%tile, %start) : (!fa4.shared, i64) -> !llvm.ptr<3>',
            _STORE,
            arguments="%x: f32",
        ),
        _kernel(_array("tile"), "%start = arith.constant 0 : i32", _address("tile", "start"), _STORE, arguments="%x: f32"),
    ),
    "C013": (
        _kernel('scf.execute_region { scf.yield } {fa4.role = {name = "producer", warps = 4 : i32}}'),
        _kernel(_role("producer", 0, 4)),
    ),
    "C015": (
        _kernel("gpu.barrier"),
        _kernel('"fa4.block_sync"() : () -> ()'),
    ),
    "C017": (
        _TWO.format(
            first="first",
            second="  gpu.module @second { func.func @kernel() attributes {fa4.kernel, fa4.block = array<i32: 128, 1, 1>} { return } }\n",
        ),
        _TWO.format(first="first", second=""),
    ),
    "C018": (
        _kernel("%y = func.call @sinf(%x) : (f32) -> f32", _RESULT, arguments=_OUT).replace(
            "  func.func @kernel", "  func.func private @sinf(f32) -> f32\n  func.func @kernel"
        ),
        _kernel('%y = "fa4.approximate"(%x) {function = "sin", ftz = false} : (f32) -> f32', _RESULT, arguments=_OUT),
    ),
    "C021": (
        _kernel(
            _array("even"),
            _array("odd"),
            "%start = arith.constant 0 : i32",
            "%tile = arith.select %first, %even, %odd : !fa4.shared",
            _address("tile", "start"),
            _STORE,
            arguments="%x: f32, %first: i1",
        ),
        _kernel(
            _array("even"),
            _array("odd"),
            "%start = arith.constant 0 : i32",
            _address("even", "start", "a"),
            _address("odd", "start", "b"),
            "%address = arith.select %first, %a, %b : !llvm.ptr<3>",
            _STORE,
            arguments="%x: f32, %first: i1",
        ),
    ),
    "C024": (
        _kernel("%r = llvm.intr.lrint(%x) : (f32) -> i64", "llvm.store %r, %out : i64, !llvm.ptr<1>", arguments=_OUT),
        _kernel("%r = arith.fptosi %x : f32 to i64", "llvm.store %r, %out : i64, !llvm.ptr<1>", arguments=_OUT),
    ),
    "C030": (
        _kernel(_role("producer", 0, 1), _role("consumer", 1, 4)),
        _kernel(_role("producer", 0, 1), _role("consumer", 1, 4), threads=160),
    ),
    "C031": (
        _kernel(_role("producer", 0, 1), _role("consumer", 0, 4)),
        _kernel(_role("producer", 0, 1), _role("consumer", 1, 3)),
    ),
    "C032": (
        _kernel(_role("producer", 0, 4, registers=100)),
        _kernel(_role("producer", 0, 4, registers=104)),
    ),
}
