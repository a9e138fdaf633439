"""Reads the operands of an instruction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fa4dsl.runtime.ptx.expression import MASK64, expression, integer
from fa4dsl.runtime.ptx.instruction import Address, Immediate, Negated, Operand, Pair, Register, Selected, Sink, Special, Symbol, Vector

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.cursor import Cursor
    from fa4dsl.runtime.ptx.scope import Scope

SPECIALS = frozenset(
    f"%{name}{axis}" for name in ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid") for axis in (".x", ".y", ".z")
) | frozenset(
    ["%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size", "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap", "%reserved_smem_offset_0", "%reserved_smem_offset_1", "%current_graph_exec"]
) | frozenset(f"%pm{i}{wide}" for i in range(8) for wide in ("", "_64")) | frozenset(f"%envreg{i}" for i in range(32))  # fmt: skip


_SELECTOR = re.compile(r"(.+)\.(b[0-7]{1,4}|h[0-3]{1,2})$")


def _name(cursor: Cursor, scope: Scope, text: str, line: int) -> Operand:
    if text == "_":
        return Sink()
    if text in SPECIALS:
        return Special(text)
    register = scope.register(text)
    if register is not None:
        return Register(register)
    selected = _SELECTOR.match(text)
    register = scope.register(selected[1]) if selected else None
    if selected and register is not None:
        return Selected(Register(register), selected[2])
    if text.startswith("%") and scope.variable(text) is None:
        cursor.error(f"unknown register {text!r}", cursor.peek(-1))
    return Symbol(text)


def _starts_constant(text: str, kind: str) -> bool:
    return kind == "number" or text in ("-", "+", "~", "(", "WARP_SZ")


def _offset(cursor: Cursor) -> int:
    """``+ n``, ``- n``, or nothing."""
    total = 0
    while cursor.peek().text in ("+", "-"):
        negative = cursor.next().text == "-"
        value = integer(cursor)
        total += -value if negative else value
    return total


def _address(cursor: Cursor, scope: Scope) -> Address:
    token = cursor.peek()
    base: Operand
    if _starts_constant(token.text, token.kind):
        base = expression(cursor)
    else:
        cursor.next()
        base = _name(cursor, scope, token.text, token.line)
    offset = _offset(cursor)
    coordinates: tuple[Operand, ...] = ()
    if cursor.accept(","):
        inner = operand(cursor, scope)
        coordinates = inner.elements if isinstance(inner, Vector) else (inner,)
        while cursor.accept(","):
            # im2col offsets and similar trailing vectors: kept as further coordinates groups
            coordinates = (*coordinates, operand(cursor, scope))
    cursor.expect("]")
    if not isinstance(base, Register | Symbol | Immediate):
        cursor.error("an address must be a register, a name or a number")
    return Address(base, offset, coordinates)


def operand(cursor: Cursor, scope: Scope) -> Operand:
    """One operand, with `d|p` pairs, vectors, addresses, negation and symbol offsets."""
    token = cursor.peek()
    text = token.text
    if text == "[":
        cursor.next()
        return _address(cursor, scope)
    if text == "{":
        cursor.next()
        elements: list[Operand] = []
        while not cursor.accept("}"):
            elements.append(operand(cursor, scope))
            cursor.accept(",")
        return Vector(tuple(elements))
    if text == "!":
        cursor.next()
        return Negated(operand(cursor, scope))
    if text == "-" and cursor.peek(1).kind == "word" and cursor.peek(1).text != "WARP_SZ":
        cursor.next()
        return Negated(operand(cursor, scope))
    if _starts_constant(text, token.kind):
        if text == "(":  # argument lists of call
            saved = cursor.position
            cursor.next()
            if cursor.peek().kind == "word" or cursor.peek().text == ")":
                items: list[Operand] = []
                while not cursor.accept(")"):
                    items.append(operand(cursor, scope))
                    cursor.accept(",")
                return Vector(tuple(items))
            cursor.position = saved
        return expression(cursor)
    if token.kind != "word":
        cursor.error(f"expected an operand, found {text!r}")
    cursor.next()
    first = _name(cursor, scope, text, token.line)
    if cursor.peek().text == "|":
        cursor.next()
        second = cursor.word()
        return Pair(first, _name(cursor, scope, second.text, second.line))
    if isinstance(first, Symbol) and cursor.peek().text in ("+", "-"):
        return Symbol(first.name, _offset(cursor))
    if cursor.peek().text == "[":  # texture-style operands and video byte selectors are outside what runs here
        cursor.error(f"operand form {text}[...] is not supported")
    return first


def number_list(cursor: Cursor) -> tuple[int, ...]:
    """``1, 2, 3``."""
    values = [integer(cursor)]
    while cursor.accept(","):
        values.append(integer(cursor))
    return tuple(value & MASK64 if value < 0 else value for value in values)
