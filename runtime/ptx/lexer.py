"""Cuts PTX text into tokens that know their line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from fa4dsl.runtime.diagnostics import Location, fail

TokenKind = Literal["word", "directive", "number", "string", "punctuation", "end"]


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str
    line: int


# A word keeps its dotted parts (`ld.global.v4.f32`, `%tid.x`) and `::` qualifiers; nothing in PTX needs them apart.
_TOKEN = re.compile(
    r"""
    (?P<newline>\n)
  | (?P<skip>[ \t\r\f]+|//[^\n]*)
  | (?P<comment>/\*.*?\*/)
  | (?P<word>(?:[A-Za-z_$]|%[A-Za-z_$])[\w$%]*(?:(?:\.|::)[\w$]+)*)
  | (?P<directive>\.[A-Za-z_]\w*(?:::\w+)*)
  | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
      |\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<character>'(?:[^'\\\n]|\\.)')
  | (?P<punctuation><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!?:;,.<>=(){}\[\]@])
    """,
    re.VERBOSE | re.DOTALL,
)

_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "\\": 92, "'": 39, '"': 34, "a": 7, "b": 8, "f": 12, "v": 11}


def tokenize(text: str, name: str) -> list[Token]:
    """The tokens of `text`, with "end" tokens last. Raises S001 on a character that PTX does not know; `name` is the file's name in messages."""
    tokens: list[Token] = []
    position, line = 0, 1
    match = _TOKEN.match
    append = tokens.append
    length = len(text)
    while position < length:
        found = match(text, position)
        if found is None:
            fail("S001", Location(name, line), what=f"unexpected character {text[position]!r}", line=line)
        kind = found.lastgroup
        position = found.end()
        if kind == "newline":
            line += 1
        elif kind == "skip":
            pass
        elif kind == "comment":
            line += found.group().count("\n")
        elif kind == "character":
            body = found.group()[1:-1]
            append(Token("number", str(_ESCAPES.get(body[1], ord(body[1])) if body[0] == "\\" else ord(body)), line))
        else:
            append(Token(kind, found.group(), line))  # type: ignore[arg-type]
    # two of them, so that the parser may always look one token ahead
    append(Token("end", "", line))
    append(Token("end", "", line))
    return tokens
