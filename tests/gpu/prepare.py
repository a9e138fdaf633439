"""Compiles what the GPU tests and benchmarks run, for a GPU machine without the compiler.

    python tests/gpu/prepare.py build/gpu

Writes torch_combine.fa4 and torch_decode.fa4 (the torch operators' variants), combine.fa4 (the launch benchmark's), waiting.fa4 (kernels that record their waits),
printing.fa4 (one that prints).
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(folder: Path) -> None:
    from fa4dsl.kernels.combine import combine_kernel
    from fa4dsl.kernels.combine_config import CombineConfig
    from fa4dsl.kernels.combine_design import choose, measured_shape
    from fa4dsl.kernels.combine_measured import MEASURED
    from fa4dsl.kernels.decode import decode_config, decode_kernel
    from fa4dsl.runtime import save

    folder.mkdir(parents=True, exist_ok=True)
    # What `fa4dsl.torch.save_artifacts` does, without torch: the operator's own choice for 128 rows, and what the tests name.
    chosen = choose(128, 8, 128)
    configs = [CombineConfig(8, 128, 128, chosen.design, chosen.threads, pieces=chosen.pieces), CombineConfig(8, 128, 64, "pull")]
    measured = MEASURED[measured_shape(64, 8, 128)]
    for design in ("pull_wide", "push_bulk"):
        threads, pieces, _ = measured[design]
        configs.append(CombineConfig(8, 128, 64, design, threads, pieces=pieces))
    save(folder / "torch_combine.fa4", [combine_kernel(config).compile() for config in configs])
    combine_kernel(CombineConfig()).compile().save(folder / "combine.fa4")
    decodes = [
        decode_config(4, 6, 1024, 128, page=page) for page in (0, 128)
    ]  # `fa4dsl.torch_decode.operator_config` for what the tests name
    save(folder / "torch_decode.fa4", [decode_kernel(config).compile() for config in decodes])
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import printing_kernels
    import waiting_kernels

    printing_kernels.show.compile().save(folder / "printing.fa4")
    save(folder / "waiting.fa4", [waiting_kernels.stuck.compile(), waiting_kernels.stuck_cluster.compile()])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
