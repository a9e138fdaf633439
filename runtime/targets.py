"""Which target's code runs on which GPU."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fa4dsl.runtime.diagnostics import fail


@dataclass(frozen=True, order=True)
class Target:
    """`sm_90a` is (9, 0, "a"): the compute capability and the suffix that ties the code to it."""

    major: int
    minor: int
    suffix: str = ""

    def __str__(self) -> str:
        return f"sm_{self.major}{self.minor}{self.suffix}"

    def cubin_runs_on(self, major: int, minor: int) -> bool:
        """Machine code runs within its major version upwards; `a` only on its own capability."""
        if self.suffix == "a":
            return (major, minor) == (self.major, self.minor)
        return major == self.major and minor >= self.minor

    def ptx_runs_on(self, major: int, minor: int) -> bool:
        """PTX runs on its capability and all later ones; `a` only on its own, `f` within its family (the major version)."""
        if self.suffix == "a":
            return (major, minor) == (self.major, self.minor)
        if self.suffix == "f":
            return major == self.major and minor >= self.minor
        return (major, minor) >= (self.major, self.minor)


TARGET = re.compile(r"sm_(\d{1,3})(\d)([af]?)")


def parse_target(text: str) -> Target:
    """Reads "sm_90a". Raises R013 for anything else."""
    match = TARGET.fullmatch(text)
    if match is None:
        fail("R013", target=text)
    return Target(int(match[1]), int(match[2]), match[3])
