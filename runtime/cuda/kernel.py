"""A kernel loaded on one GPU: the module, its function, and what the driver says about it."""

from __future__ import annotations

import os
import re
import threading
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fa4dsl.runtime.cuda.device import Gpu, current_context, gpu
from fa4dsl.runtime.cuda.driver import STICKY, call, driver, raise_fault, status_text
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.targets import parse_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fa4dsl.runtime.artifact import Artifact
    from fa4dsl.runtime.manifest import Manifest

_LOG_SIZE = 16 << 10
loading = threading.RLock()
"""Held while kernels are loaded and unloaded, and while the driver is asked about one."""
without_artifact: list[LoadedKernel] = []
"""Kernels whose artifacts have been collected."""


@dataclass(frozen=True)
class LoadedKernel:
    """Function attributes as the driver reports them: registers a thread, threads that can run, static shared and local bytes."""

    artifact: weakref.ref[Artifact]
    """Weak: an artifact that nobody has any more leaves its modules to `unload_collected`."""
    manifest: Manifest
    static_cluster: bool
    gpu: Gpu
    module: Any
    function: Any
    registers: int
    max_threads: int
    static_shared_bytes: int
    local_bytes: int
    prepared: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """Prepared launches by grid and options (`cuda.launch`)."""
    launches: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet, repr=False, compare=False)
    """All prepared launches that may still launch, also those no longer kept in `prepared`."""
    process: int = field(default_factory=os.getpid)

    @property
    def handle(self) -> int:
        return int(self.function)


def load_kernel(artifact: Artifact, ordinal: int | None = None) -> LoadedKernel:
    """The kernel on a GPU (by default the current one), loaded once: from machine code that runs there, else from PTX by the driver.

    Thread-safe, and allowed while a stream of this thread is being captured. Raises R068, R069 and R070 to R076.
    """
    device = gpu(ordinal)
    found: LoadedKernel | None = artifact._kernels.get(device.ordinal)
    if found is None or found.gpu is not device:
        with loading:
            found = artifact._kernels.get(device.ordinal)
            if found is None or found.gpu is not device:
                found = _load(artifact, device)
                if not artifact._kernels:
                    weakref.finalize(artifact, collected, artifact._kernels).atexit = False
                artifact._kernels[device.ordinal] = found
    return found


def collected(kernels: dict[int, LoadedKernel]) -> None:
    """The artifact is gone, and with it all that could launch; its modules wait for `unload_collected`. This runs wherever garbage is found, so it does
    nothing else."""
    without_artifact.extend(kernels.values())
    kernels.clear()


def _load(artifact: Artifact, device: Gpu) -> LoadedKernel:
    cu = driver()
    manifest = artifact.manifest
    target = parse_target(manifest.target)
    use_cubin = artifact.cubin is not None and target.cubin_runs_on(*device.capability)
    if not use_cubin and not target.ptx_runs_on(*device.capability):
        major, minor = device.capability
        fail("R068", manifest.place, kernel=manifest.name, target=manifest.target, device=device.name, major=major, minor=minor)
    with current_context(device):
        # Loading allocates, which a capture in global mode would forbid; it belongs to no stream, so it may be relaxed.
        mode = call("cuThreadExchangeStreamCaptureMode", cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        try:
            images = [artifact.cubin] if use_cubin and artifact.cubin is not None else []
            if target.ptx_runs_on(*device.capability):
                # Also behind machine code: an older driver may refuse what a newer assembler made, and take the PTX.
                images.append(driver_ptx(artifact.ptx))
            module = _load_module(manifest, images)
            function = call("cuModuleGetFunction", module, manifest.entry.encode())

            def attribute(name: str) -> int:
                return int(call("cuFuncGetAttribute", getattr(cu.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}"), function))

            return LoadedKernel(
                weakref.ref(artifact),
                manifest,
                artifact.static_cluster,
                device,
                module,
                function,
                attribute("NUM_REGS"),
                attribute("MAX_THREADS_PER_BLOCK"),
                attribute("SHARED_SIZE_BYTES"),
                attribute("LOCAL_SIZE_BYTES"),
            )
        finally:
            call("cuThreadExchangeStreamCaptureMode", mode)


def driver_ptx(ptx: str) -> bytes:
    """PTX as the driver takes it: NUL-terminated, and without the word `debug` that line information puts on the target, for with it the driver
    may compile without optimising."""
    return re.sub(r"^(\s*\.target\s+\w+)\s*,\s*debug\b", r"\1", ptx, count=1, flags=re.MULTILINE).encode() + b"\0"


def _load_module(manifest: Manifest, images: Sequence[bytes]) -> Any:
    """The first of the images that the driver takes. Raises R069 with the driver's words about the last."""
    for image in images[:-1]:
        status, module = driver().cuModuleLoadData(image)
        if int(status) == 0:
            return module
    return _load_last(manifest, images[-1])


def _load_last(manifest: Manifest, image: bytes) -> Any:
    cu = driver()
    # The bindings take the log's memory as a bytes object and the driver writes into it; this one is nobody else's.
    log = bytes(_LOG_SIZE)
    options = [cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, cu.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    status, module = cu.cuModuleLoadDataEx(image, len(options), options, [log, _LOG_SIZE])
    if int(status) in STICKY:
        raise_fault(int(status))
    if int(status):
        words = log.split(b"\0")[0].decode("utf-8", "replace").strip()
        code, text = status_text(int(status))
        fail("R069", manifest.place, kernel=manifest.name, status=code, log=words or text)
    return module
