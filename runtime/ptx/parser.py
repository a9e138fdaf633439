"""Parses PTX files: nvcc's, LLVM's, Triton's."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from fa4dsl.runtime.diagnostics import Location, fail
from fa4dsl.runtime.ptx.aliases import rename
from fa4dsl.runtime.ptx.cursor import Cursor
from fa4dsl.runtime.ptx.declaration import linkage, parameters, skip_braces, variable
from fa4dsl.runtime.ptx.expression import integer
from fa4dsl.runtime.ptx.instruction import Address, Instruction, Negated, Operand, Pair, Register, SourcePlace, Symbol, Vector
from fa4dsl.runtime.ptx.lexer import tokenize
from fa4dsl.runtime.ptx.module import Function, Module
from fa4dsl.runtime.ptx.operands import number_list, operand
from fa4dsl.runtime.ptx.requirements import target_version
from fa4dsl.runtime.ptx.scope import Scope

if TYPE_CHECKING:
    from fa4dsl.runtime.ptx.module import Variable

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?', re.MULTILINE)
_PERFORMANCE = ("reqntid", "maxntid", "minnctapersm", "maxnctapersm", "maxnreg", "reqnctapercluster", "maxclusterrank")
_SPACES = (".shared", ".global", ".const", ".local", ".param", ".tex")


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.cursor = Cursor(tokenize(text, name), name)
        self.module = Module(name)
        self.files: dict[int, str] = {}
        self.aliases: dict[str, str] = {}
        """Other names of functions."""
        for number, first, second in _FILE.findall(text):
            self.files[int(number)] = f"{first}/{second}" if second else first

    # -- module level

    def parse(self) -> Module:
        cursor = self.cursor
        while cursor.peek().kind != "end":
            token = cursor.peek()
            if token.kind != "directive":
                cursor.error(f"expected a directive, found {token.text!r}", token)
            self.top(token.text)
        if not self.module.target:
            fail("S001", Location(self.name, 1), what="no .target directive: this is not a PTX file", line=1)
        if self.aliases:
            rename(self.module, self.aliases)
        return self.module

    def top(self, text: str) -> None:
        cursor = self.cursor
        if text == ".version":
            cursor.next()
            major, _, minor = cursor.next().text.partition(".")
            self.module.version = (int(major), int(minor or 0))
        elif text == ".target":
            cursor.next()
            token = cursor.word()
            self.module.target = token.text
            needed, version = target_version(token.text), self.module.version
            if (0, 0) < version < needed:
                least, given = (f"{major}.{minor}" for major, minor in (needed, version))
                place = Location(self.name, token.line)
                fail("S062", place, line=token.line, mnemonic=f".target {token.text}", needed=least, version=given)
            while cursor.accept(","):
                cursor.word()
        elif text == ".address_size":
            cursor.next()
            self.module.address_size = integer(cursor)
            if self.module.address_size != 64:
                fail(
                    "S002",
                    Location(self.name, cursor.peek(-1).line),
                    what=f".address_size {self.module.address_size}",
                    line=cursor.peek(-1).line,
                )
        elif text == ".file":
            self.skip_line()
        elif text == ".section":
            cursor.next()
            cursor.next()
            skip_braces(cursor)
        elif text == ".pragma":
            while not cursor.accept(";"):
                cursor.next()
        elif text == ".loc":
            self.skip_line()
        else:
            self.declaration()

    def skip_line(self) -> None:
        line = self.cursor.next().line
        while self.cursor.peek().line == line and self.cursor.peek().kind != "end":
            self.cursor.next()

    def declaration(self) -> None:
        cursor = self.cursor
        external = linkage(cursor)
        text = cursor.peek().text
        if text in (".entry", ".func"):
            self.function(external)
        elif text == ".alias":
            cursor.next()
            alias = cursor.word().text
            cursor.expect(",")
            self.aliases[alias] = cursor.word().text
            cursor.expect(";")
        elif text in _SPACES:
            for item in variable(cursor, external):
                self.module.variables[item.name] = item
        else:
            fail("S002", Location(self.name, cursor.peek().line), what=text, line=cursor.peek().line)

    # -- functions

    def function(self, external: bool) -> None:
        cursor = self.cursor
        head = cursor.next()
        returns: tuple[Variable, ...] = ()
        if head.text == ".func" and cursor.peek().text == "(":
            returns = parameters(cursor)
        name = cursor.word()
        params: tuple[Variable, ...] = parameters(cursor) if cursor.peek().text == "(" else ()
        function = Function(name.text, head.text == ".entry", params, returns, line=head.line)
        while cursor.peek().kind == "directive":
            directive = cursor.next().text[1:]
            if directive in _PERFORMANCE:
                function.directives[directive] = number_list(cursor)
            elif directive == "pragma":
                while not cursor.accept(";"):
                    cursor.next()
            elif directive in ("explicitcluster", "noreturn", "blocksareclusters", "abi_preserve", "abi_preserve_control"):
                function.directives[directive] = (integer(cursor),) if cursor.peek().kind == "number" else ()
            else:
                fail("S002", Location(self.name, cursor.peek(-1).line), what="." + directive, line=cursor.peek(-1).line)
        if cursor.accept(";") or (external and cursor.peek().text != "{"):
            function.defined = False
            self.module.functions.setdefault(function.name, function)
            return
        cursor.expect("{")
        self.module.functions[function.name] = function
        _Body(self, function).parse()


class _Body:
    """A function's body: statements until the closing brace."""

    def __init__(self, parser: _Parser, function: Function) -> None:
        self.parser = parser
        self.cursor = parser.cursor
        self.function = function
        self.scopes = 0
        self.place: SourcePlace | None = None
        self.raw: list[tuple[Scope, Instruction]] = []
        self.tables: list[tuple[Scope, str, tuple[str, ...]]] = []
        self.inlined: dict[tuple[str, int, int], SourcePlace] = {}

    def parse(self) -> None:
        outer = Scope(self.function, None, 0)
        for item in (*self.function.parameters, *self.function.returns):
            if item.space == "reg":
                outer.declare_register(item.name, item.type, None)
            else:
                self.function.variables[outer.declare_variable(item)] = item
        self.block(outer)
        for scope, instruction in self.raw:
            operands = tuple(self.resolve(scope, item) for item in instruction.operands)
            self.function.instructions.append(replace(instruction, operands=operands, index=len(self.function.instructions)))
        for scope, name, entries in self.tables:
            self.function.tables[name] = tuple(scope.label(entry) or entry for entry in entries)

    def block(self, scope: Scope) -> None:
        cursor = self.cursor
        while not cursor.accept("}"):
            token = cursor.peek()
            if token.text == "{":
                cursor.next()
                self.scopes += 1
                self.block(Scope(self.function, scope, self.scopes))
            elif token.text == ";":
                cursor.next()
            elif token.kind == "directive":
                self.directive(scope, token.text)
            elif token.kind == "word" and cursor.peek(1).text == ":":
                self.label(scope, token.text)
            elif token.text == "@" or token.kind == "word":
                self.instruction(scope)
            else:
                cursor.error(f"expected a statement, found {token.text!r}", token)

    def label(self, scope: Scope, name: str) -> None:
        cursor = self.cursor
        cursor.next()
        cursor.next()
        unique = name + scope.suffix
        if unique in self.function.labels:
            cursor.error(f"label {name!r} is defined twice", cursor.peek(-2))
        scope.labels[name] = unique
        self.function.labels[unique] = len(self.raw)
        text = cursor.peek().text
        if text in (".branchtargets", ".calltargets"):
            cursor.next()
            names = [cursor.word().text]
            while cursor.accept(","):
                names.append(cursor.word().text)
            cursor.accept(";")
            self.tables.append((scope, unique, tuple(names)))
        elif text == ".callprototype":
            while not cursor.accept(";"):
                cursor.next()

    def directive(self, scope: Scope, text: str) -> None:
        cursor = self.cursor
        if text == ".loc":
            self.location()
        elif text == ".reg":
            self.registers(scope)
        elif text == ".pragma":
            while not cursor.accept(";"):
                cursor.next()
        elif text == ".section":
            cursor.next()
            cursor.next()
            skip_braces(cursor)
        elif text == ".file":
            self.parser.skip_line()
        elif text in (*_SPACES, ".extern", ".visible", ".weak"):
            external = linkage(cursor)
            for item in variable(cursor, external):
                unique = scope.declare_variable(item)
                self.function.variables[unique] = replace(item, name=unique)
        else:
            line = cursor.peek().line
            fail("S002", Location(self.parser.name, line), what=text, line=line)

    def location(self) -> None:
        cursor = self.cursor
        cursor.next()
        file, line, column = integer(cursor), integer(cursor), integer(cursor)
        place = SourcePlace(self.parser.files.get(file, f"file {file}"), line, column)
        if cursor.accept(","):
            while cursor.peek().text != "inlined_at":
                cursor.next()
            cursor.next()
            outer = SourcePlace(self.parser.files.get(number := integer(cursor), f"file {number}"), integer(cursor), integer(cursor))
            # the call site may itself have been inlined: the latest .loc at that place says where
            known = self.inlined.get((outer.file, outer.line, outer.column))
            place = replace(place, inlined=known or outer)
        self.inlined[(place.file, place.line, place.column)] = place
        self.place = place

    def registers(self, scope: Scope) -> None:
        cursor = self.cursor
        cursor.next()
        kind = cursor.next()
        if kind.text in (".v2", ".v4", ".v8"):
            fail("S002", Location(self.parser.name, kind.line), what=f".reg {kind.text}", line=kind.line)
        while True:
            name = cursor.word().text
            count: int | None = None
            if cursor.accept("<"):
                token = cursor.next()
                count = int(token.text)
                cursor.expect(">")
            scope.declare_register(name, kind.text[1:], count)
            if not cursor.accept(","):
                break
        cursor.expect(";")

    def instruction(self, scope: Scope) -> None:
        cursor = self.cursor
        guard: str | None = None
        negated = False
        start = cursor.peek()
        if cursor.accept("@"):
            negated = cursor.accept("!")
            token = cursor.word()
            guard = scope.register(token.text)
            if guard is None:
                cursor.error(f"unknown predicate {token.text!r}", token)
        mnemonic = cursor.word()
        operands: list[Operand] = []
        while not cursor.accept(";"):
            operands.append(operand(cursor, scope))
            if cursor.peek().text != ";":
                cursor.expect(",")
        self.raw.append((scope, Instruction(mnemonic.text, tuple(operands), guard, negated, start.line, self.place)))

    def resolve(self, scope: Scope, item: Operand) -> Operand:
        """Gives symbols their unique names, now that all labels of the scopes are known."""
        if isinstance(item, Symbol):
            unique = scope.label(item.name) or scope.variable(item.name) or item.name
            return item if unique == item.name else Symbol(unique, item.offset)
        if isinstance(item, Address):
            base = self.resolve(scope, item.base)
            assert isinstance(base, Register | Symbol) or base is item.base
            return replace(item, base=base)
        if isinstance(item, Vector):
            return Vector(tuple(self.resolve(scope, element) for element in item.elements))
        if isinstance(item, Pair):
            return item
        if isinstance(item, Negated):
            return Negated(self.resolve(scope, item.operand))
        return item


def parse(text: str, name: str = "kernel.ptx") -> Module:
    """Parses a whole PTX file.

    Raises `Fa4dslError`: S001 for text that is not PTX (with the line), S002 for a directive or form outside what is supported.
    """
    return _Parser(text, name).parse()
