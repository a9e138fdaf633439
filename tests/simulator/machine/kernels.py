"""Builds small PTX kernels for the tests of the machine, and runs them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fa4dsl.runtime.simulator.check.report import Report
from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, ScalarArgument
from fa4dsl.runtime.simulator.run import simulate

REGISTERS = ".reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<32>; .reg .f64 %fd<8>;"
OUT = """
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
"""
"""%rd1 the output, %r1 thread, %r2 block, %r4 thread over the grid, %rd3 address of the thread's 32-bit output."""


def kernel(body: str, parameters: str = ".param .u64 out", before: str = "", directives: str = "", version: str = "8.6") -> str:
    """A PTX file with one kernel `k`."""
    return f".version {version}\n.target sm_90a\n.address_size 64\n{before}\n.visible .entry k({parameters}) {directives}\n{{\n{REGISTERS}\n{OUT}{body}\nret;\n}}\n"


def launch(
    threads: int = 32, blocks: int = 1, cluster: int = 1, words: int | None = None, dynamic: int = 0, scalars: tuple[int, ...] = ()
) -> Launch:
    """One output buffer of 32-bit words, poisoned, and u32 scalars."""
    size = 4 * (threads * blocks if words is None else words)
    arguments: list[Any] = [PointerArgument("out"), *(ScalarArgument(value, 4) for value in scalars)]
    return Launch(
        "k", (blocks, 1, 1), (threads, 1, 1), (cluster, 1, 1), dynamic, {"out": np.full(size, 255, np.uint8)}, arguments, {"out": "uint32"}
    )


def run(
    body: str, threads: int = 32, blocks: int = 1, cluster: int = 1, words: int | None = None, dynamic: int = 0, **options: Any
) -> tuple[np.ndarray, Report]:
    """Runs a body; returns the output words and the report."""
    build = {name: options.pop(name) for name in ("parameters", "before", "directives") if name in options}
    described = launch(threads, blocks, cluster, words, dynamic, options.pop("scalars", ()))
    options.setdefault("check", False)
    report = simulate(kernel(body, **build), described, **options)
    return described.buffers["out"].view(np.uint32), report


def codes(report: Report) -> list[str]:
    """The codes of a report's findings."""
    return [finding.diagnostic.code for finding in report.findings]


STORE = "st.global.u32 [%rd3], {};"
