"""KERNEL on the command line: a library name or FILE.py:NAME, with ``--set`` for its compile-time arguments."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fa4dsl.kernel_object import BoundKernel, Kernel

LIBRARY = {
    "splitk-combine": "fa4dsl.kernels.splitk_combine:splitk_combine",
    "splitk-decode": "fa4dsl.kernels.splitk_decode:splitk_decode",
}
"""Kernels of the library: the name on the command line, and where the kernel is."""


def wrong_kernel(problem: str) -> NoReturn:
    """Ends the command with a usage error about KERNEL."""
    raise click.BadParameter(problem, param_hint="KERNEL")


def suggestion(name: str, known: Iterable[str]) -> str:
    """`` Did you mean 'x'?``, or nothing."""
    near = get_close_matches(name, list(known), n=1)
    return f" Did you mean '{near[0]}'?" if near else ""


@dataclass(frozen=True)
class Settings:
    """What ``--set`` gave: for each name its values, of which there may be several."""

    values: Mapping[str, tuple[Any, ...]]

    def single(self) -> dict[str, Any]:
        """One value for each name; a usage error where one was given several."""
        several = [name for name, values in self.values.items() if len(values) > 1]
        if several:
            raise click.BadParameter(f"{several[0]} is given more than once; only compile makes several variants.", param_hint="--set")
        return {name: values[0] for name, values in self.values.items()}

    def variants(self) -> Iterator[dict[str, Any]]:
        """Every combination of the values."""
        for chosen in product(*self.values.values()):
            yield dict(zip(self.values, chosen, strict=True))


def read_settings(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> Settings:
    """The callback of ``--set NAME=VALUE``: values are Python literals, anything else is text."""
    found: dict[str, tuple[Any, ...]] = {}
    for item in given:
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{item!r} is not of the form NAME=VALUE.", param_hint="--set")
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            value = text
        found[name] = (*found.get(name, ()), value)
    return Settings(found)


def set_option(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The ``--set`` option of a command that takes a kernel."""
    return click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", callback=read_settings, help=help_text)


debug_waits_option = click.option(
    "--debug-waits", is_flag=True, help="The kernel records what its threads wait for, for a hang on a GPU to be looked at."
)


def find_kernel(name: str, debug_waits: bool = False) -> Kernel:
    """The kernel that KERNEL names, compiled to record its waits where asked for."""
    found = _find_kernel(name)
    return found.with_options(debug_waits=True) if debug_waits else found


def _find_kernel(name: str) -> Kernel:
    if name in LIBRARY:
        module, _, attribute = LIBRARY[name].partition(":")
        kernel: Kernel = getattr(importlib.import_module(module), attribute)
        return kernel
    file, colon, attribute = name.rpartition(":")
    if not colon or not file.endswith(".py"):
        wrong_kernel(f"{name!r} is neither in the library ({', '.join(LIBRARY)}) nor FILE.py:NAME.{suggestion(name, LIBRARY)}")
    return _kernel_in(_import_file(Path(file)), file, attribute)


def _import_file(path: Path) -> Any:
    """Imports a file as Python would run it: its folder is importable, its module is registered so that its source can be found."""
    from fa4dsl.runtime.diagnostics import Fa4dslError

    if not path.is_file():
        wrong_kernel(f"There is no file {path}.")
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Fa4dslError:
        raise
    except (Exception, SystemExit) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
        wrong_kernel(f"{path}{line} cannot be imported: {type(error).__name__}: {error}")
    return module


def _kernel_in(module: Any, file: str, attribute: str) -> Kernel:
    from fa4dsl.kernel_object import Kernel

    kernels = {key: value for key, value in vars(module).items() if isinstance(value, Kernel)}
    if attribute not in kernels:
        problem = "is not a kernel" if hasattr(module, attribute) else "is not in it"
        there = ", ".join(kernels) or "none"
        wrong_kernel(f"{attribute!r} {problem}; {file} has these kernels: {there}.{suggestion(attribute, kernels)}")
    return kernels[attribute]


def bind(kernel: Kernel, settings: Mapping[str, Any]) -> BoundKernel:
    """The kernel with its compile-time arguments.

    A name in `settings` is a compile-time parameter of the kernel, or a field of one whose annotation is a dataclass.
    """
    from fa4dsl.frontend.functions import evaluated_annotations
    from fa4dsl.frontend.specialise import compile_time_parameters

    annotations = evaluated_annotations(kernel.function)
    wanted = compile_time_parameters(kernel.function)
    left = dict(settings)
    constants: dict[str, Any] = {}
    known = list(wanted)
    for name, parameter in wanted.items():
        record = annotations.get(name)
        if isinstance(record, type) and is_dataclass(record):
            names = [field.name for field in fields(record) if field.init]
            known += names
            given = {field: left.pop(field) for field in names if field in left}
            if given or parameter.default is parameter.empty:
                constants[name] = _record(record, given)
        elif name in left:
            constants[name] = left.pop(name)
    if left:
        name = next(iter(left))
        there = ", ".join(known) or "none"
        raise click.BadParameter(
            f"{kernel.name} has no compile-time argument {name!r}; it has: {there}.{suggestion(name, known)}", param_hint="--set"
        )
    return kernel.bind(**constants)


def _record(record: type[Any], given: Mapping[str, Any]) -> Any:
    try:
        return record(**given)
    except TypeError as error:
        raise click.BadParameter(f"{record.__name__}: {error}", param_hint="--set") from None
