"""printf: what nvcc's calls of vprintf print and return; the formats against the C library."""

from __future__ import annotations

import ctypes
import json
import random
import struct
from pathlib import Path

import numpy as np
import pytest

from fa4dsl.cli.app import invoke
from fa4dsl.runtime.printf_format import Conversion, convert_float, convert_integer, convert_pointer, convert_text, parse_format
from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, ScalarArgument
from fa4dsl.runtime.simulator.printed import MOST_BYTES, Output, Printed
from fa4dsl.runtime.simulator.run import simulate

CORPUS = Path(__file__).parents[1] / "corpus" / "nvcc"
FORMS = ("O3", "O0", "G")


def bits(value: float, code: str) -> ScalarArgument:
    data = struct.pack(f"<{code}", value)
    return ScalarArgument(int.from_bytes(data, "little"), len(data))


def line(text: str) -> int:
    """Where the source says this."""
    (number,) = (i for i, words in enumerate((CORPUS / "printing.cu").read_text().splitlines(), 1) if text in words)
    return number


def run(
    kernel: str,
    form: str,
    block: int = 1,
    grid: int = 1,
    arguments: tuple[object, ...] = (),
    size: int = 128,
    fill: int = 255,
    **options: object,
) -> Report:
    name = f"printing.{form}.ptx"
    launch = Launch(
        kernel=kernel,
        grid=(grid, 1, 1),
        block=(block, 1, 1),
        cluster=(1, 1, 1),
        dynamic_shared_bytes=0,
        buffers={"out": np.full(size, fill, np.uint8)},
        arguments=list(arguments),  # type: ignore[arg-type]
    )
    report = simulate((CORPUS / name).read_text(), launch, name=name, **options)  # type: ignore[arg-type]
    report.measures = launch.buffers["out"].view(np.int32)
    return report


@pytest.mark.parametrize("form", FORMS)
def test_conversions(form: str) -> None:
    arguments = (PointerArgument("out", 0), bits(1.5, "f"), bits(0.1, "d"), bits(-5_000_000_000, "q"), bits(-3, "h"), bits(65, "B"))
    report = run("conversions", form, 2, arguments=arguments)
    assert report.verdict == "clean", report.text()
    first = "".join(f"thread {t} of 2:  1.50|1.000e-01 |1E+09|0x1.8p+0|\n" for t in range(2))
    assert report.printed_text() == first + (
        "nothing\nnothing\n"
        "-5000000000 -5000000000 18446744068709551616 -3 65 A ff 010 %\n"
        "constant global s own [   literal] [ab    ]\n"
        "(nil) 0x10 (null)\n"
        "[     42] [7   ] [0001.500] [+3] [ 4] [FF   ] [0007]\n"
        "50%! %k 1\n"
        "12345678901234567890123456789012 %d\n"
    )
    status = report.measures[:18].reshape(2, 9).tolist()
    assert status[0][:2] == [6, 0]
    assert status[1] == [6, 0, 8, 6, 3, 9, -1, 1, 32]
    last = report.printed[-1]
    assert (last.block, last.thread) == ((0, 0, 0), (1, 0, 0))
    if form != "O0":
        assert last.line[1] == line("r[8] = printf(")


def test_order_and_threads() -> None:
    report = run("blocks", "O3", 64, 2)
    assert report.verdict == "clean"
    texts = [(call.text, call.block[0], call.thread[0]) for call in report.printed]
    assert sorted(texts) == [(" again (0)\n", 0, 33), (" again (0)\n", 1, 33), ("block 0", 0, 0), ("block 1", 1, 0)]
    for block in range(2):
        assert texts.index((f"block {block}", block, 0)) < texts.index((" again (0)\n", block, 33))
    assert "block (1, 0, 0) thread (33, 0, 0):  again (0)\n" in report.printed_text(threads=True)
    assert "block (0, 0, 0) thread (0, 0, 0): block 0\n" in report.printed_text(threads=True)
    assert [call["thread"] for call in report.to_dict()["printed"]][-1] == [33, 0, 0]


def test_a_conversion_too_many_reads_what_nobody_wrote() -> None:
    report = run("mismatched", "O3")
    assert [finding.diagnostic.code for finding in report.findings] == ["S101"]
    assert report.verdict == "review"
    assert report.printed_text().startswith("1 and ")


def test_a_string_is_data() -> None:
    report = run("racing", "O3", 2, arguments=(PointerArgument("out", 0),), size=16, fill=0)
    (found,) = report.findings
    assert (found.diagnostic.code, found.kind) == ("S027", "race"), report.text()
    assert {frame.location.line for frame in found.diagnostic.frames} == {line("text[threadIdx.x] ="), line('printf("%s\\n", text)')}


def test_a_failed_assertion_says_what_failed() -> None:
    assert run("asserting", "O3", arguments=(bits(4, "i"),)).verdict == "clean"
    report = run("asserting", "O3", arguments=(bits(3, "i"),))
    assert [finding.diagnostic.code for finding in report.findings] == ["S013"]
    assert "(n > 3)" in report.findings[0].diagnostic.message


def test_output_is_bounded() -> None:
    output = Output()
    call = Printed("x" * (1 << 20), (0, 0, 0), (0, 0, 0), ("k.cu", 1))
    for _ in range(40):
        output.add(call)
    assert len(output.calls) <= MOST_BYTES // (1 << 20) + 1
    assert len(output.calls) + output.dropped == 40
    assert "more calls of printf are not shown" in Report(printed=output.calls, not_printed=output.dropped).printed_text()


def test_formats_are_glibc_s() -> None:
    library = ctypes.CDLL(None)

    def expected(form: bytes, *values: object) -> bytes:
        buffer = ctypes.create_string_buffer(4096)
        length = library.snprintf(buffer, 4096, form, *values)
        return buffer.raw[:length]

    pick = random.Random(7)
    numbers = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        float("inf"),
        float("-inf"),
        float("nan"),
        5e-324,
        2.2e-308,
        1.7e308,
        0.5,
        0.1,
        1e5,
        1e6,
        123456.5,
        9.9995,
    ]
    for _ in range(6000):
        flags = "".join(pick.sample("-+ #0", pick.randint(0, 3)))
        width = pick.choice(["", "5", "12", "30"])
        precision = pick.choice(["", ".", ".0", ".1", ".3", ".13", ".17"])
        kind = pick.choice("diouxXeEfFgGaAspc")
        if kind in "spc":
            flags, precision = flags.translate({ord(c): None for c in "0+ #"}), precision if kind == "s" else ""
        size = pick.choice(["", "h", "hh", "l", "ll"]) if kind in "diouxX" else ""
        form = f"%{flags}{width}{precision}{size}{kind}".encode()
        (conversion,) = parse_format(form)
        assert isinstance(conversion, Conversion)
        space = conversion.width or 0
        if kind in "diouxX":
            word = pick.choice([0, 1, -1, 255, 8, pick.getrandbits(64), -pick.getrandbits(31)]) & ((1 << 8 * conversion.bytes) - 1)
            found = convert_integer(conversion, word, space)
            wanted = expected(form, ctypes.c_uint64(word) if conversion.bytes == 8 else ctypes.c_uint32(word))
        elif kind == "s":
            found, wanted = convert_text(conversion, b"hello", space), expected(form, b"hello")
        elif kind == "p":
            address = pick.choice([0, 16, 1 << 40])
            found, wanted = convert_pointer(conversion, address, space), expected(form, ctypes.c_void_p(address))
        elif kind == "c":
            found, wanted = convert_text(conversion, b"A", space), expected(form, 65)
        else:
            value = pick.choice([*numbers, pick.gauss(0, 1), pick.gauss(0, 1) * 10.0 ** pick.randint(-300, 300)])
            found, wanted = convert_float(conversion, value, space), expected(form, ctypes.c_double(value))
        assert found == wanted, form


def test_command_prints_ahead_of_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    description = tmp_path / "launch.json"
    description.write_text('{"kernel": "blocks", "grid": [1, 1, 1], "block": [64, 1, 1]}')
    words = ["simulate", str(CORPUS / "printing.O3.ptx"), "--launch", str(description)]
    assert invoke(words) == 0
    assert capsys.readouterr().out.startswith("block 0 again (0)\nblocks: clean\n")
    assert invoke([*words, "--print-threads"]) == 0
    assert capsys.readouterr().out.startswith("block (0, 0, 0) thread (0, 0, 0): block 0\nblock (0, 0, 0) thread (33, 0, 0):  again (0)\n")
    assert invoke([*words, "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "block 0 again (0)\n"
    found = json.loads(shown.out)
    assert [call["text"] for call in found["printed"]] == ["block 0", " again (0)\n"]
    assert found["printed"][1]["line"] == ["printing.cu", line("threadIdx.x == 33")]
