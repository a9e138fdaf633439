"""Examples of the diagnostics of fa4dsl's torch operators, R095 and R096."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples

_COMBINE = """import torch

import fa4dsl.torch  # registers the operators

partitions, rows, heads, depth = 2, 32, 1, 64
partial = torch.ones(partitions, rows, heads, depth)
statistics = torch.ones(partitions, rows, heads{statistics})  # maximum and sum of each row
row_offsets = torch.tensor([0, rows], dtype=torch.int32)
torch.ops.fa4dsl.splitk_combine(partial, statistics, row_offsets, 0.125, rows=32)
"""

EXAMPLES: Examples = {
    "R095": (
        '$ pip uninstall torch\n$ python -c "import fa4dsl.torch"\n',
        '$ pip install torch\n$ python -c "import fa4dsl.torch"\n',
    ),
    "R096": (_COMBINE.format(statistics=""), _COMBINE.format(statistics=", 2")),
}
