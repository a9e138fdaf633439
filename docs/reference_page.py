"""The reference of the language, printed from its docstrings."""

from __future__ import annotations

import functools
import inspect
import textwrap
from importlib import import_module
from typing import Any

import fa4dsl
from fa4dsl.types import DType

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Kernels", ("kernel", "device_function")),
    ("Where a thread is", ("thread", "lane", "warp", "block", "grid", "cluster")),
    ("Roles and single threads", ("role", "elect")),
    ("Memory", ("shared", "registers", "vector")),
    ("Barriers", ("mbarrier",)),
    ("TMA and bulk copies", ("TensorMap", "RaggedTensorMap", "tma", "bulk_load", "bulk_store", "bulk_push")),
)
"""Names of `fa4dsl` by subject; names that stand in none of them are listed by their modules."""

OBJECTS = (
    "fa4dsl.kernel_object:Kernel",
    "fa4dsl.kernel_object:BoundKernel",
    "fa4dsl.language.memory:PointerValue",
    "fa4dsl.language.shared:SharedArray",
    "fa4dsl.language.registers:RegisterArray",
    "fa4dsl.language.barriers:Barrier",
    "fa4dsl.language.tma:MapValue",
    "fa4dsl.language.tma:RaggedMapValue",
)
"""Classes of the objects that kernels work with and do not construct by name."""


PROPERTIES = (property, functools.cached_property)


def reference_page() -> str:
    lines = ["# Language reference", "", "Every name here is in `fa4dsl`. [language.md](language.md) introduces them in order.", ""]
    types = [name for name in fa4dsl.__all__ if isinstance(getattr(fa4dsl, name), DType)]
    lines += [
        "## Types",
        "",
        "Scalars: " + ", ".join(f"`{name}`" for name in types) + ".",
        "",
        docstring(import_module("fa4dsl.types")),
        "",
    ]
    placed = {name for _, names in SECTIONS for name in names} | set(types)
    for title, names in SECTIONS:
        lines += [f"## {title}", ""]
        for name in names:
            lines += entry(name, getattr(fa4dsl, name))
    others: dict[str, list[str]] = {}
    for name in fa4dsl.__all__:
        module = getattr(getattr(fa4dsl, name), "__module__", "")
        if name not in placed and module.startswith("fa4dsl.language"):
            others.setdefault(module, []).append(name)
    for module, left in others.items():
        lines += [f"## {docstring(import_module(module)).splitlines()[0].rstrip('.')}", ""]
        for name in left:
            lines += entry(name, getattr(fa4dsl, name))
    lines += ["## Objects", ""]
    for place in OBJECTS:
        module, _, name = place.partition(":")
        lines += entry(name, getattr(import_module(module), name), members=True)
    return "\n".join(lines).rstrip() + "\n"


def entry(name: str, thing: Any, members: bool = False) -> list[str]:
    """A function with its signature, a class with its text, or an object with its methods."""
    if inspect.isfunction(thing):
        return [f"### `{name}{signature(thing)}`", "", docstring(thing), ""]
    if inspect.isclass(thing):
        return [f"### `{name}`", "", docstring(thing), "", *(methods(thing, "") if members else [])]
    return [f"### `{name}`", "", docstring(type(thing)), "", *methods(type(thing), f"{name}")]


def methods(owner: type, prefix: str) -> list[str]:
    """Its own public methods and properties that say what they do."""
    lines = []
    for key, value in vars(owner).items():
        if not (inspect.isfunction(value) or isinstance(value, PROPERTIES)):
            continue
        text = docstring(value.fget if isinstance(value, property) else value)
        if not text or (key.startswith("_") and not (key == "__call__" and prefix)):
            continue
        call = signature(value) if inspect.isfunction(value) else ""
        shown = f"{prefix}{call}" if key == "__call__" else f"{prefix}.{key}{call}"
        lines += [f"* `{shown}`: {textwrap.indent(text, '  ').strip()}"]
    return [*lines, ""] if lines else []


def signature(function: Any) -> str:
    """The parameters with their defaults, without `self` and the annotations, which the text gives in words."""
    found = inspect.signature(function)
    parameters = [item.replace(annotation=item.empty) for item in found.parameters.values() if item.name != "self"]
    return str(found.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def docstring(thing: Any) -> str:
    """An object's own docstring as Markdown: an `Args:` block becomes a list."""
    text = inspect.cleandoc(thing.__doc__ or "") if getattr(thing, "__doc__", None) else ""
    lines: list[str] = []
    in_arguments = False
    for line in text.splitlines():
        if line.strip() == "Args:":
            in_arguments = True
            if lines and lines[-1]:
                lines.append("")
        elif in_arguments and line.startswith("    ") and not line.startswith("     "):
            name, _, words = line.strip().partition(": ")
            lines.append(f"* `{name}`: {words}")
        elif in_arguments and line.startswith("     "):
            lines.append("  " + line.strip())
        else:
            in_arguments = False
            lines.append(line)
    return "\n".join(lines).replace("``", "`").strip()
