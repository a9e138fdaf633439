"""The artifact: one compiled kernel as PTX, optional machine code, and its manifest."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.manifest import Manifest
from fa4dsl.runtime.targets import parse_target

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from fa4dsl.runtime.bound_launch import BoundLaunch
    from fa4dsl.runtime.launch import LaunchResult


GRIDS_KEPT = 1024


@dataclass(frozen=True)
class Artifact:
    """A compiled kernel for one target and one set of compile-time options.

    Nothing in it is executed by loading it. `artifact[grid](*arguments)` launches it on the device where the arguments live; `runtime.launch`
    has every option.
    """

    manifest: Manifest
    ptx: str
    cubin: bytes | None = None
    _launchers: dict[int | Sequence[int], BoundLaunch] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Bound launches by grid."""
    _kernels: dict[int, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Loaded kernels by GPU; belongs to `runtime.cuda`."""

    @property
    def launchers(self) -> Mapping[Any, BoundLaunch]:
        """What `artifact[grid]` is, by grid, for those asked for so far: a mapping that a caller may keep, and that follows the artifact."""
        return self._launchers

    @property
    def name(self) -> str:
        return self.manifest.name

    @property
    def target(self) -> str:
        return self.manifest.target

    @cached_property
    def static_cluster(self) -> bool:
        """The PTX fixes its cluster shape (`.reqnctapercluster`), so that no launch can choose another."""
        return ".reqnctapercluster" in self.ptx

    def __hash__(self) -> int:
        return hash((self.manifest.name, self.manifest.target, self.ptx))

    def __getitem__(self, grid: int | Sequence[int]) -> BoundLaunch:
        """`artifact[grid](*arguments)`: `grid` in CTAs, one to three extents. See `runtime.bound_launch.BoundLaunch`."""
        try:
            return self._launchers[grid]
        except (KeyError, TypeError):
            return self._bind(grid)

    def _bind(self, grid: int | Sequence[int]) -> BoundLaunch:
        from fa4dsl.runtime.bound_launch import Plans

        if isinstance(grid, list):
            grid = tuple(grid)
        found = self._launchers.get(grid)
        if found is None:
            if len(self._launchers) >= GRIDS_KEPT:
                # Grids may follow a data-dependent size without end; plans for old ones are cheap to make again.
                self._launchers.clear()
            found = self._launchers[grid] = Plans(self, grid, self._launchers).launcher
        return found

    def launch(self, grid: int | Sequence[int], arguments: Sequence[Any] | Mapping[str, Any], **options: Any) -> LaunchResult:
        """Launches with every option of `runtime.launch.launch`, and tells what happened."""
        from fa4dsl.runtime.launch import launch

        return launch(self, grid, arguments, **options)

    def unload(self) -> int:
        """Gives back the GPUs' memory for this kernel's code; returns from how many GPUs. A later launch loads it again, also one by a launcher held.

        Lets launches that other threads are making end, then waits for the GPU. No CUDA graph that launches the kernel may be replayed afterwards:
        that is the caller's to know. ``with artifact:`` unloads at the end of the block. Raises R075, R076, R102.
        """
        if not self._kernels:
            return 0
        from fa4dsl.runtime.cuda.unload import unload

        return unload(self)

    def __enter__(self) -> Artifact:
        return self

    def __exit__(self, *_: object) -> None:
        self.unload()

    def check(self) -> None:
        """PTX and manifest must speak of the same kernel. Raises R011."""
        # By hand: compiling a pattern and running it over PTX takes longer than all else that loading does.
        entries = [(part[:512].replace("(", " ").split() or [""])[0] for part in self.ptx.split(".entry")[1:] if part[:1].isspace()]
        if self.manifest.entry not in entries:
            fail("R011", problem=f"the PTX has the entries {', '.join(entries) or '(none)'}, the manifest names {self.manifest.entry}")
        targets = [line.replace(",", " ").split()[1:2] for line in self._head() if line.lstrip().startswith(".target")]
        found = (targets[0] or ["no target"])[0] if targets else "no target"
        if found != self.manifest.target:
            fail("R011", problem=f"the PTX is for {found}, the manifest for {self.manifest.target}")
        if self.cubin is not None and self.cubin[:4] != b"\x7fELF":
            fail("R011", problem="the machine code is not an ELF image")

    def _head(self) -> list[str]:
        """The lines in front of the first entry."""
        return self.ptx.partition(".entry")[0].splitlines()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a container with this one variant. Raises R012 where the file cannot be written."""
        from fa4dsl.runtime.artifact_container import save

        save(path, [self])


def matches(artifact: Artifact, target: str | None, name: str | None, options: dict[str, Any]) -> bool:
    """Whether a variant is what was asked for; None and absent options match anything."""
    manifest = artifact.manifest
    if target is not None and manifest.target != target:
        return False
    if name is not None and manifest.name != name:
        return False
    return all(key in manifest.options and manifest.options[key] == value for key, value in options.items())


def describe(artifact: Artifact) -> str:
    """One variant in a few words: name, target and options."""
    options = ", ".join(f"{key}={value!r}" for key, value in sorted(artifact.manifest.options.items()))
    return f"{artifact.manifest.name} for {artifact.manifest.target}" + (f" ({options})" if options else "")


def select(
    artifacts: Sequence[Artifact],
    *,
    target: str | None = None,
    name: str | None = None,
    capability: tuple[int, int] | None = None,
    **options: Any,
) -> Artifact:
    """The one variant that matches.

    `target` ("sm_90a"), `name` and compile-time `options` must be equal to the manifest's. `capability` (major, minor) of a GPU keeps what runs
    there, and of several targets takes the newest. Raises R009 if nothing matches and R010 if more than one does.
    """
    if target is not None:
        parse_target(target)
    found = [artifact for artifact in artifacts if matches(artifact, target, name, options)]
    if capability is not None:
        found = [artifact for artifact in found if runs_on(artifact, *capability)]
        newest = max((parse_target(artifact.target) for artifact in found), default=None)
        found = [artifact for artifact in found if parse_target(artifact.target) == newest]
    wanted = [f"target={target}"] if target else []
    wanted += [f"name={name}"] if name else []
    wanted += [f"capability={capability[0]}.{capability[1]}"] if capability else []
    wanted += [f"{key}={value!r}" for key, value in sorted(options.items())]
    there = "; ".join(describe(artifact) for artifact in artifacts) or "nothing"
    if not found:
        fail("R009", wanted=", ".join(wanted) or "any target", there=there)
    if len(found) > 1:
        fail(
            "R010",
            wanted=", ".join(wanted) or "a request without target, name and options",
            found="; ".join(describe(artifact) for artifact in found),
        )
    return found[0]


def runs_on(artifact: Artifact, major: int, minor: int) -> bool:
    """Whether the machine code, or else the PTX, runs on a GPU of this compute capability."""
    target = parse_target(artifact.target)
    if artifact.cubin is not None and target.cubin_runs_on(major, minor):
        return True
    return target.ptx_runs_on(major, minor)
