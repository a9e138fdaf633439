"""The driver called directly: constants and functions are those of NVIDIA's bindings."""

from __future__ import annotations

from pathlib import Path

import pytest
import stand_in_driver
from cuda.bindings import driver as bindings

from fa4dsl.runtime.cuda import library
from fa4dsl.runtime.cuda.fit import INVALID_CLUSTER_SIZE
from fa4dsl.runtime.dtypes import DTYPES


@pytest.mark.parametrize("name", ["CUdevice_attribute", "CUfunction_attribute", "CUstreamCaptureMode"])
def test_constants(name: str) -> None:
    ours = {key: value for key, value in vars(getattr(library, name)).items() if key.startswith("CU_")}
    assert ours and ours == {key: int(getattr(getattr(bindings, name), key)) for key in ours}


def test_constants_of_tensor_maps() -> None:
    prefix = "CU_TENSOR_MAP_DATA_TYPE_"
    assert {f"{prefix}{name}": number for name, number in library.TENSOR_MAP_TYPES.items()} == {
        f"{prefix}{name}": int(getattr(bindings.CUtensorMapDataType, f"{prefix}{name}")) for name in library.TENSOR_MAP_TYPES
    }
    assert {item.tensor_map for item in DTYPES.values() if item.tensor_map} <= set(library.TENSOR_MAP_TYPES)
    # The order in which `cuda.tensor_map` counts its words.
    for kind, suffix, words in (
        ("CUtensorMapInterleave", "INTERLEAVE_", ("NONE", "16B", "32B")),
        ("CUtensorMapSwizzle", "SWIZZLE_", ("NONE", "32B", "64B", "128B")),
        ("CUtensorMapL2promotion", "L2_PROMOTION_", ("NONE", "L2_64B", "L2_128B", "L2_256B")),
        ("CUtensorMapFloatOOBfill", "FLOAT_OOB_FILL_", ("NONE", "NAN_REQUEST_ZERO_FMA")),
    ):
        assert [int(getattr(getattr(bindings, kind), f"CU_TENSOR_MAP_{suffix}{word}")) for word in words] == list(range(len(words)))
    assert int(bindings.CUresult.CUDA_ERROR_INVALID_CLUSTER_SIZE) == INVALID_CLUSTER_SIZE


def test_a_first_launch_needs_no_bindings(tmp_path: Path) -> None:
    """Loading, fitting, a tensor map and the launch itself; the bindings are imported for what is beside them."""
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
import framework_stand_ins
import ptx_samples as samples
from fa4dsl.runtime.dtypes import DTYPES
Tensor, _ = framework_stand_ins.install()
template = samples.TensorMapTemplate("f32", 2, (32, 8), "128B")
mapped = samples.artifact(
    "mapped", (samples.pointer("x"), samples.Parameter("m", "tensor_map", "f32", template), samples.scalar("n", "i32")), "ret;", cluster=(2, 1, 1)
)
from dataclasses import replace
mapped = replace(mapped, cubin=b"\\x7fELF")
for _ in range(3):
    mapped[2](Tensor((128,)), Tensor((16, 64)), 1)
mapped.unload()
print("cuda.bindings" in sys.modules)
from fa4dsl.runtime.cuda.device import gpu
gpu().attribute("CLOCK_RATE")
print("cuda.bindings" in sys.modules)
"""
    printed = stand_in_driver.run(stand_in_driver.build(tmp_path), program, STUB_QUIET="1")
    assert printed == "False\nTrue\n"


def test_without_the_bindings(tmp_path: Path) -> None:
    """A launch works, and what needs them says so."""
    package = tmp_path / "cuda"
    package.mkdir()
    (package / "__init__.py").write_text("")
    program = """
from fa4dsl.runtime.cuda.device import capability_if_any, gpu
print(capability_if_any(), gpu().name)
try:
    gpu().attribute("CLOCK_RATE")
except Exception as error:
    print(error)
"""
    printed = stand_in_driver.run(stand_in_driver.build(tmp_path), program, PYTHONPATH=str(tmp_path))
    assert printed.startswith("(9, 0) stand-in 0\n") and "R073" in printed
