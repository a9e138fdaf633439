"""`artifact[grid]`: a launch that is called again and again.

What a caller gets is a plain function, so that a launch is one call. At first it only passes its arguments on; at the first launch on a GPU it becomes
a *plan* (`cuda.plan`), a function made for the types of the arguments, which compares each one with what was checked. Where one differs it passes the
call on to the next plan for these types (there is one for each GPU), and at the end of the line stands the full check, which launches, or says what is
wrong. Plans for other types are functions of their own, and `artifact[grid]` is the one that was used last.
"""

from __future__ import annotations

import threading
from collections.abc import MutableMapping, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Protocol, cast

from fa4dsl.runtime.arguments import check_argument, in_order, place_of
from fa4dsl.runtime.launch import extents, launch, make_options

if TYPE_CHECKING:
    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.launch import LaunchResult

SIGNATURES_KEPT = 256
"""Of one artifact and grid."""

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "missing", "__slots__": ()})()
"""Stands for an argument that was not given."""


class BoundLaunch(Protocol):
    """An artifact with its grid, ready to be called again and again.

    `bound(*arguments)` launches with the manifest's options on the device where the arrays live. On a GPU it returns at once and neither
    synchronises nor allocates, so it can be captured into a CUDA graph; the first call on a GPU loads the kernel there. Returns None from a plan on a
    GPU, else the `LaunchResult`. `stream` as in `launch`; other names are parameters. Safe to call from several threads.

    On the simulator a fault is raised as the report's findings; `launch` returns the report instead.
    """

    def __call__(self, *arguments: Any, stream: Any = None, **named: Any) -> LaunchResult | None: ...


class Plans:
    """The plans of one artifact and grid, and the way past them."""

    def __init__(self, artifact: Artifact, grid: int | Sequence[int], launchers: MutableMapping[Any, BoundLaunch]) -> None:
        self.artifact = artifact
        self.grid = grid
        self.launcher = self._make_launcher()
        self._current = self.launcher
        self._launchers = launchers
        self._lines: dict[tuple[type, ...], tuple[tuple[int, object, BoundLaunch], ...]] = {}
        """By argument types: (GPU, token, plan) in the order in which they are tried. A plan shows its token when it passes a call on."""
        self._planned = False
        self._lock = threading.Lock()

    def _make_launcher(self) -> BoundLaunch:
        """What `artifact[grid]` is at first."""
        from fa4dsl.runtime.cuda.native_part import native
        from fa4dsl.runtime.cuda.native_plan import takes

        if native is not None and takes(self.artifact.manifest):
            return native.Launch(f"launch of {self.artifact.manifest.name}", self.missed)
        head, everything = signature(len(self.artifact.manifest.given_parameters))
        text = f"def launcher({head}):\n    return missed({everything}, stream, named)\n"
        return make_function(text, self.artifact.manifest.name, {"missed": self.missed})

    def missed(self, arguments: tuple[Any, ...], stream: Any, named: dict[str, Any], token: object = None) -> LaunchResult | None:
        """A launch that does not fit the plan with this token, or that came without one: by the next plan, or else in full."""
        if named or (arguments and arguments[-1] is MISSING):
            given = tuple(value for value in arguments if value is not MISSING)
            return self._in_full(in_order(self.artifact.manifest, given, named), stream)
        line = self._lines.get(tuple(map(type, arguments)), ())
        following = 0
        # A plan for other types, or one that has been replaced, is not in the line, and its beginning comes next.
        for place, (_, its_token, _) in enumerate(line, start=1):
            if its_token is token:
                following = place
        if following < len(line):
            plan = line[following][2]
            self._use(plan)
            return plan(*arguments, stream=stream)
        return self._in_full(in_order(self.artifact.manifest, arguments), stream)

    def _in_full(self, ordered: tuple[Any, ...], stream: Any) -> LaunchResult:
        """Every check; afterwards there is a plan for the next such launch."""
        result = launch(self.artifact, self.grid, ordered, stream=stream)
        if result.device == "simulator":
            result.report.require_clean(allow=("review", "incomplete"))
        elif self.artifact.manifest.waits is None:  # where each launch has records of its own, it is prepared anew
            self._plan(ordered)
        return result

    def _plan(self, ordered: tuple[Any, ...]) -> None:
        """Made behind the launch, while the GPU works."""
        from fa4dsl.runtime.cuda.launch import prepared_for
        from fa4dsl.runtime.cuda.plan import make_plan

        manifest = self.artifact.manifest
        # Checked again for the places alone: the launch has warned already.
        place = place_of(manifest, [check_argument(item, value) for item, value in zip(manifest.given_parameters, ordered, strict=True)])
        options = make_options(self.artifact)
        if place is None:
            return  # without an array, it is the stream of each launch that says where
        prepared = prepared_for(self.artifact, extents(manifest.name, self.grid), options, place[1])
        ordinal, kinds, token = prepared.kernel.gpu.ordinal, tuple(map(type, ordered)), object()
        plan = make_plan(prepared, ordered, self.missed, token)
        with self._lock:
            if not self._planned:
                become(self.launcher, plan)
                plan, self._planned = self.launcher, True
            if len(self._lines) >= SIGNATURES_KEPT:
                self._lines.clear()
            line, added = self._lines.get(kinds, ()), (ordinal, token, plan)
            places = [place for place, item in enumerate(line) if item[0] == ordinal]
            # Another tuple, for a thread may be going through this one.
            self._lines[kinds] = (*line[: places[0]], added, *line[places[0] + 1 :]) if places else (*line, added)
            self._use(plan)

    def _use(self, plan: BoundLaunch) -> None:
        if self._current is not plan:
            self._current = plan
            if self.grid in self._launchers:
                self._launchers[self.grid] = plan


def signature(parameters: int) -> tuple[str, str]:
    """The head of a launcher for so many parameters, `a0=missing, ..., /, *rest, stream=None, **named`, and all its arguments as a tuple.

    A function of fixed parameters is called without building a tuple; `rest` and `named` are there for calls that are wrong or by name.
    """
    names = "".join(f"a{number}, " for number in range(parameters))
    head = names.replace(",", "=missing,") + ("/, " if names else "") + "*rest, stream=None, **named"
    return head, f"({names}*rest)"


def make_function(text: str, kernel: str, names: dict[str, Any]) -> BoundLaunch:
    """The function that `text` defines, over `names`. The text is made of numbers alone, never of what a manifest says."""
    code = _codes.get(text)
    if code is None:
        if len(_codes) >= SIGNATURES_KEPT:
            _codes.clear()
        module = compile(text, "<fa4dsl launch>", "exec")
        code = _codes[text] = next(item for item in module.co_consts if isinstance(item, CodeType))
    # A copy: the interpreter notes in the code where its names were found, which two functions over one code would undo for each other.
    made = FunctionType(code.replace(), names, f"launch of {kernel}", (MISSING,) * code.co_posonlyargcount)
    made.__kwdefaults__ = {"stream": None}
    made.__qualname__ = made.__name__
    made.__doc__ = BoundLaunch.__doc__
    return cast("BoundLaunch", made)


_codes: dict[str, CodeType] = {}


def become(launcher: Any, plan: Any) -> None:
    """Makes the launcher that callers already hold do what the plan does. Once only: the plan's names come first, and none of them ever changes, so a
    thread sees the old code or the new, whole."""
    if not isinstance(launcher, FunctionType):
        launcher.adopt(plan)
        return
    launcher.__globals__.update((name, value) for name, value in plan.__globals__.items() if name not in launcher.__globals__)
    launcher.__code__ = plan.__code__
