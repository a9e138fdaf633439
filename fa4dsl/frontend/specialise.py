"""One kernel with its compile-time arguments, as a module of the fa4 dialect."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any

from fa4dsl.frontend.functions import evaluated_annotations
from fa4dsl.frontend.source import Source
from fa4dsl.frontend.statements import run_function
from fa4dsl.frontend.trace import CallFrame, Trace, activated
from fa4dsl.frontend.values import Value, describe
from fa4dsl.runtime.diagnostics import Fa4dslError, Location, fail
from fa4dsl.types import DType, PointerType, RaggedTensorMap, TensorMap

if TYPE_CHECKING:
    from mlir import ir

LARGEST_BLOCK = 1024
LARGEST_CLUSTER = 16

Sizes = int | tuple[int, ...] | Callable[..., Any] | None


@dataclass(frozen=True)
class KernelOptions:
    """What stands in the parentheses of ``@kernel(...)``. `threads` and `cluster` may be functions of the compile-time arguments."""

    threads: Sizes = None
    cluster: Sizes = None
    min_blocks: int = 0
    max_registers: int = 0
    fences: str = "automatic"
    target: str = "sm_90a"
    debug_waits: bool = False


@dataclass
class Module:
    """A traced kernel."""

    context: ir.Context
    module: ir.Module
    sources: dict[str, str]


def run_time_parameters(function: Callable[..., Any]) -> dict[str, Any]:
    """Names and annotated types of the run-time (positional) parameters. Raises L035 or L036 for what cannot be one."""
    signature = inspect.signature(function)
    where = Location(function.__code__.co_filename, function.__code__.co_firstlineno)
    annotations = evaluated_annotations(function)
    found: dict[str, Any] = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.default is not parameter.empty:
            fail("L036", where, name=name)
        wanted = annotations.get(name)
        is_map = isinstance(wanted, type) and issubclass(wanted, TensorMap | RaggedTensorMap)
        if not (isinstance(wanted, DType | PointerType) or is_map) or (
            isinstance(wanted, DType) and (wanted.bits == 8 and wanted.is_float)
        ):
            given = "no annotation" if wanted is None else f"the annotation {wanted}"
            fail("L035", where, name=name, given=given)
        found[name] = wanted
    return found


def compile_time_parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The keyword-only parameters."""
    parameters = inspect.signature(function).parameters
    return {name: item for name, item in parameters.items() if item.kind is item.KEYWORD_ONLY}


def sizes(kernel: str, what: str, given: Sizes, constants: Mapping[str, Any], limit: int, where: Location) -> tuple[int, int, int]:
    """A block or cluster shape: a number, a tuple, or a function of the compile-time arguments it names. Raises L037."""
    value: Any = given
    if callable(given):
        wanted = [name for name in inspect.signature(given).parameters if name in constants]
        try:
            value = given(**{name: constants[name] for name in wanted})
        except Exception as error:  # the author's own function
            fail("L007", where, error=type(error).__name__, reason=str(error) or "no message")
    items = value if isinstance(value, tuple | list) else (value,)
    shape = (*items, 1, 1, 1)[: max(3, len(items))]
    if len(shape) != 3 or not all(isinstance(item, int) and item >= 1 for item in shape) or shape[0] * shape[1] * shape[2] > limit:
        fail("L037", where, kernel=kernel, what=what, given=value, limit=limit)
    return shape[0], shape[1], shape[2]


def trace_kernel(source: Source, options: KernelOptions, constants: Mapping[str, Any]) -> Module:
    """Builds the fa4 module of one specialisation. Every user mistake is an L error; no other exception leaves it but C002, without MLIR, and C014."""
    from fa4dsl.passes.dialect.definition import new_context, require_mlir
    from fa4dsl.passes.target import DEFAULT, target_named

    require_mlir()
    from mlir import ir

    function = source.function
    where = source.location(source.node)
    where = Location(where.file, where.line, where.column)
    parameters = run_time_parameters(function)
    context = new_context()
    with context, ir.Location.file(source.file, where.line, where.column, context=context):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            named = {"sym_name": ir.StringAttr.get("kernels")}
            if options.target != DEFAULT:
                named["targets"] = ir.Attribute.parse(f'[#nvvm.target<chip = "{target_named(options.target, where).chip}">]')
            container = ir.Operation.create("gpu.module", attributes=named, regions=1)
        inner = container.regions[0].blocks.append()
        types = [ir.Type.parse("!fa4.tensor_map" if isinstance(item, type) else item.mlir) for item in parameters.values()]
        with ir.InsertionPoint(inner):
            attributes = {
                "sym_name": ir.StringAttr.get(source.name),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            }
            made = ir.Operation.create("func.func", attributes=attributes, regions=1)
        entry = made.regions[0].blocks.append(*types, arg_locs=[ir.Location.current] * len(types))
        trace = Trace(context, module, entry)
        trace.location = where
        trace.cluster = sizes(source.name, "cluster", options.cluster or 1, constants, LARGEST_CLUSTER, where)
        if options.threads is not None:
            trace.block = sizes(source.name, "threads", options.threads, constants, LARGEST_BLOCK, where)
            trace.threads = trace.block[0] * trace.block[1] * trace.block[2]
        trace.remember_source(source.file)
        with activated(trace), ir.InsertionPoint(entry):
            names = dict(constants)
            maps: dict[str, Any] = {}
            for (name, wanted), argument in zip(parameters.items(), entry.arguments, strict=True):
                names[name] = _parameter(trace, name, wanted, argument, where, maps)
            frame = CallFrame(source, names)
            trace.frames.append(frame)
            try:
                result = run_function(trace, frame)
                if result is not None:
                    trace.fail("L033", where, given=describe(result))
                trace.create("func.return")
                for finish in trace.finishers:
                    finish()
            except (Fa4dslError, KeyboardInterrupt):
                raise
            except Exception as error:  # no user should meet it, but if so with the line it happened at
                reason, expected = str(error), "what stands at this line"
                raise trace.error(
                    "L099", name="the front end", error=type(error).__name__, reason=reason, given="", expected=expected
                ) from error
            _finish(trace, made, source, options, parameters, maps, where)
            made.attributes["fa4.options"] = _recorded(constants)
    return Module(context, module, trace.sources)


def _parameter(trace: Trace, name: str, wanted: Any, argument: Any, where: Location, maps: dict[str, Any]) -> Any:
    if isinstance(wanted, PointerType):
        from fa4dsl.language.memory import PointerValue

        return PointerValue(argument, wanted, where)
    if isinstance(wanted, DType):
        return Value(argument, wanted, where)
    from fa4dsl.language.tma import MapValue, RaggedMapValue

    made = (RaggedMapValue if issubclass(wanted, RaggedTensorMap) else MapValue)(argument, name, where)
    maps[name] = made
    return made


def _finish(
    trace: Trace, function: Any, source: Source, options: KernelOptions, parameters: dict[str, Any], maps: dict[str, Any], where: Location
) -> None:
    """The launch attributes, which are known once the body has been traced."""
    from mlir import ir

    if not trace.threads:
        warps = max((role.first_warp + role.warps for role in trace.roles), default=0)
        if not warps:
            trace.fail("L038", where, kernel=source.name)
        trace.threads = 32 * warps
        trace.block = (trace.threads, 1, 1)
    attributes = function.attributes
    attributes["fa4.kernel"] = ir.StringAttr.get(source.name)
    attributes["fa4.block"] = ir.DenseI32ArrayAttr.get(list(trace.block))
    attributes["fa4.cluster"] = ir.DenseI32ArrayAttr.get(list(trace.cluster))
    attributes["fa4.fences"] = ir.StringAttr.get(options.fences)
    if options.debug_waits:
        attributes["fa4.debug_waits"] = ir.UnitAttr.get()
    i32 = ir.IntegerType.get_signless(32)
    if options.min_blocks:
        attributes["fa4.min_blocks"] = ir.IntegerAttr.get(i32, options.min_blocks)
    if options.max_registers:
        attributes["fa4.max_registers"] = ir.IntegerAttr.get(i32, options.max_registers)
    listed = []
    for name, wanted in parameters.items():
        fields: dict[str, ir.Attribute] = {"name": ir.StringAttr.get(name)}
        if isinstance(wanted, PointerType):
            fields |= {"kind": ir.StringAttr.get("pointer"), "dtype": ir.StringAttr.get(wanted.dtype.name)}
        elif isinstance(wanted, DType):
            fields |= {"kind": ir.StringAttr.get("scalar"), "dtype": ir.StringAttr.get(wanted.name)}
        else:
            fields |= {"kind": ir.StringAttr.get("tensor_map"), **maps[name].manifest_fields()}
        listed.append(ir.DictAttr.get(fields))
    attributes["fa4.parameters"] = ir.ArrayAttr.get(listed)


def _recorded(constants: Mapping[str, Any]) -> ir.Attribute:
    """The compile-time arguments for the manifest, by which a variant is found in an artifact: numbers, truth values and texts, and the
    fields of dataclasses by their own names. What JSON cannot hold is left out."""
    from mlir import ir

    plain: dict[str, Any] = {}
    for name, value in constants.items():
        if is_dataclass(value) and not isinstance(value, type):
            plain |= {item.name: getattr(value, item.name) for item in dataclass_fields(value)}
        else:
            plain[name] = value
    makers: dict[type, Callable[[Any], ir.Attribute]] = {
        bool: ir.BoolAttr.get,
        int: lambda value: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value),
        float: lambda value: ir.FloatAttr.get(ir.F64Type.get(), value),
        str: ir.StringAttr.get,
    }
    kept = {name: value for name, value in plain.items() if type(value) in makers and not (isinstance(value, int) and abs(value) >> 63)}
    return ir.DictAttr.get({name: makers[type(value)](value) for name, value in kept.items()})
