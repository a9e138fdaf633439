"""What goes wrong on a GPU, told in words. Faults that cost the context run in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import ptx_samples as samples
import pytest

from fa4dsl.runtime import Artifact
from fa4dsl.runtime.cuda.device import gpu
from fa4dsl.runtime.cuda.driver import call
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.launch import launch

pytestmark = pytest.mark.gpu


@pytest.fixture
def torch() -> Any:
    import torch

    return torch


def in_process(program: str, timeout: float = 120) -> str:
    """Runs a program in a process of its own and returns what it printed; the limit ends that process alone."""
    prelude = f"import sys; sys.path.insert(0, {str(Path(__file__).parent.parent)!r})\nimport ptx_samples as samples\n"
    done = subprocess.run([sys.executable, "-c", prelude + program], capture_output=True, text=True, timeout=timeout)
    return done.stdout + done.stderr


def test_watchdog_tells_a_hang(torch: Any) -> None:
    flag = torch.zeros(1, dtype=torch.int32, device="cuda")
    with pytest.raises(Fa4dslError) as error:
        launch(samples.spin(), 1, (flag, 1_500_000_000), watchdog=0.2)
    assert error.value.code == "R077" and "it has begun" in str(error.value) and "nanoseconds=1500000000" in str(error.value)
    torch.cuda.synchronize()
    assert flag.item() == 1
    result = launch(samples.spin(), 1, (flag, 1_000_000), watchdog=5.0)
    assert result.seconds is not None and 0.0009 < result.seconds < 0.1


def test_watchdog_tells_work_ahead(torch: Any) -> None:
    flag = torch.zeros(1, dtype=torch.int32, device="cuda")
    x = torch.zeros(128, dtype=torch.int32, device="cuda")
    # Loaded beforehand: the driver loads no code while a kernel runs, so a first launch would wait for the one ahead.
    artifact = samples.increment()
    artifact[1](x, 1)
    samples.spin()[1](flag, 1_000_000_000)
    with pytest.raises(Fa4dslError) as error:
        launch(artifact, 1, (x, 1), watchdog=0.1)
    assert error.value.code == "R077" and "not begun" in str(error.value)
    torch.cuda.synchronize()
    assert x.tolist() == [2] * 128


def test_a_fault_names_kernel_and_arguments() -> None:
    printed = in_process(
        "import torch\n"
        "from fa4dsl.runtime.launch import launch\n"
        "out = torch.zeros(1, dtype=torch.int32, device='cuda')\n"
        "try:\n"
        "    launch(samples.fault(), 1, (out, 1)).synchronize()\n"
        "except Exception as error:\n"
        "    print(error)\n"
        "try:\n"
        "    samples.increment()[1](out, 1)\n"
        "except Exception as error:\n"
        "    print('later:', type(error).__name__)\n"
    )
    assert "R075" in printed and "fault[1x1x1](out=0x" in printed and "go=1)" in printed and "later: Fa4dslError" in printed, printed


def test_fork_is_refused_in_words() -> None:
    printed = in_process(
        "import os, torch, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "x = torch.zeros(128, dtype=torch.int32, device='cuda')\n"
        "kernel = samples.increment()[1]\n"
        "kernel(x, 1); kernel(x, 1)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    from fa4dsl.runtime.cuda.device import gpu\n"
        "    try:\n"
        "        gpu()\n"
        "    except Exception as error:\n"
        "        print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "kernel(x, 1)\n"
        "print('parent', x[0].item())\n"
    )
    assert "R074" in printed and "parent 3" in printed, printed


def test_no_context_at_import() -> None:
    printed = in_process(
        "import fa4dsl, fa4dsl.runtime, fa4dsl.runtime.launch, fa4dsl.runtime.cuda.launch\n"
        "samples.increment()\n"
        "from cuda.bindings import driver\n"
        "driver.cuInit(0)\n"
        "print('current', int(driver.cuCtxGetCurrent()[1]), 'active', driver.cuDevicePrimaryCtxGetState(0)[2])\n"
    )
    assert "current 0 active 0" in printed, printed


def test_other_targets_and_bad_code(torch: Any) -> None:
    x = torch.zeros(128, dtype=torch.int32, device="cuda")
    good = samples.increment()
    other = Artifact(replace(good.manifest, target="sm_100a"), good.ptx.replace("sm_90a", "sm_100a"))
    bad = Artifact(good.manifest, good.ptx.replace("add.u32", "add.u33"))
    strict = samples.artifact("strict", (samples.pointer("x", "i32"),), "ret;", directives=".reqntid 64, 1, 1")
    for expected, artifact, arguments in (("R068", other, (x, 1)), ("R069", bad, (x, 1))):
        with pytest.raises(Fa4dslError) as error:
            artifact[1](*arguments)
        assert error.value.code == expected, str(error.value)
    # The PTX demands 64 threads, the manifest says 128: refused before or by the driver, but never launched.
    with pytest.raises(Fa4dslError) as error:
        strict[1](x)
    assert error.value.code in ("R064", "R080")


def test_driver_calls_that_fail() -> None:
    with pytest.raises(Fa4dslError) as error:
        gpu(99)
    assert error.value.code == "R072"
    with pytest.raises(Fa4dslError) as error:
        call("cuMemAlloc", 1 << 60)
    assert error.value.code == "R076" and "OUT_OF_MEMORY" in str(error.value)
