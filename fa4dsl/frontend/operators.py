"""Python's operators: the symbol in messages, and what Python does with it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add, operator.iadd),
    ast.Sub: ("-", operator.sub, operator.isub),
    ast.Mult: ("*", operator.mul, operator.imul),
    ast.Div: ("/", operator.truediv, operator.itruediv),
    ast.FloorDiv: ("//", operator.floordiv, operator.ifloordiv),
    ast.Mod: ("%", operator.mod, operator.imod),
    ast.Pow: ("**", operator.pow, operator.ipow),
    ast.BitAnd: ("&", operator.and_, operator.iand),
    ast.BitOr: ("|", operator.or_, operator.ior),
    ast.BitXor: ("^", operator.xor, operator.ixor),
    ast.LShift: ("<<", operator.lshift, operator.ilshift),
    ast.RShift: (">>", operator.rshift, operator.irshift),
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Is: ("is", operator.is_),
    ast.IsNot: ("is not", operator.is_not),
    ast.In: ("in", lambda a, b: a in b),
    ast.NotIn: ("not in", lambda a, b: a not in b),
}
