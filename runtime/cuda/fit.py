"""Whether a launch can fit on a GPU, told with the numbers before it is tried."""

from __future__ import annotations

import threading
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from fa4dsl.runtime.cuda.device import current_context
from fa4dsl.runtime.cuda.driver import call, driver, raise_status
from fa4dsl.runtime.cuda.pack import ParameterBlock
from fa4dsl.runtime.diagnostics import fail
from fa4dsl.runtime.launch import PORTABLE_CLUSTER, Extents, LaunchOptions

if TYPE_CHECKING:
    from fa4dsl.runtime.cuda.kernel import LoadedKernel

INVALID_CLUSTER_SIZE = 912
"""CUDA_ERROR_INVALID_CLUSTER_SIZE."""
DEFAULT_DYNAMIC = 48 << 10
"""Dynamic shared memory a launch may have without opting in."""


def make_room(kernel: LoadedKernel, options: LaunchOptions) -> None:
    """Checks threads and shared memory against the GPU, and opts the function in to large shared memory and non-portable clusters.

    Raises R063, R064.
    """
    manifest = kernel.manifest
    threads = prod(manifest.block)
    if threads > kernel.max_threads:
        fail("R064", manifest.place, kernel=manifest.name, threads=threads, registers=kernel.registers, limit=kernel.max_threads)
    needed = options.dynamic_shared_bytes + kernel.static_shared_bytes
    if needed > kernel.gpu.shared_limit:
        static, limit = kernel.static_shared_bytes, kernel.gpu.shared_limit
        fail("R063", manifest.place, kernel=manifest.name, needed=needed, dynamic=options.dynamic_shared_bytes, static=static, limit=limit)
    attributes = driver().CUfunction_attribute
    if needed > DEFAULT_DYNAMIC:
        # The limit belongs to the function, not to a launch: several prepared launches of one kernel may want different sizes, so it only grows.
        now = call("cuFuncGetAttribute", attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.function)
        if now < options.dynamic_shared_bytes:
            call(
                "cuFuncSetAttribute",
                kernel.function,
                attributes.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                options.dynamic_shared_bytes,
            )
    if prod(options.cluster) > PORTABLE_CLUSTER:
        call("cuFuncSetAttribute", kernel.function, attributes.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)


def check_fit(kernel: LoadedKernel, grid: Extents, options: LaunchOptions) -> None:
    """A cluster must be able to be resident, and a cooperative grid as a whole. Raises R062, R065, R066."""
    manifest = kernel.manifest
    threads = prod(manifest.block)
    cluster = prod(options.cluster)
    with current_context(kernel.gpu):
        if cluster > 1:
            if cluster > PORTABLE_CLUSTER and not kernel.static_cluster:
                most = largest_cluster(kernel, options)
                if cluster > most:
                    fail(
                        "R062",
                        manifest.place,
                        kernel=manifest.name,
                        cluster=cluster,
                        problem=f"this GPU runs clusters of at most {most} CTAs of this kernel",
                    )
            if active_clusters(kernel, grid, options) == 0:
                shared = options.dynamic_shared_bytes + kernel.static_shared_bytes
                fail("R065", manifest.place, kernel=manifest.name, cluster=cluster, shared=shared, threads=threads)
        if options.cooperative:
            per_sm = blocks_per_sm(kernel, options)
            limit = per_sm * kernel.gpu.sms
            if prod(grid) > limit:
                fail("R066", manifest.place, kernel=manifest.name, ctas=prod(grid), limit=limit, per_sm=per_sm, sms=kernel.gpu.sms)


def blocks_per_sm(kernel: LoadedKernel, options: LaunchOptions) -> int:
    """CTAs resident on one SM, clusters aside (cuOccupancyMaxActiveBlocksPerMultiprocessor)."""
    threads = prod(kernel.manifest.block)
    return int(call("cuOccupancyMaxActiveBlocksPerMultiprocessor", kernel.function, threads, options.dynamic_shared_bytes))


def active_clusters(kernel: LoadedKernel, grid: Extents, options: LaunchOptions) -> int:
    """Clusters of this shape resident on the whole GPU (cuOccupancyMaxActiveClusters)."""
    status, clusters = driver().cuOccupancyMaxActiveClusters(kernel.function, _config(kernel, grid, options, with_cluster=True))
    if status == INVALID_CLUSTER_SIZE:
        return 0
    if int(status):
        raise_status("cuOccupancyMaxActiveClusters", int(status))
    return int(clusters)


def largest_cluster(kernel: LoadedKernel, options: LaunchOptions) -> int:
    """The largest cluster that the GPU runs of this kernel (cuOccupancyMaxPotentialClusterSize, with the non-portable opt-in).

    A kernel whose PTX fixes its cluster has that one or none.
    """
    if kernel.static_cluster:
        return prod(options.cluster) if active_clusters(kernel, options.cluster, options) else 0
    attribute = driver().CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    call("cuFuncSetAttribute", kernel.function, attribute, 1)
    return int(call("cuOccupancyMaxPotentialClusterSize", kernel.function, _config(kernel, (16, 1, 1), options, with_cluster=False)))


def _config(kernel: LoadedKernel, grid: Extents, options: LaunchOptions, with_cluster: bool) -> int:
    """The address of a launch's config in the driver's layout, without stream and arguments; it stays until the next."""
    plain = replace(options, cluster=options.cluster if with_cluster else (1, 1, 1), cooperative=False, programmatic=False)
    block = ParameterBlock((), grid, kernel.manifest.block, plain, None)
    _kept.block = block
    return block.config_address


class _Kept(threading.local):
    block: ParameterBlock | None = None


_kept = _Kept()
