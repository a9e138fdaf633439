"""Time of a kernel's first call in a fresh process with a warm cache: from the call to the result on the GPU.

    python benchmarks/first_call.py [--artifact COMBINE.fa4] [--runs N] [--without-gpu]

torch is imported and has its context, as in a program that has tensors; fa4dsl's modules are imported with the kernel. `--artifact` fills the cache
where no compiler is installed. Without a GPU the time until the artifact is there is shown alone; with `--without-gpu` the call goes on over the tests'
stand-ins for the driver and torch, which shows all but the driver's share.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def seed(artifact: str | None) -> None:
    """Puts the kernel into the cache under its own key."""
    from fa4dsl.fingerprint import kernel_fingerprint
    from fa4dsl.kernels.combine_config import CombineConfig
    from fa4dsl.kernels.splitk_combine import splitk_combine
    from fa4dsl.runtime import load
    from fa4dsl.runtime.cache import cached

    bound = splitk_combine.bind(c=CombineConfig())
    if artifact is None:
        bound.compile()
        return
    key = kernel_fingerprint(splitk_combine.function, splitk_combine.options, bound.constants)
    assert key is not None
    cached(key, lambda: load(artifact))


def measure(without_gpu: bool) -> None:
    """One fresh process: prints milliseconds as JSON."""
    if without_gpu:
        import framework_stand_ins

        tensor, _ = framework_stand_ins.install()
        partial, pairs, offsets = tensor((8, 16, 1, 128)), tensor((8, 16, 1, 2)), tensor((2,), "int32")
        out = tensor((16, 1, 128), "bfloat16")
    try:
        import torch

        on_gpu = not without_gpu and torch.cuda.is_available()
    except ImportError:
        on_gpu = False
    if on_gpu:
        partial = torch.rand(8, 16, 1, 128, device="cuda")
        pairs = torch.rand(8, 16, 1, 2, device="cuda") + 1
        offsets = torch.tensor([0, 16], dtype=torch.int32, device="cuda")
        out = torch.zeros(16, 1, 128, dtype=torch.bfloat16, device="cuda")
        torch.cuda.synchronize()
    start = time.perf_counter()
    import fa4dsl

    package = time.perf_counter()
    from fa4dsl.kernels.combine_config import CombineConfig
    from fa4dsl.kernels.splitk_combine import splitk_combine

    imported = time.perf_counter()
    bound = splitk_combine.bind(c=CombineConfig())
    bound.compile()
    found = time.perf_counter()
    times = {
        "import fa4dsl": (package - start) * 1e3,
        "import the kernel": (imported - package) * 1e3,
        "artifact from the cache": (found - imported) * 1e3,
    }
    if on_gpu or without_gpu:
        given = {
            "partial": partial,
            "statistics": pairs,
            "row_offsets": offsets,
            "output": out,
            "total_rows": 16,
            "heads": 1,
            "scale_log2e": 0.1,
        }
        bound[8](*[given.get(item.name, pairs) for item in bound.artifact.manifest.parameters])
        if on_gpu:
            torch.cuda.synchronize()
        times["first call, artifact included"] = (time.perf_counter() - imported) * 1e3
    assert "mlir" not in sys.modules, "the cache was not warm"
    assert fa4dsl is not None
    print(json.dumps(times))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--artifact")
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--without-gpu", action="store_true", help="over stand-ins for the driver and torch")
    arguments.add_argument("--phase", choices=("seed", "measure"), help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.phase == "seed":
        seed(options.artifact)
        return
    if options.phase == "measure":
        measure(options.without_gpu)
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "FA4DSL_CACHE_DIR": folder}
        # Modules compiled beforehand, as installing a package leaves them.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        safe = ["-P"] if sys.flags.safe_path else []
        again = [sys.executable, *safe, __file__, *(["--artifact", options.artifact] if options.artifact else []), "--phase"]
        subprocess.run([*again, "seed"], env=environment, check=True)
        measuring = [*again, "measure"]
        if options.without_gpu:
            tests = str(Path(__file__).resolve().parent.parent / "tests")
            sys.path.append(tests)
            import stand_in_driver

            library = str(stand_in_driver.build(Path(folder)))
            paths = [tests, *filter(None, [os.environ.get("PYTHONPATH")])]
            environment |= {"LD_LIBRARY_PATH": library, "STUB_QUIET": "1", "PYTHONPATH": os.pathsep.join(paths)}
            measuring.append("--without-gpu")
        found: list[dict[str, float]] = []
        for number in range(options.runs + 1):
            done = subprocess.run(measuring, env=environment, check=True, stdout=subprocess.PIPE, text=True)
            if number:  # the first writes the modules' bytecode
                found.append(json.loads(done.stdout))
    for name in found[0]:
        figures = [item[name] for item in found]
        print(f"{name:32} {statistics.median(figures):8.1f} ms   (of {len(figures)}: {min(figures):.1f} to {max(figures):.1f})")


if __name__ == "__main__":
    main()
