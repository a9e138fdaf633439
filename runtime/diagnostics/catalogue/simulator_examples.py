"""Builders of the simulator's examples: whole Python scripts and whole PTX files, each with a twin that differs in the mend alone.

A PTX example says in its own first lines on what it is run (``// launch:``, `fa4dsl.runtime.simulator.launch.launch_in_comments`).
"""

from __future__ import annotations

Mend = tuple[str, str]
"""Text of the failing example, which stands there once, and what takes its place in the fixed one."""


def pair(failing: str, *mends: Mend) -> tuple[str, str]:
    """The failing example, and the same with the mends applied."""
    fixed = failing
    for old, new in mends:
        if fixed.count(old) != 1:
            raise ValueError(f"a mend must name a text that stands once, not {fixed.count(old)} times: {old!r}")
        fixed = fixed.replace(old, new)
    return failing, fixed


def script(names: str, body: str, *mends: Mend, before: str = "") -> tuple[str, str]:
    """A kernel in Python and its launch; `names` is what it imports from fa4dsl."""
    return pair(f"{before}import numpy as np\n\nfrom fa4dsl import {names}\n\n\n{body.strip()}\n", *mends)


def launch(block: int = 32, grid: int = 1, cluster: int = 1, buffers: str = "", arguments: str = "") -> str:
    """The lines that describe a launch of the kernel `k`; `buffers` and `arguments` are the insides of their JSON."""
    text = f'// launch: {{"kernel": "k", "grid": [{grid}, 1, 1], "block": [{block}, 1, 1]'
    if cluster > 1:
        text += f', "cluster": [{cluster}, 1, 1]'
    if buffers:
        text += f',\n// launch:  "buffers": {{{buffers}}},\n// launch:  "arguments": [{arguments}]'
    return text + "}\n"


def program(body: str, *mends: Mend, parameters: str = "", directives: str = "", before: str = "", head: str = "") -> tuple[str, str]:
    """A PTX file with the kernel `k`; `head` describes the launch, by default of one warp."""
    top = f"{head or launch()}.version 8.6\n.target sm_90a\n.address_size 64\n\n{before}"
    return pair(f"{top}.visible .entry k({parameters}){directives}\n{{\n{body.strip(chr(10))}\n    ret;\n}}\n", *mends)


ONE_THREAD = launch(1)
PAIR = launch(1, 2, 2)
"""Two CTAs of one thread in a cluster."""
CLUSTER_SYNC = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
THREAD = """    mov.u32 %thread, %tid.x;
    setp.eq.u32 %first, %thread, 0;
"""
BULK_LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
TMA_LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
BULK_PUSH = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %matrix, %matrix, %accumulate, 1, 1, 0, 0;"


def wait(barrier: str, parity: int = 0, label: str = "wait", form: str = "") -> str:
    """A loop that waits for the phase of a parity; needs a predicate %done."""
    return f"""{label}:
    mbarrier.try_wait.parity{form}.shared::cta.b64 %done, [{barrier}], {parity};
    @!%done bra {label};
"""


def bf16_map(rows: int, swizzle: str, block: int, buffers: str = "", arguments: str = "") -> str:
    """A launch with a tensor map over `rows` rows of 64 bf16 elements, loaded as one box; more buffers and arguments may follow."""
    return launch(
        block,
        buffers=f'"x": {{"bytes": {rows * 128}}}{buffers}',
        arguments=f'{{"tensor_map": {{"buffer": "x", "dtype": "bfloat16", "sizes": [64, {rows}], "strides_bytes": [128],\n'
        f'// launch:                "box": [64, {rows}], "swizzle": "{swizzle}"}}}}{arguments}',
    )
