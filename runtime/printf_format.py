"""Format strings of device code's printf: taken apart, and their conversions done as the host's C library does them.

A GPU's vprintf keeps the format string and the arguments in a buffer; the host formats them when the buffer is flushed. Conversions have the form
``%[flags][width][.precision][size]type`` with the flags ``-+ #0``, a width in digits or ``*``, a precision in digits, the sizes h, hh, l, ll (and
j, z, t) and the types ``%cdiouxXpeEfFgGaAs`` (CUDA C++ Programming Guide, formatted output).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

MOST_ARGUMENTS = 32
"""What one call prints; conversions beyond are printed as they stand."""
INTEGERS, FLOATS = "diouxXc", "eEfFgGaA"
_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|[0-9]*)(?P<precision>\.[0-9]*)?(?P<size>hh|h|ll|l|j|z|t)?(?P<type>[%cdiouxXpeEfFgGaAs])"
)


@dataclass(frozen=True)
class Conversion:
    """One ``%...`` of a format string that takes an argument."""

    text: bytes
    flags: str
    width: int | None
    """None where there is none; -1 for ``*``: an int argument before the value."""
    precision: int | None
    size: str
    type: str

    @property
    def bytes(self) -> int:
        """Bytes of its argument in the buffer, at an address that is a multiple of them: ints 4, everything else 8."""
        return 8 if self.type in FLOATS + "ps" or (self.size in ("l", "ll", "j", "z", "t") and self.type != "c") else 4


@dataclass(frozen=True)
class Malformed:
    """A ``%`` that begins no conversion; it is printed as it stands."""

    text: bytes


Piece = bytes | Conversion | Malformed


def parse_format(data: bytes) -> list[Piece]:
    """Text, conversions and what looks like one but is none, in order."""
    pieces: list[Piece] = []
    at = 0
    while at < len(data):
        percent = data.find(b"%", at)
        if percent < 0:
            percent = len(data)
        if percent > at:
            pieces.append(data[at:percent])
        if percent == len(data):
            break
        found = _CONVERSION.match(data, percent)
        if found is None:
            pieces.append(Malformed(b"%"))
            at = percent + 1
            continue
        at = found.end()
        if found["type"] == b"%":
            pieces.append(b"%")
            continue
        width, precision = found["width"].decode(), found["precision"]
        pieces.append(
            Conversion(
                found[0],
                found["flags"].decode(),
                -1 if width == "*" else int(width) if width else None,
                None if precision is None else int(precision[1:] or b"0"),
                (found["size"] or b"").decode(),
                found["type"].decode(),
            )
        )
    return pieces


def _pad(conversion: Conversion, sign: str, digits: bytes, width: int, zeros: bool) -> bytes:
    """Sign (or prefix) and digits brought to the width."""
    head = sign.encode()
    missing = width - len(head) - len(digits)
    if missing <= 0:
        return head + digits
    if "-" in conversion.flags:
        return head + digits + b" " * missing
    return head + b"0" * missing + digits if zeros else b" " * missing + head + digits


def _sign(conversion: Conversion, negative: bool) -> str:
    return "-" if negative else "+" if "+" in conversion.flags else " " if " " in conversion.flags else ""


def convert_integer(conversion: Conversion, bits: int, width: int) -> bytes:
    """d, i, u, o, x, X of the argument's bits (as an unsigned number)."""
    size = {"hh": 8, "h": 16}.get(conversion.size, 8 * conversion.bytes)
    bits &= (1 << size) - 1
    negative = conversion.type in "di" and bool(bits >> (size - 1))
    number = (1 << size) - bits if negative else bits
    digits = {"o": f"{number:o}", "x": f"{number:x}", "X": f"{number:X}"}.get(conversion.type, str(number))
    if conversion.precision is not None:
        digits = "" if not number and not conversion.precision else digits.zfill(conversion.precision)
    sign = _sign(conversion, negative) if conversion.type in "di" else ""
    if "#" in conversion.flags:
        if conversion.type == "o" and not digits.startswith("0"):
            digits = "0" + digits
        elif conversion.type in "xX" and number:
            sign = "0" + conversion.type
    return _pad(conversion, sign, digits.encode(), width, "0" in conversion.flags and conversion.precision is None)


def _hexadecimal(value: float, precision: int | None, alternative: bool) -> str:
    """%a of a finite, non-negative number."""
    fraction, exponent = math.frexp(value)
    if not value:
        whole, rest, exponent = 0, 0, 0
    else:
        exponent -= 1
        mantissa = int(math.ldexp(fraction, 53))
        if exponent < -1022:  # subnormal: the leading digit is 0
            mantissa >>= -1022 - exponent
            exponent = -1022
        whole, rest = mantissa >> 52, mantissa & ((1 << 52) - 1)
    if precision is None:
        digits = f"{rest:013x}".rstrip("0")
    elif precision >= 13:
        digits = f"{rest:013x}".ljust(precision, "0")
    else:
        drop = 4 * (13 - precision)
        mantissa = (whole << 52) + rest
        kept, lost = mantissa >> drop, mantissa & ((1 << drop) - 1)
        kept += lost > 1 << (drop - 1) or (lost == 1 << (drop - 1) and kept & 1)
        whole = kept >> (4 * precision)
        digits = f"{kept & ((1 << (4 * precision)) - 1):0{precision}x}" if precision else ""
    point = "." if digits or alternative else ""
    return f"0x{whole:x}{point}{digits}p{exponent:+d}"


def convert_float(conversion: Conversion, value: float, width: int) -> bytes:
    """e, f, g, a and their capitals of a double."""
    sign = _sign(conversion, math.copysign(1.0, value) < 0)
    magnitude = abs(value)
    upper = conversion.type.isupper()
    if not math.isfinite(value):
        word = "nan" if math.isnan(value) else "inf"
        return _pad(conversion, sign, (word.upper() if upper else word).encode(), width, False)
    if conversion.type in "aA":
        text = _hexadecimal(magnitude, conversion.precision, "#" in conversion.flags)
        text = text.upper() if upper else text
        sign, text = sign + text[:2], text[2:]
    else:
        precision = 6 if conversion.precision is None else conversion.precision
        alternative = "#" if "#" in conversion.flags else ""
        text = f"%{alternative}.{precision}{conversion.type}" % magnitude
    return _pad(conversion, sign, text.encode(), width, "0" in conversion.flags)


def convert_text(conversion: Conversion, text: bytes, width: int) -> bytes:
    """s (cut at the precision) and c."""
    if conversion.type == "s" and conversion.precision is not None:
        text = text[: conversion.precision]
    return _pad(conversion, "", text, width, False)


def convert_pointer(conversion: Conversion, address: int, width: int) -> bytes:
    """p, as glibc prints it."""
    text = f"0x{address:x}" if address else "(nil)"
    return _pad(conversion, "", text.encode(), width, False)
