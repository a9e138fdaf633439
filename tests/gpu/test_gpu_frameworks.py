"""Arrays of frameworks that come by protocol: jax through DLPack, numba through the CUDA array interface. Each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ptx_samples
import pytest

pytestmark = pytest.mark.gpu


def in_process(program: str) -> str:
    prelude = (
        f"import sys; sys.path.insert(0, {str(Path(ptx_samples.__file__).parent)!r})\nimport ptx_samples as samples\nimport numpy as np\n"
    )
    # jax would otherwise take most of the GPU's memory for itself.
    environment = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    done = subprocess.run([sys.executable, "-c", prelude + program], capture_output=True, text=True, timeout=300, env=environment)
    return done.stdout + done.stderr


def test_jax_beside_cupy() -> None:
    printed = in_process(
        "import cupy, jax, jax.numpy as jnp\n"
        "from fa4dsl.runtime.arguments_arrays import view_array\n"
        "x = jnp.arange(256, dtype=jnp.float32) + 1\n"
        "out = cupy.zeros(256, cupy.float32)\n"
        "for factor in (2.0, 3.0):\n"
        "    samples.scale()[2](x, out, factor)\n"
        "    print(np.array_equal(cupy.asnumpy(out), (np.arange(256) + 1) * np.float32(factor)))\n"
        "half = view_array(jnp.ones((4, 8), jnp.bfloat16))\n"
        "print(half.dtype, half.place, half.shape, half.strides_bytes)\n"
    )
    assert printed.startswith("True\nTrue\nbf16 cuda (4, 8) (16, 2)\n"), printed


def test_numba() -> None:
    printed = in_process(
        "from numba import cuda\n"
        "x, out = cuda.to_device(np.arange(128, dtype=np.float32)), cuda.to_device(np.zeros(128, np.float32))\n"
        "kernel = samples.scale()[1]\n"
        "for factor in (2.0, 3.0, 4.0):\n"
        "    kernel(x, out, factor)\n"
        "    print(np.array_equal(out.copy_to_host(), np.arange(128, dtype=np.float32) * np.float32(factor)))\n"
        "stream = cuda.stream()\n"
        "kernel(x, out, 5.0, stream=stream)\n"
        "stream.synchronize()\n"
        "print(out.copy_to_host()[2])\n"
    )
    assert "True\nTrue\nTrue\n10.0\n" in printed, printed


TWO_GPUS = "import cupy\nif cupy.cuda.runtime.getDeviceCount() < 2:\n    print('one GPU')\n    sys.exit()\n"


def test_jax_on_the_second_gpu() -> None:
    printed = in_process(
        f"{TWO_GPUS}"
        "import jax, jax.numpy as jnp\n"
        "x = jax.device_put(jnp.arange(256, dtype=jnp.float32) + 1, jax.devices()[1])\n"
        "with cupy.cuda.Device(1):\n"
        "    out = cupy.zeros(256, cupy.float32)\n"
        "    for factor in (2.0, 3.0):\n"
        "        samples.scale()[2](x, out, factor)\n"
        "        print(np.array_equal(cupy.asnumpy(out), (np.arange(256) + 1) * np.float32(factor)))\n"
    )
    if printed.startswith("one GPU"):
        pytest.skip("needs two GPUs")
    assert printed.startswith("True\nTrue\n"), printed


@pytest.mark.parametrize("current", [0, 1])
def test_numba_on_the_second_gpu(current: int) -> None:
    """Its arrays do not say where they lie; the driver does, whichever GPU is current."""
    printed = in_process(
        f"{TWO_GPUS}"
        "from numba import cuda\n"
        "with cuda.gpus[1]:\n"
        "    x, out = cuda.to_device(np.arange(128, dtype=np.float32)), cuda.to_device(np.zeros(128, np.float32))\n"
        "    cuda.synchronize()\n"
        "kernel = samples.scale()[1]\n"
        f"with cuda.gpus[{current}]:\n"
        "    for factor in (2.0, 3.0, 4.0):\n"
        "        kernel(x, out, factor)\n"
        "with cuda.gpus[1]:\n"
        "    cuda.synchronize()\n"
        "    print(np.array_equal(out.copy_to_host(), np.arange(128, dtype=np.float32) * np.float32(4)))\n"
    )
    if printed.startswith("one GPU"):
        pytest.skip("needs two GPUs")
    assert "True\n" in printed, printed
