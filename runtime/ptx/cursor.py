"""Walks over tokens and words syntax errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from fa4dsl.runtime.diagnostics import Location, fail

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.lexer import Token


class Cursor:
    """A position in a token list."""

    def __init__(self, tokens: list[Token], name: str) -> None:
        self.tokens = tokens
        self.name = name
        self.position = 0

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[self.position + ahead]

    def next(self) -> Token:
        token = self.tokens[self.position]
        if token.kind == "end":
            self.error("the file ends in the middle of a statement", token)
        self.position += 1
        return token

    def accept(self, text: str) -> bool:
        """Takes the next token if it is `text`."""
        if self.tokens[self.position].text == text and self.tokens[self.position].kind != "string":
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        token = self.next()
        if token.text != text:
            self.error(f"expected {text!r}, found {token.text!r}", token)
        return token

    def word(self) -> Token:
        token = self.next()
        if token.kind != "word":
            self.error(f"expected a name, found {token.text!r}", token)
        return token

    def error(self, what: str, token: Token | None = None) -> NoReturn:
        """Raises S001 at `token` (by default the next one)."""
        line = (token or self.peek()).line
        fail("S001", Location(self.name, line), what=what, line=line)
