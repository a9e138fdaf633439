"""A process that runs examples, each in a fork of its own over the stand-in for the driver: starting Python for each would take longer than all of them.

One JSON object a line: in, an example with its folder and what the GPU is like (`driver_stub.c`); out, what came of it. Nothing touches the driver before
the fork.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

from catalogue_examples import Outcome, run

_ANY = (
    "R043",
    "R050",
    "R051",
    "R063",
    "R066",
    "R068",
    "R069",
    "R071",
    "R072",
    "R073",
    "R074",
    "R078",
    "R079",
    "R080",
    "R095",
    "R096",
    "R102",
)
ON_A_GPU: dict[str, dict[str, int]] = {
    **{code: {} for code in _ANY},
    "R035": {"box_rows": 128},
    "R064": {"max_threads": 128},
    "R065": {"gpc_ctas": 12},
    "R075": {"fault_above": 2},
    "R076": {"memory": 2 << 20},
    "R077": {"hang_above": 264},
}
"""What the GPU is like, by code; see driver_stub.c."""
WITHOUT_A_DRIVER = ("R070",)


class Server:
    """The process, over a driver library in `library`; use it as a context."""

    def __init__(self, library: Path) -> None:
        environment = {**os.environ, "LD_LIBRARY_PATH": str(library), "STUB_QUIET": "1", "CUDA_VISIBLE_DEVICES": "0,1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        # Closes both ends and waits.
        self._process.communicate(timeout=60)

    def run(self, example: str, folder: Path, **gpu: int) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"example": example, "folder": str(folder), "gpu": gpu}) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert "failed" not in found, found["failed"]
        return found


def _answer(outcome: Outcome) -> dict[str, Any]:
    return {
        "codes": outcome.codes,
        "unfilled": outcome.unfilled,
        "text": str(outcome),
        "lines": [item.as_dict()["lines"] for item in outcome.diagnostics],
    }


def _in_child(example: str, folder: str, gpu: dict[str, int]) -> dict[str, Any]:
    warnings.simplefilter("error")
    # Python 3.12 warns of any fork beside threads; that is the example's point.
    warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
    try:
        if gpu:
            stub = ctypes.CDLL("libcuda.so.1")
            for name, value in gpu.items():
                stub.stub_set(name.encode(), value)
        if "import cupy" in example:
            import cupy_stand_in

            cupy_stand_in.install()
        if "torch" in example:
            import torch_stand_in

            torch_stand_in.install()
        return _answer(run(example, Path(folder)))
    except BaseException:
        return {"failed": traceback.format_exc()}


def _load() -> None:
    """What every example would load again."""
    import mlir._mlir_libs._mlirDialectsIRDL
    import mlir._mlir_libs._mlirDialectsLLVM
    import mlir.passmanager  # noqa: F401

    import fa4dsl
    import fa4dsl.passes.pipeline
    import fa4dsl.runtime.cache
    import fa4dsl.runtime.cuda.host_copy
    import fa4dsl.runtime.cuda.launch
    import fa4dsl.runtime.cuda.watchdog
    import fa4dsl.runtime.simulator.device
    from fa4dsl.kernel_toolchain import toolchain
    from fa4dsl.runtime.version import version

    toolchain()
    version()
    for name in fa4dsl.__all__:
        getattr(fa4dsl, name)


def main() -> None:
    _load()
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "w") as answer:
                json.dump(_in_child(**json.loads(line)), answer)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answer:
            text = answer.read()
        os.waitpid(child, 0)
        print(text or json.dumps({"failed": "the process ended"}), flush=True)


if __name__ == "__main__":
    main()
