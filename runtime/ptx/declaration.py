"""Reads declarations of variables and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.ptx.expression import expression, integer
from fa4dsl.runtime.ptx.instruction import Immediate, Symbol
from fa4dsl.runtime.ptx.module import TYPE_BYTES, Variable

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.cursor import Cursor

_LINKAGE = (".visible", ".extern", ".weak", ".common")


def linkage(cursor: Cursor) -> bool:
    """Takes linkage directives; True if one of them is ``.extern``."""
    external = False
    while cursor.peek().text in _LINKAGE:
        external |= cursor.next().text == ".extern"
    return external


def skip_braces(cursor: Cursor) -> None:
    """Skips ``{ ... }``."""
    cursor.expect("{")
    depth = 1
    while depth:
        text = cursor.next().text
        depth += (text == "{") - (text == "}")


def _type(cursor: Cursor) -> tuple[str, int, int]:
    """``.align 8 .v4 .b32`` and the attributes around it: (type, vector length, alignment; 0 = natural)."""
    alignment, vector = 0, 1
    while True:
        token = cursor.next()
        text = token.text
        if text == ".align":
            alignment = integer(cursor)
        elif text in (".v2", ".v4", ".v8"):
            vector = int(text[2:])
        elif text == ".attribute":
            cursor.expect("(")
            while not cursor.accept(")"):
                cursor.next()
        elif text[:1] == "." and text[1:] in TYPE_BYTES:
            return text[1:], vector, alignment
        else:
            cursor.error(f"expected a type, found {text!r}", token)


def _dimensions(cursor: Cursor) -> tuple[int, bool, bool]:
    """``[4][8]``: (elements, is an array, first dimension left open)."""
    count, array, opened = 1, False, False
    while cursor.accept("["):
        if cursor.accept("]"):
            opened = True
        else:
            count *= integer(cursor)
            cursor.expect("]")
        array = True
    return count, array, opened


def _initialisers(cursor: Cursor, element: int, offset: int) -> tuple[list[tuple[int, Immediate | Symbol, int]], int]:
    """``{1, 2, {3}}`` or one value, from byte `offset`; returns the entries and the offset after them."""
    entries: list[tuple[int, Immediate | Symbol, int]] = []
    if cursor.accept("{"):
        while not cursor.accept("}"):
            inner, offset = _initialisers(cursor, element, offset)
            entries += inner
            cursor.accept(",")
        return entries, offset
    token = cursor.peek()
    value: Immediate | Symbol
    if token.kind == "word" and token.text != "WARP_SZ":
        cursor.next()
        name = token.text
        prefix = ""
        if name == "generic" and cursor.accept("("):
            prefix = "generic:"
            name = cursor.word().text
            cursor.expect(")")
        shift = 0
        while cursor.peek().text in ("+", "-"):
            sign = -1 if cursor.next().text == "-" else 1
            shift += sign * integer(cursor)
        value = Symbol(prefix + name, shift)
    else:
        value = expression(cursor)
    entries.append((offset, value, element))
    return entries, offset + element


def variable(cursor: Cursor, external: bool) -> list[Variable]:
    """``.shared .align 16 .b8 name[64] = {...}, other;``"""
    first = cursor.next()
    space = first.text.split(".")[1].split("::")[0]
    kind, vector, alignment = _type(cursor)
    element = TYPE_BYTES[kind] * vector
    found: list[Variable] = []
    while True:
        token = cursor.word()
        count, _, opened = _dimensions(cursor)
        entries: list[tuple[int, Immediate | Symbol, int]] = []
        end = 0
        if cursor.accept("="):
            entries, end = _initialisers(cursor, TYPE_BYTES[kind], 0)
        size = max(end, count * element) if not opened else end
        found.append(Variable(token.text, space, kind, size, alignment or element or 1, tuple(entries), external, token.line))
        if not cursor.accept(","):
            break
    cursor.expect(";")
    return found


def parameters(cursor: Cursor) -> tuple[Variable, ...]:
    """``(.param .u64 a, .param .align 64 .b8 b[128])``"""
    cursor.expect("(")
    found: list[Variable] = []
    while not cursor.accept(")"):
        first = cursor.next()
        if first.text not in (".param", ".reg"):
            cursor.error(f"expected a parameter, found {first.text!r}", first)
        alignment, kind, vector = 0, "", 1
        while not kind:
            token = cursor.next()
            text = token.text
            if text == ".align":
                alignment = integer(cursor)
            elif text == ".ptr" or text in (".global", ".shared", ".const", ".local", ".generic"):
                pass
            elif text in (".v2", ".v4"):
                vector = int(text[2:])
            elif text[1:] in TYPE_BYTES:
                kind = text[1:]
            else:
                cursor.error(f"expected a parameter type, found {text!r}", token)
        pointer_alignment = False
        while cursor.peek().kind == "directive":  # .ptr .global .align 16
            if cursor.next().text == ".align":
                integer(cursor)
                pointer_alignment = True
        element = TYPE_BYTES[kind] * vector
        token = cursor.word() if cursor.peek().kind == "word" else cursor.peek()
        count, _, _ = _dimensions(cursor)
        natural = element or 1
        found.append(
            Variable(
                token.text, first.text[1:], kind, count * element, natural if pointer_alignment else alignment or natural, line=token.line
            )
        )
        cursor.accept(",")
    return tuple(found)
