"""Whole scripts around the lines of a kernel, for the examples of the language's diagnostics."""

from __future__ import annotations


def kernel(*body: str, parameters: str = "x: Pointer[f32], n: i32", options: str = "threads=128", before: str = "", bind: str = "") -> str:
    """A script that traces a kernel with `body`; `bind` are its compile-time arguments."""
    lines = "\n".join(f"    {line}" for line in body)
    head = f"from fa4dsl import *\n\n\n{before}" + ("\n\n" if before else "")
    return f"{head}@kernel({options})\ndef example({parameters}):\n{lines}\n\n\nexample.bind({bind}).trace()\n"


def cluster(*body: str, parameters: str = "x: Pointer[f32], n: i32") -> str:
    """The same in clusters of two CTAs."""
    return kernel(*body, parameters=parameters, options="threads=128, cluster=2")
