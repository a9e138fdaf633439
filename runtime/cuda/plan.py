"""One function for one signature on one GPU: what a launch of a known signature costs the host."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.bound_launch import make_function, signature
from fa4dsl.runtime.cuda.driver import entry, recent
from fa4dsl.runtime.cuda.fast_arguments import step
from fa4dsl.runtime.cuda.native_plan import make_native_plan, takes
from fa4dsl.runtime.cuda.stream import current_stream, framework_is_plain, handle_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from fa4dsl.runtime.bound_launch import BoundLaunch
    from fa4dsl.runtime.cuda.launch import PreparedLaunch


def make_plan(prepared: PreparedLaunch, arguments: tuple[Any, ...], missed: Callable[..., Any], token: object) -> BoundLaunch:
    """A launcher for arguments of these types on the prepared launch's GPU: native where the package's C part was built, else a Python function;
    `missed` takes the calls that it does not fit."""
    make = make_native_plan if takes(prepared.manifest) else make_python_plan
    return make(prepared, arguments, missed, token)


def make_python_plan(prepared: PreparedLaunch, arguments: tuple[Any, ...], missed: Callable[..., Any], token: object) -> BoundLaunch:
    """A function without a loop or a call that the signature does not need.

    Its text comes from parameter kinds and numbers (`fast_arguments.step`); what it refers to is bound by name, so a plan is complete in itself and is
    never changed. A launch whose values are the last one's packs nothing.
    """
    ordinal = prepared.kernel.gpu.ordinal
    parameters = prepared.manifest.parameters
    steps = [step(number, parameter, value, ordinal) for number, (parameter, value) in enumerate(zip(parameters, arguments, strict=True))]
    head, everything = signature(len(parameters))
    miss = f"return missed({everything}, stream, named, token)"
    count = len(parameters)
    values, latest = ("".join(f"{letter}{number}, " for number in range(count)) for letter in ("v", "l"))
    get_stream, stream_argument = _stream(arguments, ordinal)
    changed = " or ".join(["handle != last_handle", *(_changed(number, item.kind, item.dtype) for number, item in enumerate(parameters))])
    refusals = [condition for item in steps for condition in item.refusals]
    lines = [
        f"if {' or '.join([*(condition for item in steps for condition in item.checks), 'rest', 'named'])}: {miss}",
        *(line.replace("MISS", miss) for item in steps for line in item.lines),
        f"if stream is None: handle = current_stream({stream_argument})",
        "else: handle = handle_of(stream)",
        "try: block = blocks.pop()",
        "except IndexError:",
        "    block = prepared.new_block()",
        f"    if block is None: {miss}",
        "last = block.last",
        f"last_handle, {latest}= last",
        f"if {changed}:",
        *([f"    if {' or '.join(refusals)}:", "        blocks.append(block)", f"        {miss}"] if refusals else []),
        "    if handle != last_handle: block.write_stream(handle)",
        f"    block.pack_into(block.view, block.offset, {values})",
        f"    last = block.last = (handle, {values})",
        "status = entry.launch(*block.arguments)",
        "if status: prepared.failed(status, block)",
        "blocks.append(block)",
        "if recent.last is not last:",
        "    recent.last = last",
        "    note((told, last))",
    ]
    names: dict[str, Any] = {
        "missed": missed,
        "token": token,
        "prepared": prepared,
        "told": prepared.told,
        "blocks": prepared.blocks,
        "entry": entry,
        "recent": recent,
        "note": recent.launches.append,
        "handle_of": handle_of,
        "current_stream": get_stream,
    }
    for item in steps:
        names.update(item.names)
    text = f"def plan({head}):\n" + "".join(f"    {line}\n" for line in lines)
    return make_function(text, prepared.manifest.name, names)


def _changed(number: int, kind: str, dtype: str) -> str:
    """The condition that a value is not the last launch's."""
    if kind == "tensor_map":
        return f"v{number} is not l{number}"
    if dtype in ("f16", "f32", "f64") and kind == "scalar":
        # Equal floats have equal bits, but for the two zeros; NaN is equal to nothing.
        return f"v{number} != l{number} or not v{number}"
    return f"v{number} != l{number}"


def _stream(arguments: tuple[Any, ...], ordinal: int) -> tuple[Callable[..., int], str]:
    """The function that gives the current stream, and its arguments as text."""
    if not framework_is_plain(arguments):
        # Maps and views over one framework's arrays now, another's at the next call.
        numbers = "".join(f"a{number}, " for number in range(len(arguments)))
        return lambda arguments, ordinal: current_stream(arguments, ordinal)(), f"({numbers}), {ordinal}"
    found = current_stream(arguments, ordinal)
    if isinstance(found, partial):
        # Called with its argument written out, a built-in function is faster than the object around it.
        return found.func, ", ".join(map(repr, found.args))
    return found, ""
