"""What the driver would refuse: checked before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fa4dsl.runtime.diagnostics import Location, fail
from fa4dsl.runtime.simulator.launch import PointerArgument, ScalarArgument, TensorMapArgument
from fa4dsl.runtime.simulator.layout import MAXIMUM_CLUSTER, MAXIMUM_SHARED, MAXIMUM_THREADS

if TYPE_CHECKING:
    from typing import NoReturn

    from fa4dsl.runtime.ptx.module import Function, Module
    from fa4dsl.runtime.simulator.launch import Launch

MOST_THREADS = 1 << 25
"""Threads of a launch: the checker has a clock for each."""


def find_kernel(module: Module, name: str) -> Function:
    """The entry function; S006 if the PTX has none of that name."""
    function = module.functions.get(name)
    if function is None or not function.entry:
        fail("S006", Location(module.name, 1), kernel=name, known=", ".join(module.entries) or "none at all")
    return function


def _product(values: tuple[int, ...]) -> int:
    result = 1
    for value in values:
        result *= value
    return result


def check_launch(module: Module, function: Function, launch: Launch, shared_bytes: int) -> None:
    """S007 and S008 for a launch that cannot be."""
    place = Location(module.name, function.line)

    def impossible(what: str, how: str) -> NoReturn:
        fail("S008", place, what=what, how=how)

    for name, value, limits in (
        ("grid", launch.grid, (2**31 - 1, 65535, 65535)),
        ("block", launch.block, (1024, 1024, 64)),
        ("cluster", launch.cluster, (16, 16, 16)),
    ):
        if len(value) != 3 or any(not 1 <= size <= limit for size, limit in zip(value, limits, strict=True)):
            impossible(f"{name} {tuple(value)} is outside 1..{limits}", "give three positive sizes within the hardware's limits")
    threads = _product(launch.block)
    if threads > MAXIMUM_THREADS:
        impossible(f"a block of {threads} threads; at most {MAXIMUM_THREADS} are possible", "use smaller blocks")
    cluster = _product(launch.cluster)
    if cluster > MAXIMUM_CLUSTER:
        impossible(f"a cluster of {cluster} blocks; at most {MAXIMUM_CLUSTER} are possible", "use smaller clusters")
    for axis, (blocks, per) in enumerate(zip(launch.grid, launch.cluster, strict=True)):
        if blocks % per:
            impossible(
                f"grid dimension {'xyz'[axis]} is {blocks}, not a multiple of the cluster's {per}",
                "round the grid up to whole clusters and let the extra blocks return",
            )
    directives = function.directives

    def three(values: tuple[int, ...]) -> tuple[int, ...]:
        return (*values, 1, 1)[:3]

    if _product(launch.grid) * threads > MOST_THREADS:
        impossible(
            f"a grid of {_product(launch.grid)} blocks of {threads} threads; the simulator keeps count of at most {MOST_THREADS} threads in a launch",
            "simulate fewer blocks: the same kernel on a smaller problem shows the same faults",
        )
    if "reqntid" in directives and three(directives["reqntid"]) != tuple(launch.block):
        impossible(
            f"block {tuple(launch.block)}, but the kernel was compiled with .reqntid {three(directives['reqntid'])}",
            "launch with exactly that block",
        )
    if "maxntid" in directives and threads > _product(directives["maxntid"]):
        impossible(
            f"a block of {threads} threads, but the kernel was compiled with .maxntid {directives['maxntid']}",
            "launch at most that many threads, or compile with larger launch bounds",
        )
    if "reqnctapercluster" in directives and three(directives["reqnctapercluster"]) != tuple(launch.cluster):
        needed = three(directives["reqnctapercluster"])
        impossible(
            f"cluster {tuple(launch.cluster)}, but the kernel was compiled with .reqnctapercluster {needed}",
            f"launch with cluster {needed}",
        )
    if "maxclusterrank" in directives and cluster > directives["maxclusterrank"][0]:
        impossible(
            f"a cluster of {cluster} blocks, but the kernel was compiled with .maxclusterrank {directives['maxclusterrank'][0]}",
            "use a smaller cluster",
        )
    if shared_bytes > MAXIMUM_SHARED:
        impossible(f"{shared_bytes} bytes of shared memory a block; {MAXIMUM_SHARED} are possible", "use fewer or smaller tiles")
    _check_arguments(function, launch, place)


def _check_arguments(function: Function, launch: Launch, place: Location) -> None:
    parameters = function.parameters
    if len(parameters) != len(launch.arguments):
        fail("S007", place, what=f"{function.name} takes {len(parameters)} arguments, the launch gives {len(launch.arguments)}")
    for index, (parameter, argument) in enumerate(zip(parameters, launch.arguments, strict=True)):
        label = f"argument {index} ({parameter.name})"
        if isinstance(argument, PointerArgument):
            if argument.buffer not in launch.buffers:
                fail("S007", place, what=f"{label} names the unknown buffer {argument.buffer!r}")
            if parameter.size != 8:
                fail("S007", place, what=f"{label} is a pointer (8 bytes), the parameter has {parameter.size} bytes")
        elif isinstance(argument, ScalarArgument):
            if parameter.size != argument.size:
                fail("S007", place, what=f"{label} has {argument.size} bytes, the parameter has {parameter.size}")
        elif isinstance(argument, TensorMapArgument):
            if argument.buffer not in launch.buffers:
                fail("S007", place, what=f"{label} lies over the unknown buffer {argument.buffer!r}")
            if parameter.size not in (128, 8):
                fail(
                    "S007",
                    place,
                    what=f"{label} is a tensor map (128 bytes, or a pointer to one), the parameter has {parameter.size} bytes",
                )
            if parameter.size == 128 and parameter.alignment < 64:
                fail(
                    "S007",
                    place,
                    what=f"{label} is a tensor map, but the parameter is aligned to {parameter.alignment} bytes only; it needs 64",
                )
