"""device_print: what it prints of every type, the code it becomes, and the formats that it refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from language_running import load_text

from fa4dsl import (
    Constexpr,
    Pointer,
    bf16,
    device_print,
    e4m3,
    elect,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    kernel,
    registers,
    thread,
    u8,
    u32,
    u64,
)
from fa4dsl.passes.tools import find_tool
from fa4dsl.runtime.diagnostics import Fa4dslError


@kernel(threads=2)
def show(
    x: Pointer[f32], narrow: i8, byte: u8, short: i16, n: i32, u: u32, wide: i64, widest: u64, h: f32, d: f64, *, name: Constexpr
) -> None:
    t = thread.index()
    device_print("%d|%5d|%u %d|%ld|%u %x|%f|%.3e|%g\n", t, n, u, u, wide, widest, widest, x[t], h, d)
    device_print("%d %x %u %X %d %hx\n", narrow, narrow, byte, byte, short, n)
    device_print("%s 100%% [%-6s] [%*d] %p %c\n", name, "a%d", 5, n, x, 65)
    device_print("x =", x[t], bf16(h), f16(h), e4m3(h), n > 3, n, wide, u, widest, 7, 1 << 40, 2.5, x)
    device_print(x.load(0, width=2))
    if t == 1:
        pair = registers(f32, (2,))
        pair[0] = 1.0
        pair[1] = 2.0
        device_print(pair, name, "50%")
        device_print("hello")
        device_print()
        device_print("\n%d %d %u %x %f %u\n", 1 << 40, -3, 4000000000, 255, 3, (1 << 64) - 1)


def test_every_type() -> None:
    x = np.array([1.5, -2.25], np.float32)
    result = show.bind(name="thing").launch(1, (x, -1, 200, -300, 42, 4_000_000_000, -5_000_000_000, 1 << 63, 0.5, 1 / 3))
    assert result.report.verdict == "clean", result.report.text()

    def both(line: str) -> str:
        return "".join(
            line.replace("T", str(t)).replace("X", ("1.5", "-2.25")[t]).replace("F", ("1.500000", "-2.250000")[t]) for t in (0, 1)
        )

    address = f"{0x10_0000_0100:#x}"
    assert result.printed == (
        both("T|   42|4000000000 4000000000|-5000000000|9223372036854775808 8000000000000000|F|5.000e-01|0.333333\n")
        + both("-1 ff 200 C8 -300 2a\n")
        + both(f"thing 100% [a%d   ] [   42] {address} A\n")
        + both(f"x = X 0.5 0.5 0.5 1 42 -5000000000 4000000000 9223372036854775808 7 1099511627776 2.5 {address}\n")
        + both("1.5 -2.25\n")
        + "1 2 thing 50%\nhello\n\n1099511627776 -3 4000000000 ff 3.000000 18446744073709551615\n"
    )


def test_output_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    @kernel(threads=32)
    def count(n: i32) -> None:
        with elect(warp=0):
            device_print("n is", n)

    count.launch(2, (7,), device="simulator")
    assert capsys.readouterr().out == "n is 7\nn is 7\n"


def test_it_is_plain_ptx(tmp_path: Path) -> None:
    """What nvcc makes of printf: a function that the driver links, so ptxas makes a whole cubin of it."""
    compiled = show.bind(name="thing").compile()
    assert ".extern .func  (.param .b32 func_retval0) vprintf" in compiled.ptx
    assert compiled.cubin is not None and compiled.cubin[:4] == b"\x7fELF"
    tool = find_tool("ptxas")
    assert tool is not None
    file = tmp_path / "print.ptx"
    file.write_text(compiled.ptx)
    subprocess.run([tool, "-arch=sm_90a", file, "-o", tmp_path / "print.cubin"], check=True)


@pytest.mark.parametrize(
    ("line", "message", "mend"),
    [
        ('device_print("%d %d\\n", n)', "takes 2 values, 1 is given", "one value for each"),
        ('device_print("%d\\n", n, n)', "takes 1 value, 2 are given", "one value for each"),
        ('device_print("100%\\n")', "begins no conversion", "%%"),
        ('device_print("%k", n)', "begins no conversion", "%%"),
        ('device_print("%.*f", n, x[0])', "begins no conversion", "%%"),
        ('device_print("%n", n)', "begins no conversion", "%%"),
        ('device_print("%f", n)', "%f prints floats, not a run-time i32", "use %d"),
        ('device_print("%d", x[0])', "%d prints integers, not a run-time f32", "use %f"),
        ('device_print("%d", x)', "%d prints integers, not a run-time Pointer[f32]", "use %p"),
        ('device_print("%p", n)', "%p prints pointers", "use %d"),
        ('device_print("%s", n)', "%s prints compile-time strings", "with %d"),
        ('device_print("%*s", n, "a")', "run-time width", "in the format"),
        ('device_print("%*d", x[0], n)', "the width * of %*d is a run-time f32", "integer of 32 bits"),
        ('device_print("%u", n)', "%u prints unsigned integers", "use %d"),
        ('device_print("%d", u64(3) + u64(n.bitcast(u32)))', "may be larger", "use %u"),
        ('device_print("%hd", i64(n))', "prints fewer bits", "leave out the h"),
        ('device_print("%d", x.load(0, width=4))', "cannot print a run-time vector", "one by one"),
        ('device_print("%d", "text")', "cannot print str", "use %s"),
        ('device_print("tile", shared(f32, 4))', "cannot print", "print a scalar"),
        ("device_print(1 << 64)", "more than 64 bits", "in parts"),
        ('device_print("a\\0b")', "zero character", "leave it out"),
        ("device_print(" + ", ".join(["n"] * 25) + ")", "25 values; a print takes at most 24", "several calls"),
    ],
)
def test_refused(line: str, message: str, mend: str, tmp_path: Path) -> None:
    text = f"from fa4dsl import *\n\n@kernel(threads=32)\ndef example(x: Pointer[f32], n: i32):\n    {line}\n"
    with pytest.raises(Fa4dslError) as caught:
        load_text(tmp_path, text).example.bind().trace()
    (found,) = caught.value.diagnostics
    assert found.code == "L110"
    assert message in found.message, found.message
    assert mend in found.mend, found.mend
    assert found.frames[0].location.line == 5
    assert (found.frames[0].location.column or 0) > 4
