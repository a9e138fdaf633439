"""Time of a kernel's first call in a fresh process with a warm cache: from the call to the result on the GPU.

    python benchmarks/first_call.py [--artifact COMBINE.fa4] [--runs N]

torch is imported and has its context, as in a program that has tensors; fa4dsl's modules are imported with the kernel. `--artifact` fills the cache
where no compiler is installed. Without a GPU the time until the artifact is there is shown alone.
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


def measure() -> None:
    """One fresh process: prints milliseconds as JSON."""
    try:
        import torch

        on_gpu = torch.cuda.is_available()
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
    if on_gpu:
        bound[8](partial, pairs, offsets, out, 16, 1, 0.1, pairs, pairs)
        torch.cuda.synchronize()
        times["first call, artifact included"] = (time.perf_counter() - imported) * 1e3
    assert "mlir" not in sys.modules, "the cache was not warm"
    assert fa4dsl is not None
    print(json.dumps(times))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--artifact")
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--phase", choices=("seed", "measure"), help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.phase == "seed":
        seed(options.artifact)
        return
    if options.phase == "measure":
        measure()
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "FA4DSL_CACHE_DIR": folder}
        # Modules compiled beforehand, as installing a package leaves them.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        safe = ["-P"] if sys.flags.safe_path else []
        again = [sys.executable, *safe, __file__, *(["--artifact", options.artifact] if options.artifact else []), "--phase"]
        subprocess.run([*again, "seed"], env=environment, check=True)
        found: list[dict[str, float]] = []
        for number in range(options.runs + 1):
            done = subprocess.run([*again, "measure"], env=environment, check=True, capture_output=True, text=True)
            if number:  # the first writes the modules' bytecode
                found.append(json.loads(done.stdout))
    for name in found[0]:
        figures = [item[name] for item in found]
        print(f"{name:32} {statistics.median(figures):8.1f} ms   (of {len(figures)}: {min(figures):.1f} to {max(figures):.1f})")


if __name__ == "__main__":
    main()
