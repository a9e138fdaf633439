"""The trace: the IR being built for one kernel, where in the author's text it stands, and what can change at run time.

Language functions (`fa4dsl.language`) find it with `current()` and emit through it; they never touch MLIR themselves.
"""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from fa4dsl.runtime.diagnostics import Fa4dslError, Frame, Location, diagnostic

if TYPE_CHECKING:
    from mlir import ir

    from fa4dsl.frontend.source import Source
    from fa4dsl.language.roles import RoleInfo

_active = threading.local()


class Stateful(Protocol):
    """An object that holds run-time values which statements change: a register array, a barrier's phase, a ring's position."""

    state_name: str

    def state(self) -> list[Any]:
        """Its values now (run-time values or Python numbers)."""

    def set_state(self, values: list[Any]) -> None:
        """Takes the values that control flow gave it."""


@dataclass
class CallFrame:
    """One function being traced: the kernel, or a device function inlined into it."""

    source: Source
    names: dict[str, Any]
    called_from: Location | None = None
    vanished: dict[str, tuple[str, Location]] = field(default_factory=dict)
    """Names that existed only inside a block that has ended: why, and where."""


class Trace:
    """Builds one kernel's module."""

    def __init__(self, context: ir.Context, module: ir.Module, entry: ir.Block) -> None:
        from mlir import ir

        self.ir = ir
        self.context = context
        self.module = module
        self.entry = entry
        self.location = Location("", 0)
        self.frames: list[CallFrame] = []
        self.stateful: list[Stateful] = []
        self.role: RoleInfo | None = None
        self.roles: list[RoleInfo] = []
        self.divergence: list[str] = []
        """The run-time conditions and blocks around the current statement, in words, outermost first."""
        self.unroll: list[int] = []
        """Positions in the unrolled loops around."""
        self.trials = 0
        """How many loop bodies around are being traced only to see what they change."""
        self.loop_facts: dict[Any, Any] = {}
        self.shared_names: dict[str, Location] = {}
        self.last_allocation: ir.Operation | None = None
        self.arguments: list[tuple[Any, Location]] = []
        """Arguments of the language call being executed, with the place each is written at."""
        self.named_barriers = 0
        """Named barriers handed out so far."""
        self.warpgroup_barriers: dict[str, int] = {}
        """First named barrier of `warpgroup.sync()`, by role ("" outside of roles)."""
        self.finishers: list[Callable[[], None]] = []
        self.threads = 0
        self.block: tuple[int, int, int] = (1, 1, 1)
        self.cluster: tuple[int, int, int] = (1, 1, 1)
        self.sources: dict[str, str] = {}
        self._types: dict[str, ir.Type] = {}
        self._locations: dict[Any, ir.Location] = {}
        self._latest: tuple[Location, CallFrame | None, ir.Location] | None = None
        self._constants: dict[ir.Attribute, ir.Value] = {}
        self._last_constant: ir.Operation | None = None
        self._journal: list[Callable[[], None]] = []

    # --- places

    @property
    def frame(self) -> CallFrame:
        return self.frames[-1]

    def mlir_location(self) -> ir.Location:
        """The current place; inside device functions, with the places that called them."""
        frame = self.frames[-1] if self.frames else None
        if self._latest is not None and self._latest[0] is self.location and self._latest[1] is frame:
            return self._latest[2]
        calls = tuple(frame.called_from for frame in reversed(self.frames) if frame.called_from is not None)
        key = (self.location, calls)
        known = self._locations.get(key)
        if known is None:
            known = self._file_location(self.location)
            if calls:
                known = self.ir.Location.callsite(known, [self._file_location(place) for place in calls], context=self.context)
            self._locations[key] = known
        self._latest = (self.location, frame, known)
        return known

    def _file_location(self, place: Location) -> ir.Location:
        end = place.end_column or place.column
        return self.ir.Location.file(place.file, place.line, place.column, place.line, end, context=self.context)

    def error_frames(self, *places: Location | Frame | None) -> list[Frame]:
        """The given places, or the current one, and below them the calls that led there."""
        given = [place if isinstance(place, Frame) else Frame(place) for place in places if place is not None]
        given = given or [Frame(self.location)]
        return given + [Frame(frame.called_from, "called from here") for frame in reversed(self.frames) if frame.called_from is not None]

    def fail(self, code: str, *places: Location | Frame | None, notes: tuple[str, ...] = (), **fields: Any) -> NoReturn:
        """Raises the catalogue's error `code` at `places` (by default the statement or expression being traced)."""
        raise self.error(code, *places, notes=notes, **fields)

    def error(self, code: str, *places: Location | Frame | None, notes: tuple[str, ...] = (), **fields: Any) -> Fa4dslError:
        """The error that `fail` raises."""
        return Fa4dslError(diagnostic(code, *self.error_frames(*places), notes=notes, **fields))

    def place_of(self, argument: Any) -> Location:
        """Where an argument of the current language call is written."""
        found = next((place for value, place in self.arguments if value is argument), None)
        if found is None:  # inside of a tuple that is given by name
            held = (place for value, place in self.arguments if any(item is argument for item in _items(value)))
            found = next(held, None)
        return found or self.location

    def remember_source(self, file: str) -> None:
        """Keeps a source file's text, so that reports can show its lines on another machine."""
        if file not in self.sources:
            self.sources[file] = "".join(linecache.getlines(file))

    # --- emission

    def type(self, text: str) -> ir.Type:
        known = self._types.get(text)
        if known is None:
            known = self._types[text] = self.ir.Type.parse(text, self.context)
        return known

    def create(
        self,
        name: str,
        operands: Sequence[ir.Value] = (),
        results: Sequence[str | ir.Type] = (),
        attributes: Mapping[str, ir.Attribute] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        """Any operation at the insertion point, with the author's place."""
        types = [self.type(item) if isinstance(item, str) else item for item in results]
        return self.ir.Operation.create(
            name, results=types, operands=list(operands), attributes=attributes or {}, regions=regions, loc=self.mlir_location()
        )

    def fa4(
        self,
        name: str,
        operands: Sequence[Any] = (),
        attributes: Mapping[str, Any] | None = None,
        results: Sequence[str] | None = None,
    ) -> ir.Operation:
        """An operation of the fa4 dialect."""
        from fa4dsl.passes.dialect.build import op

        return op(name, operands, attributes, None if results is None else [self.type(item) for item in results], loc=self.mlir_location())

    def constant(self, attribute: ir.Attribute, mlir: str) -> ir.Value:
        """An arith.constant; each number stands once, at the kernel's start, where every use finds it."""
        known = self._constants.get(attribute)
        if known is None:
            point = self.ir.InsertionPoint
            last = self._last_constant
            with point.after(last) if last is not None else point.at_block_begin(self.entry):
                self._last_constant = self.create("arith.constant", results=[mlir], attributes={"value": attribute})
            known = self._constants[attribute] = self._last_constant.result
        return known

    def attribute(self, text: str) -> ir.Attribute:
        return self.ir.Attribute.parse(text, self.context)

    @contextmanager
    def at_block(self, block: ir.Block) -> Iterator[None]:
        """Emits at the end of `block`."""
        with self.ir.InsertionPoint(block):
            yield

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """Emits among the allocations at the kernel's start, in order of appearance."""
        if self.last_allocation is not None:
            point = self.ir.InsertionPoint.after(self.last_allocation)
        else:
            point = self.ir.InsertionPoint.at_block_begin(self.entry)
        with point:
            yield

    @contextmanager
    def right_after(self, value: ir.Value) -> Iterator[None]:
        """Emits just below the definition of `value`."""
        owner = value.owner
        if isinstance(owner, self.ir.Block):
            point = self.ir.InsertionPoint.at_block_begin(owner)
        else:
            point = self.ir.InsertionPoint.after(owner.operation)
        with point:
            yield

    # --- undoing a trial

    def undo_later(self, action: Callable[[], None]) -> None:
        """Remembers how to take back what is being done, for when the block being traced turns out to have been a trial."""
        self._journal.append(action)

    def mark(self) -> int:
        return len(self._journal)

    def undo_to(self, mark: int) -> None:
        while len(self._journal) > mark:
            self._journal.pop()()

    # --- divergence

    @contextmanager
    def under(self, words: str) -> Iterator[None]:
        """Marks that what follows is executed only by some threads or only sometimes."""
        self.divergence.append(words)
        try:
            yield
        finally:
            self.divergence.pop()

    def require_all_threads(self, what: str) -> None:
        """Raises L050 unless the current statement is executed exactly once by every thread of the CTA."""
        if self.divergence:
            self.fail("L050", what=what, around=self.divergence[-1])


def _items(value: Any) -> Sequence[Any]:
    """What a tuple, list, vector or register array is made of."""
    items = value if isinstance(value, tuple | list) else getattr(value, "elements", ())
    return items if isinstance(items, tuple | list) else ()


def current() -> Trace:
    """The trace of the kernel being compiled on this thread. Raises L002 outside of kernels."""
    trace: Trace | None = getattr(_active, "trace", None)
    if trace is None:
        from fa4dsl.runtime.diagnostics import fail

        fail("L002")
    return trace


def tracing() -> bool:
    """Whether a kernel is being compiled on this thread."""
    return getattr(_active, "trace", None) is not None


@contextmanager
def activated(trace: Trace) -> Iterator[None]:
    """Makes `trace` the current one."""
    before = getattr(_active, "trace", None)
    _active.trace = trace
    try:
        yield
    finally:
        _active.trace = before
