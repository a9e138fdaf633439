"""Compiles what the GPU tests and benchmarks run, for a GPU machine without the compiler.

    python tests/gpu/prepare.py build/gpu

Writes torch_combine.fa4 (the torch operator's variants), combine.fa4 (the launch benchmark's).
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(folder: Path) -> None:
    from fa4dsl.kernels.splitk_combine import CombineConfig, splitk_combine
    from fa4dsl.runtime import save

    folder.mkdir(parents=True, exist_ok=True)
    # What `fa4dsl.torch.save_artifacts` does, without torch.
    variants = [splitk_combine.bind(c=CombineConfig(partitions=8, depth=128, rows=rows)).compile() for rows in (64, 128)]
    save(folder / "torch_combine.fa4", variants)
    variants[-1].save(folder / "combine.fa4")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
