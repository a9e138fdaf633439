"""A digest of everything a kernel is compiled from, taken from its source, so that a second process finds the compiled kernel without MLIR.

It covers the kernel's and its device functions' files, every value that their names reach (closures, globals, classes, functions that run while the
kernel is traced, dataclasses, arrays), the decorator's options, the compile-time arguments, this package's own code and the tools. Equal digests must mean
equal compilations, so whatever is not fully understood raises `Unknown`, and the kernel is then looked up by its IR instead, which costs a trace.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import functools
import hashlib
import linecache
import struct
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from fa4dsl.frontend.functions import DeviceFunction
from fa4dsl.frontend.source import MISSING
from fa4dsl.kernel_toolchain import toolchain


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE_MODULES = _words(
    "__future__ abc bisect builtins cmath collections collections.abc copy dataclasses decimal enum fractions functools heapq itertools math "
    "ml_dtypes numbers numpy operator re statistics string textwrap types typing typing_extensions"
)
"""Modules whose functions depend on their arguments alone; one of their objects is known by its name, the module by its version."""
IMPURE_ATTRIBUTES = frozenset({"random", "load", "fromfile", "loadtxt", "genfromtxt", "memmap", "DataSource"})
"""What numpy has beside."""
DYNAMIC_BUILTINS = _words(
    "open eval exec compile __import__ input globals locals vars id hash getattr setattr delattr dir breakpoint __build_class__"
)
"""Functions that reach beyond their arguments, or reach names that no reader of the code sees."""
SCALARS = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))
IGNORED_IN_CLASSES = _words(
    "__dict__ __weakref__ __doc__ __module__ __qualname__ __abstractmethods__ _abc_impl __dataclass_fields__ __firstlineno__ __static_attributes__ "
    "_member_map_ _value2member_map_ _unhashable_values_ _unhashable_values_map_ _hashable_values_ _generate_next_value_ _new_member_ "
    "_value_repr_ __annotate_func__ __annotations_cache__ __annotate__"
)


class Unknown(Exception):
    """Something whose influence on the compilation cannot be told from outside."""


def kernel_fingerprint(function: Any, options: Any, constants: Mapping[str, Any]) -> str | None:
    """The digest of one specialisation; None where its source does not tell all."""
    known = Fingerprint()
    try:
        parts = [known.language_function(function), known.digest(options)]
        for name in sorted(constants):
            parts += [name.encode(), known.digest(constants[name])]
        parts += [f"{key}={value}".encode() for key, value in sorted(toolchain().items())]
    except (Unknown, RecursionError):
        return None
    return _hash("kernel", parts).hex()


def _hash(kind: str, parts: Iterable[bytes | str]) -> bytes:
    """Parts with their lengths in front, so that no two sequences run together."""
    state = hashlib.sha256(kind.encode() + b"\0")
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(struct.pack("<Q", len(data)))
        state.update(data)
    return state.digest()


class Fingerprint:
    """Digests of Python objects by content: equal objects have equal digests, in every process."""

    def __init__(self) -> None:
        self._done: dict[int, tuple[Any, bytes]] = {}
        self._open: list[int] = []
        self._reached = 0
        """The outermost open object that a cycle led back to."""
        self._files: dict[str, tuple[bytes, types.CodeType]] = {}

    def digest(self, value: Any) -> bytes:
        """Raises `Unknown`."""
        kind = type(value)
        if kind in SCALARS:
            if kind is float:
                return _hash("float", [struct.pack("<d", value)])
            if kind is complex:
                return _hash("complex", [struct.pack("<dd", value.real, value.imag)])
            return _hash(kind.__name__, [value if kind is bytes else str(value)])
        known = self._done.get(id(value))
        if known is not None:
            return known[1]
        depth = len(self._open)
        if id(value) in self._open:
            place = self._open.index(id(value))
            self._reached = min(self._reached, place)
            return _hash("cycle", [str(depth - place)])
        self._open.append(id(value))
        before, self._reached = self._reached, depth
        try:
            result = self._compound(value, kind)
        finally:
            self._open.pop()
        # The digest of an object on a cycle that is still open depends on the way there, and is good only here.
        if self._reached >= depth:
            self._done[id(value)] = (value, result)  # kept alive, so that the id stays this object's
        self._reached = min(before, self._reached)
        return result

    def _compound(self, value: Any, kind: type) -> bytes:
        if kind in (tuple, list):
            return _hash(kind.__name__, map(self.digest, value))
        if kind in (dict, types.MappingProxyType):
            return _hash("dict", (self.digest(part) for item in value.items() for part in item))
        if kind in (set, frozenset):
            return _hash(kind.__name__, sorted(map(self.digest, value)))
        if kind in (range, slice):
            return _hash(kind.__name__, [self.digest(part) for part in (value.start, value.stop, value.step)])
        if isinstance(value, DeviceFunction):
            return _hash("device function", [self.language_function(value.function)])
        if isinstance(value, types.ModuleType):
            return self._module(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return _hash("method", [self.digest(value.__self__), self.digest(value.__func__)])
        if isinstance(value, functools.partial) and kind is functools.partial:
            return _hash("partial", [self.digest(value.func), self.digest(value.args), self.digest(value.keywords)])
        if isinstance(value, (staticmethod, classmethod)) or hasattr(value, "cache_info"):
            return _hash(kind.__name__, [self.digest(value.__wrapped__)])
        if isinstance(value, property):
            return _hash("property", [self.digest(part) for part in (value.fget, value.fset, value.fdel)])
        if isinstance(value, functools.cached_property):
            return _hash("cached property", [self.digest(value.func)])
        if isinstance(value, (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)):
            return self._builtin(value)
        if isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            return _hash("slot", [value.__name__])
        return self._instance(value, kind)

    # --- instances

    def _instance(self, value: Any, kind: type) -> bytes:
        module = kind.__module__
        if isinstance(value, enum.Enum):
            return _hash("enum", [self.digest(kind), value.name, self.digest(value.value)])
        if module.split(".")[0] == "numpy" or module == "ml_dtypes":
            return self._array(value)
        if kind is types.SimpleNamespace:
            return _hash("namespace", [self.digest(vars(value))])
        if isinstance(value, (types.GenericAlias, types.UnionType)) or module == "typing":
            arguments, origin = getattr(value, "__args__", None), getattr(value, "__origin__", None)
            if arguments is None:
                return _hash("typing", [repr(value)])
            return _hash("alias", [repr(origin), *map(self.digest, arguments)])
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return _hash("named tuple", [self.digest(kind), *map(self.digest, tuple(value))])
        if _is_own(module) or dataclasses.is_dataclass(kind):
            return _hash("instance", [self.digest(kind), *self._state(value, kind)])
        raise Unknown(kind)

    def _state(self, value: Any, kind: type) -> Iterator[bytes]:
        """The attributes of an object, without what its cached properties keep there."""
        cached = {name for owner in kind.__mro__ for name, item in vars(owner).items() if isinstance(item, functools.cached_property)}
        slots = [name for owner in kind.__mro__ for name, item in vars(owner).items() if isinstance(item, types.MemberDescriptorType)]
        state = {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})
        for name in sorted(set(state) - cached):
            yield name.encode()
            yield self.digest(state[name])

    def _array(self, value: Any) -> bytes:
        import numpy as np

        if isinstance(value, np.dtype):
            return _hash("dtype", [value.str, str(value)])
        if isinstance(value, np.ufunc):
            return _hash("ufunc", [value.__name__, np.__version__])
        if type(value) is np.ndarray or isinstance(value, np.generic):
            array = np.asarray(value)
            if not array.dtype.hasobject:
                return _hash("array", [type(value).__name__, str(array.dtype), str(array.shape), array.tobytes()])
        raise Unknown(type(value))

    # --- functions, classes, modules

    def language_function(self, function: Any) -> bytes:
        """A kernel or device function: its file, its place there, and what the names in it mean."""
        code = function.__code__
        text, current = self._definition(function)
        parts: list[bytes | str] = [code.co_filename, text, str(code.co_firstlineno), function.__qualname__, *self._bindings(function)]
        return _hash("language function", [*parts, *self._globals(function, current)])

    def _definition(self, function: Any) -> tuple[bytes, types.CodeType]:
        """The digest of the function's file as it is now, which is what the front end reads, and the function's code in it."""
        code = function.__code__
        file = code.co_filename
        if file not in self._files:
            linecache.checkcache(file)
            text = "".join(linecache.getlines(file, function.__globals__))
            try:
                # optimize=0 keeps assert statements, which the front end sees.
                self._files[file] = (_hash("file", [text]), compile(text, file, "exec", dont_inherit=True, optimize=0))
            except (SyntaxError, ValueError) as error:
                raise Unknown(file) from error
        digest, whole = self._files[file]
        for found in _nested(whole):
            if found.co_name == code.co_name and found.co_firstlineno == code.co_firstlineno and found.co_freevars == code.co_freevars:
                return digest, found
        raise Unknown(function)

    def _globals(self, function: Any, code: types.CodeType) -> Iterator[bytes | str]:
        """The names that are not local, with what they mean."""
        names = {name for part in _nested(code) for name in part.co_names}
        for text in function.__annotations__.values():
            if isinstance(text, str):
                names.update(_names_of_annotation(text))
            else:
                yield self.digest(text)
        for name in sorted(names):
            if name not in function.__globals__ and name not in vars(builtins):
                continue
            value = _lookup(function, name)
            yield name
            yield self._chains(value, name, code) if isinstance(value, types.ModuleType) else self._global(name, value)

    def _chains(self, module: types.ModuleType, name: str, code: types.CodeType) -> bytes:
        """What the attributes read from a module mean. A module used in any other way could mean anything."""
        parts: list[bytes | str] = []
        for chain in sorted(_attributes_of(name, code)):
            value: Any = module
            for attribute in chain:
                if not isinstance(value, types.ModuleType):
                    break
                _refuse_impure(value, attribute)
                value = getattr(value, attribute, MISSING)
            parts += [".".join(chain), self.digest(value) if value is not MISSING else "missing"]
        return _hash("attributes", parts)

    def _global(self, name: str, value: Any) -> bytes:
        if value is MISSING:
            return _hash("missing", [name])
        if name in DYNAMIC_BUILTINS and value is vars(builtins)[name]:
            raise Unknown(name)
        return self.digest(value)

    def _bindings(self, function: Any) -> Iterator[bytes]:
        """Defaults, closure and attributes of a function."""
        yield self.digest(function.__defaults__)
        yield self.digest(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                yield self.digest(cell.cell_contents)
            except ValueError:
                yield b"empty"
        extra = {name: value for name, value in vars(function).items() if name != "__wrapped__"}
        yield self.digest(extra) if extra else b""

    def _function(self, function: types.FunctionType) -> bytes:
        """A function that Python runs while the kernel is traced: its code, and the globals that the code names."""
        if _is_pure(function.__module__) or _is_own(function.__module__):
            return self._by_name(function)
        code = function.__code__
        return _hash("function", [function.__qualname__, *self._code(code), *self._bindings(function), *self._globals(function, code)])

    def _code(self, code: types.CodeType) -> Iterator[bytes]:
        yield _hash(
            "code",
            [
                code.co_code,
                str((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_exceptiontable)),
                str((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)),
            ],
        )
        for item in code.co_consts:
            if isinstance(item, types.CodeType):
                yield from self._code(item)
            else:
                yield self.digest(item)

    def _class(self, kind: type) -> bytes:
        if _is_pure(kind.__module__) or _is_own(kind.__module__):
            return self._by_name(kind)
        if type(kind) not in (type, enum.EnumMeta) and type(kind).__module__ != "abc":
            raise Unknown(kind)
        parts: list[bytes | str] = [kind.__module__, kind.__qualname__, *(self.digest(base) for base in kind.__bases__)]
        made = {name for name, item in vars(kind).items() if _is_generated(item)}
        for name in sorted(set(vars(kind)) - IGNORED_IN_CLASSES - made):
            item = vars(kind)[name]
            if isinstance(item, kind):  # a member of an enumeration
                parts += [name, self.digest(item.value) if isinstance(item, enum.Enum) else self.digest(item)]
            elif name in ("__dataclass_params__", "__annotations__", "__match_args__"):
                parts += [name, repr(item)]
            else:
                parts += [name, self.digest(item)]
        for field in vars(kind).get("__dataclass_fields__", {}).values():
            default = [self.digest(item) if item is not dataclasses.MISSING else b"" for item in (field.default, field.default_factory)]
            parts += [field.name, repr(field.type), *default, repr((field.init, field.compare, field.kw_only))]
        return _hash("class", parts)

    def _by_name(self, value: Any) -> bytes:
        """An object of this package or of a pure module: known by its name, if that is where it can be found."""
        owner: Any = sys.modules.get(value.__module__)
        for name in value.__qualname__.split("."):
            owner = getattr(owner, name, None)
        if owner is not value and not _is_generated(value):
            raise Unknown(value)
        return _hash("named", [value.__module__, value.__qualname__, _version(value.__module__)])

    def _builtin(self, value: Any) -> bytes:
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            return _hash("bound builtin", [value.__name__, self.digest(owner)])
        module = getattr(value, "__module__", None) or getattr(getattr(value, "__objclass__", None), "__module__", None)
        if not _is_pure(str(module).lstrip("_")):
            raise Unknown(value)
        if value.__name__ in DYNAMIC_BUILTINS and module == "builtins":
            raise Unknown(value)
        return _hash("builtin", [str(module), value.__qualname__])

    def _module(self, module: types.ModuleType) -> bytes:
        """A module as a value, not by its attributes."""
        if not _is_pure(module.__name__) or module.__name__.split(".")[0] == "numpy":
            raise Unknown(module)
        return _hash("module", [module.__name__])


def _is_own(module: str | None) -> bool:
    """Code that the toolchain's digest covers: this package without its kernels, which are code like the user's."""
    name = module or ""
    return name == "fa4dsl" or (name.startswith("fa4dsl.") and name.split(".")[1] != "kernels")


def _is_pure(module: str | None) -> bool:
    name = module or ""
    return name in PURE_MODULES or name.split(".")[0] in ("numpy", "ml_dtypes", "typing")


def _version(module: str) -> str:
    return str(getattr(sys.modules.get(module.split(".")[0]), "__version__", ""))


def _refuse_impure(module: types.ModuleType, attribute: str) -> None:
    """A function of numpy that reads more than its arguments, or of a module of which nothing is known."""
    root = module.__name__.split(".")[0]
    if (root == "numpy" and attribute in IMPURE_ATTRIBUTES) or (root in sys.stdlib_module_names and not _is_pure(module.__name__)):
        raise Unknown(module, attribute)


def _is_generated(value: Any) -> TypeGuard[types.FunctionType]:
    """A method that `dataclass` or `namedtuple` wrote, from fields that have digests of their own."""
    while isinstance(value, types.FunctionType) and hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return isinstance(value, types.FunctionType) and value.__code__.co_filename.startswith("<string>") and value.__name__.startswith("__")


def _lookup(function: Any, name: str) -> Any:
    """The value of a name that is not local, as `Source.lookup` finds it."""
    for free, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if free == name:
            try:
                return cell.cell_contents
            except ValueError:
                return MISSING
    found = function.__globals__.get(name, MISSING)
    return vars(builtins).get(name, MISSING) if found is MISSING else found


@functools.lru_cache(4096)
def _names_of_annotation(text: str) -> tuple[str, ...]:
    try:
        return compile(text, "<annotation>", "eval", dont_inherit=True).co_names
    except SyntaxError:
        return ()


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code with all the code in it."""
    yield code
    for item in code.co_consts:
        if isinstance(item, types.CodeType):
            yield from _nested(item)


def _attributes_of(name: str, code: types.CodeType) -> set[tuple[str, ...]]:
    """The chains of attributes that code reads from a global name. Raises `Unknown` where it uses the name in another way."""
    import dis

    found: set[tuple[str, ...]] = set()
    for part in _nested(code):
        chain: list[str] | None = None
        for instruction in dis.get_instructions(part):
            if chain is not None and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                chain.append(instruction.argval)
                continue
            if chain is not None:
                if not chain:
                    raise Unknown(name)
                found.add(tuple(chain))
                chain = None
            if instruction.argval == name and instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                chain = []
            elif instruction.argval == name and instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME", "IMPORT_FROM"):
                raise Unknown(name)
    return found
