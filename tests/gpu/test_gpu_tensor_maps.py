"""Tensor maps encoded by the driver: what TMA moves on a GPU is what the description says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import ptx_samples as samples
import pytest

from fa4dsl.runtime import ragged, tiled
from fa4dsl.runtime.arguments_arrays import ArrayView
from fa4dsl.runtime.cuda.device import current_context, gpu
from fa4dsl.runtime.cuda.driver import call
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.launch import launch

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.gpu


@pytest.fixture
def torch() -> Any:
    import torch

    return torch


@pytest.mark.parametrize("swizzle", ["none", "128B"])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (16, 32), (40, 48), (4, 64)])
def test_tiles(torch: Any, swizzle: str, row: int, column: int) -> None:
    """A box is copied to the same place of another tensor; parts beyond the edge are dropped; a swizzle there and back cancels."""
    artifact = samples.tile_copy(swizzle=swizzle)
    source = torch.rand(50, 80, device="cuda")
    target = torch.full_like(source, -1.0)
    expected = target.cpu().numpy().copy()
    expected[row : row + 16, column : column + 32] = source.cpu().numpy()[row : row + 16, column : column + 32]
    for _ in range(2):
        target.fill_(-1.0)
        artifact[1](source, target, column, row)
        np.testing.assert_array_equal(target.cpu().numpy(), expected)


def test_ready_maps_and_padded_rows(torch: Any) -> None:
    artifact = samples.tile_copy()
    padded = torch.rand(64, 96, device="cuda")[:, :80]
    target = torch.zeros(64, 80, device="cuda")
    source_map, target_map = tiled(padded, (32, 16)), tiled(target, (32, 16))
    for row in (0, 16, 32):
        artifact[1](source_map, target_map, 0, row)
    assert torch.equal(target[:48, :32], padded[:48, :32]) and target[48:].abs().sum() == 0
    assert len({bytes(value) for value in source_map.encoded.values()}) == 1
    with pytest.raises(Fa4dslError) as error:
        artifact[1](tiled(padded, (16, 16)), target_map, 0, 0)
    assert error.value.code == "R034"


def test_numpy_maps_are_copied() -> None:
    source, target = np.random.default_rng(0).random((32, 64), np.float32), np.zeros((32, 64), np.float32)
    launch(samples.tile_copy(), 1, (source, target, 32, 16), copy=True)
    np.testing.assert_array_equal(target[16:, 32:], source[16:, 32:])
    assert not target[:16].any() and not target[:, :32].any()


@pytest.mark.parametrize("group", [1, 4])
@pytest.mark.parametrize("valid", [1, 3, 8])
def test_ragged_store_writes_the_valid_rows_only(torch: Any, group: int, valid: int) -> None:
    rows, columns, heads, total, at, head = 8 * group, 8, 3, 20, 5, 2
    artifact = samples.ragged_store(rows, columns, group)
    shape = (total, heads, columns) if group == 1 else (total, heads, group, columns)
    # The base lies before the array: leave room in front of it, as the map's documentation asks.
    room = torch.full((total + 8, *shape[1:]), -1.0, device="cuda")
    output = room[8:]
    artifact[1](output, valid, at, head, heads)
    expected = np.full((total + 8, *shape[1:]), -1.0, np.float32)
    tile = (np.arange(rows)[:, None] * 1000 + np.arange(columns)).astype(np.float32).reshape(8, *shape[2:])
    expected[8 + at : 8 + at + valid, head] = tile[:valid]
    np.testing.assert_array_equal(room.cpu().numpy(), expected)


@pytest.fixture(params=[True, False], ids=["reserved", "unreserved"])
def first_page(request: pytest.FixtureRequest) -> Iterator[int]:
    """The address of mapped memory whose bytes in front are not mapped, and reserved or not."""
    from cuda.bindings import driver as cu

    where = gpu(0)
    with current_context(where):
        wanted = cu.CUmemAllocationProp()
        wanted.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        size = call("cuMemGetAllocationGranularity", wanted, cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM)
        base = int(call("cuMemAddressReserve", 3 * size, 0, 0, 0))
        reserved, address = (base, 3 * size), base + size
        if not request.param:
            call("cuMemAddressFree", *reserved)
            assert int(call("cuMemAddressReserve", size, 0, address, 0)) == address
            reserved = (address, size)
        memory = call("cuMemCreate", size, wanted, 0)
        call("cuMemMap", address, size, 0, memory, 0)
        access = cu.CUmemAccessDesc()
        access.location.type = wanted.location.type
        access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        call("cuMemSetAccess", address, size, [access], 1)
        assert cu.cuPointerGetAttribute(cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address - 16)[0] != 0
        yield address
        call("cuCtxSynchronize")
        call("cuMemUnmap", address, size)
        call("cuMemRelease", memory)
        call("cuMemAddressFree", *reserved)


@pytest.mark.parametrize(("valid", "at", "head"), [(1, 0, 0), (3, 5, 2), (8, 0, 1), (8, 12, 2)])
def test_ragged_base_need_not_be_mapped(first_page: int, valid: int, at: int, head: int) -> None:
    """The map's base lies 8 rows before the array, in memory that does not exist; only what lies in the array is touched."""
    host = np.zeros((20, 3, 8), np.float32)
    output = ArrayView(first_page, host.shape, host.strides, "f32", "cuda", 0)
    with current_context(gpu(0)):
        call("cuMemsetD32", first_page, 0, host.size)
        launch(samples.ragged_store(8, 8), 1, (ragged(output, 8, 8), valid, at, head, 3), watchdog=10.0)
        call("cuMemcpyDtoH", host.ctypes.data, first_page, host.nbytes)
    expected = np.zeros_like(host)
    expected[at : at + valid, head] = (np.arange(8)[:, None] * 1000 + np.arange(8))[:valid]
    np.testing.assert_array_equal(host, expected)


def test_ragged_store_by_copy() -> None:
    artifact = samples.ragged_store(16, 8)
    output = np.zeros((30, 2, 8), np.float32)
    launch(artifact, 1, (ragged(output, 16, 8), 5, 25, 1, 2), copy=True)
    assert not output[:25].any() and not output[:, 0].any()
    np.testing.assert_array_equal(output[25:, 1], np.arange(5)[:, None] * 1000 + np.arange(8))
