"""`with` blocks of the language."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fa4dsl.frontend import regions
from fa4dsl.frontend.trace import Trace
from fa4dsl.frontend.values import Value
from fa4dsl.runtime.diagnostics import Location

Bound = TypeVar("Bound", covariant=True)


class Block(Generic[Bound]):
    """What may stand after `with`. `trace_block` emits what belongs around the body and calls it with the value bound by `as`."""

    if TYPE_CHECKING:
        # The front end traces the block; Python never enters it.
        def __enter__(self) -> Bound: ...
        def __exit__(self, *error: object) -> None: ...

    def trace_block(self, trace: Trace, place: Location, body: Callable[[Any], None]) -> None:
        """Traces the block."""
        body(None)


class ConditionalBlock(Block[None]):
    """A block that only some threads execute: `elect()`, `warp(0)`, `thread(0)`."""

    def __init__(self, condition: Callable[[], Value], words: str) -> None:
        self.condition = condition
        self.in_words = f"the block {words}"
        self.words = words

    def trace_block(self, trace: Trace, place: Location, body: Callable[[Any], None]) -> None:
        condition = self.condition()
        regions.branch(trace, condition, place, self.words, lambda: body(None))
