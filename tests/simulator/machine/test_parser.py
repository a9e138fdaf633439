"""Reading PTX."""

from __future__ import annotations

import pytest

from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.ptx.instruction import Address, Immediate, Negated, Pair, Register, Sink, Special, Symbol, Vector
from fa4dsl.runtime.ptx.parser import parse

HEAD = ".version 8.6\n.target sm_90a, debug\n.address_size 64\n"


def body(text: str, before: str = "") -> list:
    module = parse(HEAD + before + ".visible .entry k(.param .u64 p0, .param .align 64 .b8 map[128])\n{\n" + text + "\n}\n")
    return module.functions["k"].instructions


def test_header_and_parameters() -> None:
    module = parse(
        HEAD
        + ".visible .entry k(.param .u64 .ptr .global .align 16 p0, .param .align 64 .b8 map[128], .param .f32 x) .reqntid 128, 1, 1 .minnctapersm 2 { ret; }"
    )
    function = module.functions["k"]
    assert (module.version, module.target, module.entries) == ((8, 6), "sm_90a", ["k"])
    assert [(item.size, item.alignment) for item in function.parameters] == [(8, 8), (128, 64), (4, 4)]
    assert function.directives == {"reqntid": (128, 1, 1), "minnctapersm": (2,)}


@pytest.mark.parametrize(
    ("text", "bits", "kind"),
    [
        ("0f3F800000", 0x3F800000, "f32"),
        ("0d3FF0000000000000", 0x3FF0000000000000, "f64"),
        ("0x1F", 31, "integer"),
        ("0x80000000U", 0x80000000, "integer"),
        ("0b101", 5, "integer"),
        ("017", 15, "integer"),
        ("42U", 42, "integer"),
        ("-1", (1 << 64) - 1, "integer"),
        ("'A'", 65, "integer"),
        ("(1 << 4) + 3 * 2", 22, "integer"),
        ("~0 & 0xFF", 0xFF, "integer"),
        ("7 / 2 % 2", 1, "integer"),
        ("1 ? 10 : 20", 10, "integer"),
        ("WARP_SZ", 32, "integer"),
        ("1.5", 0x3FF8000000000000, "f64"),
        ("-0f3F800000", 0xBF800000, "f32"),
        ("(.s64) 5", 5, "integer"),
    ],
)
def test_immediates(text: str, bits: int, kind: str) -> None:
    (instruction, _) = body(f".reg .b32 %r<2>; mov.b32 %r1, {text}; ret;")
    assert instruction.operands[1] == Immediate(bits, kind)  # type: ignore[arg-type]


def test_operand_forms() -> None:
    text = """
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>;
    .shared .align 16 .b8 tile[256];
    setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p0;
    ld.shared.v4.u32 {%r1, %r2, _, %r3}, [tile+16];
    ld.global.u32 %r1, [%rd1+-8];
    mov.u32 %r1, %tid.x;
    elect.sync _|%p1, 0xffffffff;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
    @!%p1 bra DONE;
    DONE: ret;
    """
    found = body(text)
    assert found[0].operands[0] == Pair(Register("%p1"), Register("%p2"))
    assert found[0].operands[3] == Negated(Register("%p0"))
    assert found[1].operands == (Vector((Register("%r1"), Register("%r2"), Sink(), Register("%r3"))), Address(Symbol("tile"), 16))
    assert found[2].operands[1] == Address(Register("%rd1"), -8)
    assert found[3].operands[1] == Special("%tid.x")
    assert found[4].operands[0] == Pair(Sink(), Register("%p1"))
    assert found[5].operands[1] == Address(Register("%rd1"), 0, (Register("%r2"), Register("%r3")))
    assert (found[6].guard, found[6].guard_negated) == ("%p1", True)


def test_scopes_repeat_names() -> None:
    text = """
    .reg .b32 %r<3>;
    { .reg .pred P1; WAIT: mov.pred P1, 1; @P1 bra DONE; bra WAIT; DONE: }
    { .reg .pred P1; WAIT: mov.pred P1, 0; @P1 bra DONE; bra WAIT; DONE: }
    ret;
    """
    module = parse(HEAD + ".entry k() {" + text + "}")
    function = module.functions["k"]
    assert len(function.labels) == 4
    first, second = (item.operands[0].name for item in function.instructions if item.mnemonic == "bra" and item.guard)
    assert function.labels[first] == 3
    assert function.labels[second] == 6
    assert len([name for name, kind in function.registers.items() if kind == "pred"]) == 2


def test_ranges_prefer_the_longest_stem() -> None:
    module = parse(HEAD + ".entry k() { .reg .b32 %r<12>; .reg .b64 %r1<4>; mov.b64 %r13, %r12; mov.b32 %r5, %r2; ret; }")
    assert module.functions["k"].registers == {"%r13": "b64", "%r12": "b64", "%r5": "b32", "%r2": "b32"}


def test_source_lines_with_inlining() -> None:
    text = """
    .reg .b32 %r<3>;
    .loc 1 10 3
    mov.u32 %r1, 1;
    .loc 2 5 1, function_name $L__info_string0, inlined_at 1 10 3
    mov.u32 %r2, 2;
    ret;
    """
    module = parse(
        HEAD
        + ".entry k() {"
        + text
        + '}\n.file 1 "kernel.cu"\n.file 2 "dir" "common.cuh"\n.section .debug_str { $L__info_string0: .b8 95, 90, 0 }\n'
    )
    first, second, _ = module.functions["k"].instructions
    assert (first.place.file, first.place.line) == ("kernel.cu", 10)
    assert (second.place.file, second.place.line) == ("dir/common.cuh", 5)
    assert (second.place.inlined.file, second.place.inlined.line) == ("kernel.cu", 10)


def test_variables_and_tables() -> None:
    before = """
    .global .align 4 .u32 table[4] = {1, 0x2, 3};
    .const .f32 pi = 0f40490FDB;
    .global .u64 pointer = generic(table)+4;
    .extern .shared .align 1024 .b8 dynamic[];
    """
    text = "targets: .branchtargets A, B; .reg .u32 %r<2>; brx.idx %r1, targets; A: ret; B: ret;"
    module = parse(HEAD + before + ".entry k() {" + text + "}")
    assert module.variables["table"].size == 16
    assert [entry[1].bits for entry in module.variables["table"].initial] == [1, 2, 3]
    assert module.variables["pointer"].initial[0][1] == Symbol("generic:table", 4)
    assert module.variables["dynamic"].external
    assert module.functions["k"].tables == {"targets": ("A", "B")}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (".version 8.6\n.target sm_90a\n?", "S001", 3),
        (".version 8.6\n.target sm_90a\n.entry k() { .reg .b32 %r<2>;\nmov.u32 %r1 5; }", "S001", 4),
        (".version 8.6\n.target sm_90a\n.entry k() {\nmov.u32 %r9, 5; }", "S001", 4),
        (".version 8.6\n.target sm_90a\n.entry k() { ret;", "S001", 3),
        (".version 8.6\n.target sm_90a\n.address_size 32\n", "S002", 3),
        (".version 8.6\n.target sm_90a\n.surprise x;", "S002", 3),
        ("", "S001", 1),
        ("\x7fELF\x02", "S001", 1),
    ],
)
def test_errors_name_the_line(text: str, code: str, line: int) -> None:
    with pytest.raises(Fa4dslError) as raised:
        parse(text, "f.ptx")
    assert raised.value.code == code
    assert raised.value.diagnostic.frames[0].location.line == line
