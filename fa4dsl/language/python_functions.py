"""Python's own functions in a kernel: `range` loops at run time; `min`, `max`, `abs`, `sum`, `any`, `all`, `divmod` and `in` work on run-time values."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from fa4dsl.frontend.arguments import Integer, Numeric, is_numeric
from fa4dsl.frontend.arithmetic import truth
from fa4dsl.frontend.calls import is_run_time
from fa4dsl.frontend.loops import RunTimeRange, StaticRange
from fa4dsl.frontend.trace import current
from fa4dsl.frontend.values import Arithmetic, describe
from fa4dsl.language import math


def static_range(*bounds: int) -> StaticRange:
    """``for i in static_range(n)``: unrolled; bounds are compile-time integers (L021 otherwise)."""
    return StaticRange(range(*_checked("static_range", bounds)))


def _range(*bounds: Integer) -> RunTimeRange:
    return RunTimeRange(*_checked("range", bounds))


def _checked(name: str, bounds: tuple[Any, ...]) -> tuple[Any, ...]:
    if not 1 <= len(bounds) <= 3:
        current().fail("L020", name=name, problem=f"it takes 1 to 3 bounds, not {len(bounds)}", signature=f"{name}([start,] stop[, step])")
    if len(bounds) == 3 and isinstance(bounds[2], int) and bounds[2] == 0:
        current().fail("L045", current().place_of(bounds[2]), given=describe(bounds[2]))
    return bounds


def _extreme(name: str) -> Callable[..., Any]:
    python = getattr(builtins, name)
    device = {"min": math.minimum, "max": math.maximum}[name]

    def extreme(*items: Any, **keywords: Any) -> Any:
        values = list(items[0]) if len(items) == 1 and not isinstance(items[0], Arithmetic) else list(items)
        if not any(map(is_run_time, values)):
            return python(*items, **keywords)
        if keywords:
            problem = f"of run-time values it takes no {', no '.join(keywords)}"
            current().fail("L020", name=name, problem=problem, signature=f"{name}(a, b, ...)")
        trace = current()
        for item in values:
            if not is_numeric(item):
                expected = "numbers, run-time values, vectors or register arrays"
                words: dict[str, Any] = {
                    "function": name,
                    "argument": "items",
                    "expected": expected,
                    "given": describe(item),
                    "mend": f"pass {expected}",
                }
                trace.fail("L100", trace.place_of(item), **words)
        result = values[0]
        for item in values[1:]:
            result = device(result, item)
        return result

    extreme.__qualname__ = name
    return extreme


def _sum(items: Any, start: Any = 0) -> Any:
    values = list(items)
    if not values:
        return start
    result = values[0] if not is_run_time(start) and start == 0 else start + values[0]
    for item in values[1:]:
        result = result + item
    return result


def _abs(value: Numeric) -> Any:
    return abs(value)


def _fold(name: str, decided: bool) -> Callable[..., Any]:
    """`any` and `all`: every item is evaluated, nothing branches."""

    def fold(items: Any) -> Any:
        result: Any = not decided
        for item in list(items):
            condition = truth(item) if isinstance(item, Arithmetic) else bool(item)
            if condition is decided:
                return decided
            if isinstance(condition, Arithmetic):
                result = condition if isinstance(result, bool) else (result | condition if decided else result & condition)
        return result

    fold.__qualname__ = name
    return fold


def _divmod(dividend: Integer, divisor: Integer) -> tuple[Any, Any]:
    return dividend // divisor, dividend % divisor


def _reversed(items: Any) -> Any:
    if isinstance(items, StaticRange):
        return StaticRange(items.numbers[::-1])
    if isinstance(items, RunTimeRange):
        mend = "count down by hand: for i in range(n): j = n - 1 - i"
        if is_run_time(items.bounds):
            current().fail("L005", current().place_of(items), what="reversed() of a range that is known at run time", mend=mend)
        return RunTimeRange(*_backwards(range(*items.bounds)))
    return list(reversed(items))


def _backwards(numbers: range) -> tuple[int, int, int]:
    turned = numbers[::-1]
    return turned.start, turned.stop, turned.step


def _print(*_: Any) -> None:
    current().fail("L005", what="print", mend="use device_print, which prints from the kernel")


_range.__qualname__, _sum.__qualname__, _abs.__qualname__ = "range", "sum", "abs"
_divmod.__qualname__, _reversed.__qualname__ = "divmod", "reversed"

REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    builtins.range: _range,
    builtins.min: _extreme("min"),
    builtins.max: _extreme("max"),
    builtins.sum: _sum,
    builtins.abs: _abs,
    builtins.any: _fold("any", True),
    builtins.all: _fold("all", False),
    builtins.divmod: _divmod,
    builtins.reversed: _reversed,
    builtins.print: _print,
}
"""What a call of a Python function means in a kernel, where that is not Python's own doing."""
