"""Library kernels in the simulator on problems of their own: what ``check`` and ``profile`` do without a launch file."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args, get_origin, get_type_hints

import click

from fa4dsl.cli.kernels import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fa4dsl.kernels.kernel_run import KernelRun

RUNS = {
    "splitk-combine": "fa4dsl.kernels.run_splitk_combine:run_splitk_combine",
    "splitk-decode": "fa4dsl.kernels.run_splitk_decode:run_splitk_decode",
}
"""For each kernel of the library, what runs it on random inputs."""
OWN = ("device", "progress", "schedule", "seed")
"""Arguments of a run that the command gives."""


def simulate_library(kernel: str, settings: Mapping[str, Any], schedule: str, seed: int, progress: Callable[..., Any] | None) -> KernelRun:
    """One run of a library kernel in the simulator. `settings`: arguments of its run; a usage error for what is none, or of another type."""
    module, _, attribute = RUNS[kernel].partition(":")
    run: Callable[..., KernelRun] = getattr(importlib.import_module(module), attribute)
    known = settings_of(run)
    for name in settings:
        if name not in known:
            wrong_setting(f"a run of {kernel} has no argument {name!r}; it has: {', '.join(known)}.{suggestion(name, known)}")
    given = {name: of_type(name, value, known[name]) for name, value in settings.items()}
    return run(**given, device="simulator", schedule=schedule, seed=seed, progress=progress)


def settings_of(run: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a run that ``--set`` may give, with their types; those of an unpacked TypedDict too."""
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(run, eval_str=True).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found |= get_type_hints(get_args(parameter.annotation)[0])
        elif name not in OWN:
            found[name] = parameter.annotation
    return found


def of_type(name: str, value: Any, wanted: Any) -> Any:
    """The value of a setting, or a usage error where it has another type. One number stands for a sequence of one."""
    if wanted is bool:
        if value in (0, 1) and isinstance(value, int):
            return bool(value)
        wrong_setting(f"{name} is True or False, not {value!r}.")
    if wanted is int:
        if not _whole(value):
            wrong_setting(f"{name} is a whole number, not {value!r}.")
        return value
    if get_origin(wanted) is Sequence:
        numbers = value if isinstance(value, (list, tuple)) else (value,)
        if not all(map(_whole, numbers)):
            wrong_setting(f"{name} is whole numbers parted by commas, not {value!r}.")
        return tuple(numbers)
    text = str(value)
    if get_origin(wanted) is Literal and text not in get_args(wanted):
        wrong_setting(f"{name} is one of {', '.join(get_args(wanted))}, not {text!r}.{suggestion(text, get_args(wanted))}")
    return text


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def wrong_setting(problem: str) -> NoReturn:
    """Ends the command with a usage error about a setting."""
    raise click.BadParameter(problem, param_hint="--set")
