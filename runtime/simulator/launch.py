"""A launch: which kernel, how many threads, which arrays. Read from LAUNCH.json or built in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from fa4dsl.runtime.diagnostics import Location, fail
from fa4dsl.runtime.dtypes import find_dtype
from fa4dsl.runtime.tensor_map import Im2col, TensorMapDescription

Triple: TypeAlias = tuple[int, int, int]
Bytes: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class PointerArgument:
    """A 64-bit pointer to byte `offset` of a buffer."""

    buffer: str
    offset: int = 0


@dataclass(frozen=True)
class ScalarArgument:
    """`size` bytes given by their bits."""

    bits: int
    size: int


@dataclass(frozen=True)
class TensorMapArgument:
    """A tensor map whose base is byte ``offset + record.offset`` of a buffer."""

    record: TensorMapDescription
    buffer: str
    offset: int = 0


Argument: TypeAlias = PointerArgument | ScalarArgument | TensorMapArgument


@dataclass
class Launch:
    """Everything a run needs beside the PTX.

    `grid` in blocks, `block` in threads, `cluster` in blocks. `buffers`: name to flat uint8 array, changed in place by the run. `arguments` in the
    kernel's parameter order. `outputs`: buffers that `save_outputs` writes, with the dtype to view them as.
    """

    kernel: str
    grid: Triple
    block: Triple
    cluster: Triple = (1, 1, 1)
    dynamic_shared_bytes: int = 0
    buffers: dict[str, Bytes] = field(default_factory=dict)
    arguments: list[Argument] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    multicast: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Buffers that are multicast memory, with the buffers that are their copies; their own bytes stay as they are."""


class _Reader:
    """Checks LAUNCH.json field by field; every complaint is S009 with the file's name."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def wrong(self, what: str, how: str = "see the description of LAUNCH.json in the documentation") -> NoReturn:
        fail("S009", Location(str(self.path), 0), file=str(self.path), what=what, how=how)

    def object(self, value: Any, where: str, known: set[str], needed: set[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.wrong(f"{where} must be an object")
        unknown, missing = set(value) - known, needed - set(value)
        if unknown:
            self.wrong(f"{where} has the unknown key {sorted(unknown)[0]!r}", f"the keys are {', '.join(sorted(known))}")
        if missing:
            self.wrong(f"{where} lacks {sorted(missing)[0]!r}")
        return value

    def integer(self, value: Any, where: str, low: int = 0, high: int = 1 << 62) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.wrong(f"{where} must be an integer from {low} to {high}, not {value!r}")
        return value

    def integers(self, value: Any, where: str, count: int | None = None, low: int = 1) -> tuple[int, ...]:
        if not isinstance(value, list) or (count is not None and len(value) != count):
            self.wrong(f"{where} must be a list of {count if count is not None else 'some'} integers, not {value!r}")
        return tuple(self.integer(item, where, low) for item in value)

    def triple(self, value: Any, where: str) -> Triple:
        x, y, z = self.integers(value, where, 3)
        return x, y, z

    def text(self, value: Any, where: str) -> str:
        if not isinstance(value, str) or not value:
            self.wrong(f"{where} must be a name, not {value!r}")
        return value

    def numpy_dtype(self, name: Any, where: str) -> np.dtype[Any]:
        found = find_dtype(name) if isinstance(name, str) else None
        if found is None:
            self.wrong(f"{where} names the unknown dtype {name!r}", "use numpy's names (float32, uint16, ...), bfloat16, or e4m3 and e5m2")
        return found.numpy

    # -- parts

    def buffer(self, name: str, value: Any) -> Bytes:
        where = f"buffer {name!r}"
        entry = self.object(value, where, {"file", "bytes", "fill"}, set())
        if ("file" in entry) == ("bytes" in entry):
            self.wrong(f"{where} needs either a file or bytes")
        if "bytes" in entry:
            size = self.integer(entry["bytes"], f"{where}: bytes", 0, 1 << 36)
            return np.full(size, self.integer(entry.get("fill", 0), f"{where}: fill", 0, 255), np.uint8)
        file = self.inside(self.text(entry["file"], f"{where}: file"), where)
        try:
            array = np.load(file, allow_pickle=False)
        except FileNotFoundError:
            self.wrong(f"{where}: there is no file {file}", "put the .npy file beside the description, or mend its name")
        except (OSError, ValueError, EOFError) as error:
            self.wrong(f"{where}: {file} is not a readable .npy file ({error})", "save the array with numpy.save, without pickled objects")
        if not isinstance(array, np.ndarray):
            self.wrong(f"{where}: {file} holds several arrays", "save one array with numpy.save")
        if array.ndim and not array.flags.c_contiguous:
            self.wrong(f"{where}: {file} is not C-contiguous", "save numpy.ascontiguousarray of it")
        flat: Bytes = np.frombuffer(array.tobytes(), np.uint8).copy()
        return flat

    def copies(self, name: str, value: Any, arrays: Mapping[str, Bytes]) -> tuple[str, ...]:
        """The buffers that a multicast buffer stands for."""
        where = f"buffer {name!r}: multicast"
        found = self.object(value, f"buffer {name!r}", {"multicast"}, set())["multicast"]
        if not isinstance(found, list) or not found:
            self.wrong(f"{where} must be a list of buffers")
        names = tuple(self.known_buffer(where, item, arrays) for item in found)
        if len({len(arrays[item]) for item in names}) > 1:
            self.wrong(f"{where}: the copies have different sizes")
        return names

    def inside(self, name: str, where: str) -> Path:
        """A path below the description's folder."""
        folder = self.path.resolve().parent
        file = (folder / name).resolve()
        if not file.is_relative_to(folder):
            self.wrong(f"{where}: the path {name!r} leads out of the description's folder", "put the file beside the description")
        return file

    def argument(self, index: int, value: Any, buffers: Mapping[str, Bytes]) -> Argument:
        where = f"argument {index}"
        if isinstance(value, dict) and "scalar" in value:
            entry = self.object(value, where, {"scalar", "dtype"}, {"scalar", "dtype"})
            return self.scalar(where, entry["scalar"], entry["dtype"])
        if isinstance(value, dict) and "tensor_map" in value:
            self.object(value, where, {"tensor_map"}, set())
            return self.tensor_map(f"{where}: tensor_map", value["tensor_map"], buffers)
        entry = self.object(value, where, {"buffer", "offset"}, {"buffer"})
        name = self.known_buffer(where, entry["buffer"], buffers)
        return PointerArgument(name, self.integer(entry.get("offset", 0), f"{where}: offset", 0, max(len(buffers[name]), 0)))

    def known_buffer(self, where: str, name: Any, buffers: Mapping[str, Bytes]) -> str:
        if not isinstance(name, str) or name not in buffers:
            self.wrong(f"{where} names the unknown buffer {name!r}", f"the buffers are {', '.join(buffers) or 'none'}")
        return str(name)

    def scalar(self, where: str, value: Any, dtype_name: Any) -> ScalarArgument:
        dtype = self.numpy_dtype(dtype_name, where)
        if isinstance(value, bool):
            value = int(value)
        if isinstance(value, str):  # "inf", "nan"
            try:
                value = float(value)
            except ValueError:
                self.wrong(f"{where}: {value!r} is not a number")
        if not isinstance(value, int | float):
            self.wrong(f"{where}: {value!r} is not a number")
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            if not isinstance(value, int) or not info.min <= value <= info.max:
                self.wrong(f"{where}: {value!r} does not fit {dtype_name}")
        with np.errstate(all="ignore"):
            bits = int.from_bytes(np.array(value).astype(dtype).tobytes(), "little")
        return ScalarArgument(bits, dtype.itemsize)

    def tensor_map(self, where: str, value: Any, buffers: Mapping[str, Bytes]) -> TensorMapArgument:
        known = {
            "buffer",
            "dtype",
            "sizes",
            "strides_bytes",
            "box",
            "element_strides",
            "swizzle",
            "oob_fill",
            "offset",
            "interleave",
            "l2_promotion",
            "im2col",
        }
        by_pixels = isinstance(value, dict) and "im2col" in value
        entry = self.object(value, where, known, {"buffer", "dtype", "sizes", "strides_bytes", "im2col" if by_pixels else "box"})
        sizes = self.integers(entry["sizes"], f"{where}: sizes")
        rank = len(sizes)
        if not 1 <= rank <= 5:
            self.wrong(f"{where}: sizes has {rank} dimensions; a tensor map has 1 to 5")
        found = find_dtype(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        if found is None:
            self.wrong(f"{where}: unknown dtype {entry['dtype']!r}")
        swizzle, fill = entry.get("swizzle", "none"), entry.get("oob_fill", "zero")
        if swizzle not in ("none", "32B", "64B", "128B"):
            self.wrong(f"{where}: unknown swizzle {swizzle!r}", "use none, 32B, 64B or 128B")
        if fill not in ("zero", "nan"):
            self.wrong(f"{where}: unknown oob_fill {fill!r}", "use zero or nan")
        if entry.get("interleave", "none") != "none":
            self.wrong(f"{where}: interleave {entry['interleave']!r} is not modelled", "use none")
        im2col, channels = self.im2col(f"{where}: im2col", entry["im2col"], rank) if by_pixels else (None, 0)
        record = TensorMapDescription(
            dtype=found.name,
            sizes=sizes,
            strides_bytes=self.integers(entry["strides_bytes"], f"{where}: strides_bytes", rank - 1, 0),
            box=(channels, *([1] * (rank - 1))) if by_pixels else self.integers(entry["box"], f"{where}: box", rank),
            element_strides=self.integers(entry.get("element_strides", [1] * rank), f"{where}: element_strides", rank),
            swizzle=swizzle,
            oob_fill=fill,
            im2col=im2col,
        )
        offset = entry.get("offset", 0)
        return TensorMapArgument(
            record, self.known_buffer(where, entry["buffer"], buffers), self.integer(offset, f"{where}: offset", -(1 << 40))
        )

    def im2col(self, where: str, value: Any, rank: int) -> tuple[Im2col, int]:
        """Corners, pixels and channels of a map for the im2col mode, within cuTensorMapEncodeIm2col's limits."""
        names = {"lower", "upper", "pixels", "channels"}
        entry = self.object(value, where, names, names)
        if not 3 <= rank <= 5:
            self.wrong(f"{where} needs 3 to 5 dimensions, has {rank}")
        bound = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}[rank]
        corners = [self.integers(entry[name], f"{where}: {name}", rank - 2, -bound) for name in ("lower", "upper")]
        if max(map(max, corners)) >= bound:
            self.wrong(f"{where}: corners are within -{bound}..{bound - 1} with {rank} dimensions")
        pixels = self.integer(entry["pixels"], f"{where}: pixels", 1, 1024)
        return Im2col(corners[0], corners[1], pixels), self.integer(entry["channels"], f"{where}: channels", 1, 256)

    def read(self) -> Launch:
        try:
            text = self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            self.wrong("there is no such file", "give the path of a LAUNCH.json")
        except (OSError, UnicodeDecodeError) as error:
            self.wrong(f"it cannot be read ({error})", "give a readable JSON file")
        return self.launch(text)

    def launch(self, text: str) -> Launch:
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            self.wrong(f"it is not JSON: {error.msg} at line {error.lineno}, column {error.colno}", "mend the JSON")
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, thousands of brackets
            self.wrong(f"it is not JSON that can be read ({error})", "mend the JSON")
        known = {"kernel", "grid", "block", "cluster", "dynamic_shared_bytes", "buffers", "arguments", "outputs"}
        entry = self.object(content, "the description", known, {"kernel", "grid", "block"})
        buffers = entry.get("buffers", {})
        if not isinstance(buffers, dict):
            self.wrong("buffers must be an object")
        multicast = {str(name): value for name, value in buffers.items() if isinstance(value, dict) and "multicast" in value}
        arrays = {str(name): self.buffer(name, value) for name, value in buffers.items() if name not in multicast}
        copies = {name: self.copies(name, value, arrays) for name, value in multicast.items()}
        arrays |= {name: np.zeros(len(arrays[found[0]]), np.uint8) for name, found in copies.items()}
        arguments = entry.get("arguments", [])
        if not isinstance(arguments, list):
            self.wrong("arguments must be a list")
        outputs = entry.get("outputs", {})
        if not isinstance(outputs, dict):
            self.wrong("outputs must be an object")
        for name, dtype in outputs.items():
            self.known_buffer("outputs", name, arrays)
            if len(arrays[name]) % self.numpy_dtype(dtype, f"output {name!r}").itemsize:
                self.wrong(
                    f"output {name!r} has {len(arrays[name])} bytes, which is not a whole number of {dtype}",
                    "choose a dtype that divides the buffer",
                )
        return Launch(
            kernel=self.text(entry["kernel"], "kernel"),
            grid=self.triple(entry["grid"], "grid"),
            block=self.triple(entry["block"], "block"),
            cluster=self.triple(entry.get("cluster", [1, 1, 1]), "cluster"),
            dynamic_shared_bytes=self.integer(entry.get("dynamic_shared_bytes", 0), "dynamic_shared_bytes", 0, 1 << 30),
            buffers=arrays,
            arguments=[self.argument(index, value, arrays) for index, value in enumerate(arguments)],
            outputs={str(name): str(dtype) for name, dtype in outputs.items()},
            multicast=copies,
        )


def load_launch(path: str | Path) -> Launch:
    """Reads a LAUNCH.json and its arrays. Every mistake in it is S009."""
    return _Reader(Path(path)).read()


COMMENT = "// launch:"
"""Starts the lines of a PTX file that hold its launch description."""


def launch_in_comments(ptx: str, path: str | Path) -> Launch | None:
    """The launch that a PTX file describes itself: the text behind ``// launch:`` of all lines that start so, together one LAUNCH.json.

    None where there is no such line. Paths are relative to the PTX file. Every mistake in it is S009, with the lines of the PTX file.
    """
    lines = ptx.splitlines()
    if not any(line.startswith(COMMENT) for line in lines):
        return None
    # blanks in place of all else: places in complaints of the JSON reader are those of the file
    text = "\n".join(line.replace(COMMENT, " " * len(COMMENT), 1) if line.startswith(COMMENT) else "" for line in lines)
    return _Reader(Path(path)).launch(text)


def output_array(launch: Launch, name: str) -> npt.NDArray[Any]:
    """An output buffer under its dtype; bfloat16 and the 8-bit floats as raw unsigned integers, which .npy files can hold."""
    found = find_dtype(launch.outputs[name])
    assert found is not None
    plain = (
        found.numpy
        if found.numpy.kind in "iufb" and found.numpy_name.startswith(("int", "uint", "float16", "float32", "float64", "bool"))
        else np.dtype(f"u{found.size}")
    )
    array: npt.NDArray[Any] = launch.buffers[name].view(plain)
    return array


def save_outputs(launch: Launch, directory: str | Path) -> list[Path]:
    """Writes each output buffer as DIRECTORY/NAME.npy; returns the paths."""
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for name in launch.outputs:
            path = folder / f"{name}.npy"
            np.save(path, output_array(launch, name))
            written.append(path)
    except OSError as error:
        fail(
            "S009",
            Location(str(folder), 0),
            file=str(folder),
            what=f"cannot be written ({error})",
            how="give a directory that can be written",
        )
    return written
