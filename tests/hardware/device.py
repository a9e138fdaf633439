"""Launches the kernels of prepared modules on a GPU. A child process does the work, so that a hang or a fault costs one program, not the run."""

from __future__ import annotations

import ctypes
import json
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from hardware.program import Program, read_programs

LIMIT_SECONDS = 2.0
"""A launch that takes longer counts as hung; the programs need microseconds."""
ALIGNMENT = 1024


class _Gpu:
    """One context and one stream."""

    def __init__(self) -> None:
        from fa4dsl.runtime.cuda.driver import call

        self.call = call
        device = call("cuDeviceGet", 0)
        self.context = call("cuDevicePrimaryCtxRetain", device)
        call("cuCtxSetCurrent", self.context)
        self.stream = call("cuStreamCreate", 1)

    def wait(self) -> None:
        """Until the stream is empty; TimeoutError when that takes too long."""
        event = self.call("cuEventCreate", 2)
        self.call("cuEventRecord", event, self.stream)
        from fa4dsl.runtime.cuda.driver import driver, raise_status

        end = time.monotonic() + LIMIT_SECONDS
        while True:
            status = int(driver().cuEventQuery(event)[0])
            if status == 0:
                return
            if status != 600:
                raise_status("cuEventQuery", status)
            if time.monotonic() > end:
                raise TimeoutError

    def launch(self, function: Any, program: Program, x: int, o: int) -> None:
        """One program on its buffers."""
        from hardware.simulate import description

        from fa4dsl.runtime.cuda.tensor_map import encode_at

        values: list[Any] = [ctypes.c_uint64(x), ctypes.c_uint64(o)]
        for entry in program.maps:
            base = (x if entry["buffer"] == "x" else o) + entry["offset"]
            values.append(ctypes.create_string_buffer(encode_at(description(entry), base, 0, program.name), 128))
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        self.call(
            "cuLaunchKernel",
            function,
            program.cluster,
            1,
            1,
            program.block,
            1,
            1,
            program.dynamic,
            self.stream,
            ctypes.addressof(pointers),
            0,
        )

    def run(self, cubin: bytes, programs: list[Program]) -> list[bytes]:
        """The outputs of one module's programs."""
        module = self.call("cuModuleLoadData", cubin)
        inputs, outputs = [program.input() for program in programs], [program.output() for program in programs]
        host = np.concatenate([_padded(array) for array in (*inputs, *outputs)])
        memory = int(self.call("cuMemAlloc", host.size))
        self.call("cuMemcpyHtoD", memory, host.ctypes.data, host.size)
        places, at = [], 0
        for array in (*inputs, *outputs):
            places.append(at)
            at += _round_up(array.size)
        for index, program in enumerate(programs):
            function = self.call("cuModuleGetFunction", module, program.name.encode())
            self.launch(function, program, memory + places[index], memory + places[len(programs) + index])
        self.wait()
        self.call("cuMemcpyDtoH", host.ctypes.data, memory, host.size)
        self.call("cuMemFree", memory)
        self.call("cuModuleUnload", module)
        return [host[places[len(programs) + index] :][: array.size].tobytes() for index, array in enumerate(outputs)]


def _round_up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _padded(array: np.ndarray[Any, np.dtype[np.uint8]]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.concatenate([array, np.zeros(_round_up(array.size) - array.size, np.uint8)])


def worker(folder: Path, output: Path) -> None:
    """Runs the jobs read from standard input, one JSON list of module and program names (or null) a line; answers each with a line."""
    gpu = _Gpu()
    modules = json.loads((folder / "modules.json").read_text())
    cubins = (folder / "cubins.bin").read_bytes()
    programs = {program.name: program for program in read_programs(folder / "programs.xz")}
    print("ready", flush=True)
    for line in sys.stdin:
        number, only = json.loads(line)
        start, size, names = modules[number]
        chosen = [programs[name] for name in (only or names)]
        results = gpu.run(cubins[start : start + size], chosen)
        with output.open("ab") as file:
            for program, result in zip(chosen, results, strict=True):
                file.write(json.dumps([program.name, len(result)]).encode() + b"\n" + result)
        print("done", flush=True)


class Pool:
    """A worker that is started anew after a fault or a hang."""

    def __init__(self, folder: Path, output: Path) -> None:
        self.folder, self.output = folder, output
        self.process: subprocess.Popen[str] | None = None

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hardware.device", str(self.folder), str(self.output)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if self._line(120) != "ready":
            raise RuntimeError(f"the worker did not start: {self.stop()}")

    def _line(self, seconds: float) -> str:
        assert self.process is not None and self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline().strip() if ready else "hang"

    def stop(self) -> str:
        """Ends the worker; returns the last line that it wrote to standard error."""
        if self.process is None:
            return ""
        self.process.kill()
        assert self.process.stderr is not None
        words = self.process.stderr.read()
        self.process.wait()
        self.process = None
        if "TimeoutError" in words:
            return "hang"
        status = re.search(r"CUDA_ERROR_\w+", words)
        return status[0] if status else (words.strip().splitlines() or ["ended"])[-1]

    def run(self, module: int, only: list[str] | None = None) -> str:
        """Runs a module's programs; "" or what went wrong."""
        if self.process is None:
            self._start()
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(json.dumps([module, only]) + "\n")
        self.process.stdin.flush()
        answer = self._line(4 * LIMIT_SECONDS)
        return "" if answer == "done" else self.stop()


def run_all(folder: Path, output: Path) -> dict[str, str]:
    """All modules of a prepared folder; the outputs go to one file. Returns the programs that failed, with the reason."""
    modules = json.loads((folder / "modules.json").read_text())
    pool, failures = Pool(folder, output), {}
    for number, (_, _, names) in enumerate(modules):
        problem = pool.run(number)
        if problem and len(names) == 1:
            failures[names[0]] = problem
        elif problem:
            for name in names:
                problem = pool.run(number, [name])
                if problem:
                    failures[name] = problem
    pool.stop()
    return failures


def read_outputs(path: Path) -> dict[str, bytes]:
    """What the workers wrote."""
    data, at, found = path.read_bytes(), 0, {}
    while at < len(data):
        end = data.index(b"\n", at)
        name, size = json.loads(data[at:end])
        found[name] = data[end + 1 : end + 1 + size]
        at = end + 1 + size
    return found


if __name__ == "__main__":
    worker(Path(sys.argv[1]), Path(sys.argv[2]))
