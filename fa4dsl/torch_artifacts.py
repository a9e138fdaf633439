"""Compiled variants of the kernels behind the torch operators: compiled at their first use, or taken from containers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fa4dsl.kernels.combine import combine_kernel
from fa4dsl.kernels.combine_config import CombineConfig
from fa4dsl.kernels.decode import decode_kernel
from fa4dsl.kernels.decode_config import DecodeConfig
from fa4dsl.runtime.diagnostics import fail

if TYPE_CHECKING:
    import os

    from fa4dsl.runtime.artifact import Artifact

Config = CombineConfig | DecodeConfig

_artifacts: dict[Config, Artifact] = {}


def use_artifacts(path: str | os.PathLike[str]) -> list[Config]:
    """Takes compiled variants of the combine and of decode attention from a container that `save_artifacts` wrote; returns their configurations.

    Raises R001 to R011 for a file that is none, R009 if it holds neither.
    """
    from fa4dsl.runtime import load_all

    found: list[Config] = []
    for artifact in load_all(path):
        options = artifact.manifest.options
        for kind in (CombineConfig, DecodeConfig):
            if set(options) == set(asdict(kind())):
                config: Config = kind(**options)
                _artifacts[config] = artifact
                found.append(config)
    if not found:
        fail("R009", wanted="a combine's or a decode attention's options", there=str(path))
    return found


def save_artifacts(path: str | os.PathLike[str], configs: Sequence[Config]) -> None:
    """Compiles the kernel for each configuration into one container, to be carried to a machine without a compiler."""
    from fa4dsl.runtime import save

    save(path, [artifact_of(config) for config in configs])


def artifact_of(config: Config) -> Artifact:
    """The kernel of one configuration, compiled at its first use; its manifest's options are the configuration."""
    found = _artifacts.get(config)
    if found is None:
        bound: Any = combine_kernel(config) if isinstance(config, CombineConfig) else decode_kernel(config)
        found = _artifacts[config] = bound.compile()
    return found
