"""Host time of a launch without a GPU: fa4dsl's path, and cuda-core's, over the tests' stand-in for the driver library.

    python benchmarks/launch_host_cost.py [--turns N] [--json]

The stand-in's `cuLaunchKernelEx` returns at once, so what is measured is all that stands in front of the driver, which on an H200 takes the greater part
of a launch (`launch_overhead.py`). Arrays are stand-ins for torch's and cupy's (`tests/framework_stand_ins.py`); the real ones' attributes take longer.
Each figure is the least mean of a batch, less that of an empty function: other work on the machine only ever adds. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BATCH = 100
STREAM = 0x40
BARE = "cuda-core launch, config and arguments ready"


def launchers() -> dict[str, Callable[[], Any]]:
    import framework_stand_ins
    from launch_overhead import PTX, cuda_core, ours

    tensor, ndarray = framework_stand_ins.install(STREAM, exchange=not os.environ.get("NO_EXCHANGE"))
    from fa4dsl.frontend.specialise import KernelOptions
    from fa4dsl.kernel_object import Kernel
    from fa4dsl.runtime import Artifact, tiled

    plain, mapped = ours()
    n = 1024
    x, out = tensor((n,)), tensor((n,))
    cx, cout = ndarray((n,)), ndarray((n,))
    square = tensor((32, 32))
    ready = tiled(square, (32, 8), "128B")

    def held(artifact: Artifact, *arguments: Any) -> Any:
        """A launcher taken before the first launch."""
        launcher = Artifact(artifact.manifest, artifact.ptx)[8]
        launcher(*arguments)
        return launcher

    def scale(x: Any, out: Any, n: Any) -> None:
        """Stands for a kernel's source, which nobody compiles here."""

    kernel = Kernel(scale, KernelOptions(None, None, 0, 0, "automatic", "sm_90a"))
    kernel.bind()._artifact = Artifact(plain.manifest, PTX)
    kernel[8](x, out, n)
    of_torch, of_cupy, of_ready, of_square = (
        held(plain, x, out, n),
        held(plain, cx, cout, n),
        held(mapped, ready, ready, out, n),
        held(mapped, square, square, out, n),
    )
    plain[8](x, out, n)
    turns = [0]

    def changing() -> None:
        turns[0] ^= 1
        of_torch(x, out, turns[0])

    return {
        BARE: cuda_core(x, out, n, STREAM),
        "fa4dsl kernel[grid](x, out, n), torch": lambda: kernel[8](x, out, n),
        "fa4dsl artifact[grid](x, out, n), torch": lambda: plain[8](x, out, n),
        "fa4dsl launch(x, out, n), torch": lambda: of_torch(x, out, n),
        "fa4dsl launch(x, out, n), torch, another n each time": changing,
        "fa4dsl launch(x, out, n), cupy": lambda: of_cupy(cx, cout, n),
        "fa4dsl 2 tensor maps ready + pointer + scalar": lambda: of_ready(ready, ready, out, n),
        "fa4dsl 2 tensors mapped at launch + pointer + scalar": lambda: of_square(square, square, out, n),
    }


def least(found: dict[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Nanoseconds of one call."""
    best = dict.fromkeys([*found, ""], float("inf"))
    functions = {**found, "": lambda: None}
    for _ in range(turns):
        for name, function in functions.items():
            start = time.perf_counter()
            for _ in range(BATCH):
                function()
            best[name] = min(best[name], (time.perf_counter() - start) / BATCH * 1e9)
    empty = best.pop("")
    return {name: figure - empty for name, figure in best.items()}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--turns", type=int, default=1500)
    arguments.add_argument("--json", action="store_true")
    options = arguments.parse_args()
    tests = str(Path(__file__).resolve().parent.parent / "tests")
    sys.path[:0] = [tests, str(Path(__file__).resolve().parent)]
    if "STUB_QUIET" not in os.environ:
        import stand_in_driver

        with tempfile.TemporaryDirectory() as folder:
            # The loader reads its path when a process starts.
            environment = {**os.environ, "LD_LIBRARY_PATH": str(stand_in_driver.build(Path(folder))), "STUB_QUIET": "1"}
            sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment).returncode)
    figures = least(launchers(), options.turns)
    if options.json:
        print(json.dumps({"python": sys.version.split()[0], "nanoseconds": figures}))
        return
    print(f"Python {sys.version.split()[0]}: host nanoseconds per launch in front of the driver")
    for name, figure in figures.items():
        print(f"{name:56} {figure:8.0f}")


if __name__ == "__main__":
    main()
