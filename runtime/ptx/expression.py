"""Reads immediates and constant expressions."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from fa4dsl.runtime.ptx.instruction import Immediate

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.cursor import Cursor

MASK64 = (1 << 64) - 1

_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6,
    "<": 7, "<=": 7, ">": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


def literal(text: str) -> Immediate:
    """A number token."""
    lead = text[:2]
    if lead in ("0f", "0F"):
        return Immediate(int(text[2:], 16), "f32")
    if lead in ("0d", "0D"):
        return Immediate(int(text[2:], 16), "f64")
    body = text.rstrip("U")
    if lead in ("0x", "0X"):
        return Immediate(int(body[2:], 16) & MASK64, "integer")
    if lead in ("0b", "0B") and len(body) > 2:
        return Immediate(int(body[2:], 2) & MASK64, "integer")
    if "." in body or "e" in body or "E" in body:
        return Immediate(struct.unpack("<Q", struct.pack("<d", float(body)))[0], "f64")
    if len(body) > 1 and body[0] == "0":
        return Immediate(int(body, 8) & MASK64, "integer")
    return Immediate(int(body) & MASK64, "integer")


def _signed(value: int) -> int:
    value &= MASK64
    return value - (1 << 64) if value >> 63 else value


def _binary(operator: str, left: int, right: int, cursor: Cursor) -> int:
    if operator in ("/", "%"):
        if right == 0:
            cursor.error("division by zero in a constant expression")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if operator == "/" else left - quotient * right
    if operator == "<<":
        return left << (right & 63)
    if operator == ">>":
        return left >> (right & 63)
    simple = {
        "+": left + right, "-": left - right, "*": left * right, "&": left & right, "|": left | right, "^": left ^ right,
        "==": int(left == right), "!=": int(left != right), "<": int(left < right), "<=": int(left <= right),
        ">": int(left > right), ">=": int(left >= right), "&&": int(bool(left) and bool(right)), "||": int(bool(left) or bool(right)),
    }  # fmt: skip
    return simple[operator]


def _unary(cursor: Cursor) -> Immediate:
    token = cursor.next()
    if token.text == "-":
        inner = _unary(cursor)
        if inner.kind == "f32":
            return Immediate(inner.bits ^ 0x80000000, "f32")
        if inner.kind == "f64":
            return Immediate(inner.bits ^ (1 << 63), "f64")
        return Immediate(-inner.bits & MASK64, "integer")
    if token.text == "+":
        return _unary(cursor)
    if token.text == "~":
        return Immediate(~_unary(cursor).bits & MASK64, "integer")
    if token.text == "!":
        return Immediate(int(_unary(cursor).bits == 0), "integer")
    if token.text == "(":
        if cursor.peek().kind == "directive":
            cursor.next()
            cursor.expect(")")
            return _unary(cursor)
        inner = expression(cursor)
        cursor.expect(")")
        return inner
    if token.kind == "number":
        return literal(token.text)
    if token.text == "WARP_SZ":
        return Immediate(32, "integer")
    return cursor.error(f"expected a number, found {token.text!r}", token)


def expression(cursor: Cursor, minimum: int = 0) -> Immediate:
    """A constant expression (64-bit integer arithmetic; a float stands alone)."""
    left = _unary(cursor)
    while left.kind == "integer":
        operator = cursor.peek().text
        if operator == "?" and minimum == 0:
            cursor.next()
            yes = expression(cursor)
            cursor.expect(":")
            no = expression(cursor)
            return yes if left.bits else no
        precedence = _PRECEDENCE.get(operator, -1) if cursor.peek().kind == "punctuation" else -1
        if precedence < 0 or precedence <= minimum:
            break
        cursor.next()
        right = expression(cursor, precedence)
        left = Immediate(_binary(operator, _signed(left.bits), _signed(right.bits), cursor) & MASK64, "integer")
    return left


def integer(cursor: Cursor) -> int:
    """A constant integer, signed."""
    value = expression(cursor)
    if value.kind != "integer":
        cursor.error("expected an integer")
    return _signed(value.bits)
