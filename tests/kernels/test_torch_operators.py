"""The torch operators on CPU tensors, which run on the simulator. torch is a stand-in here, in a process of its own; tests/gpu has the real one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PRELUDE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
import numpy as np
import torch_stand_in
torch_stand_in.install()
import torch
import fa4dsl.torch
from fa4dsl.kernels.decode_case import DecodeCase
from fa4dsl.kernels.decode_config import DecodeConfig
from fa4dsl.runtime.diagnostics import Fa4dslError

def tensor(values, dtype=torch.bfloat16):
    return torch.tensor(values, dtype)

def given(case):
    a = case.arrays
    batch, queries, heads, group, depth = a.q.shape
    cache = torch.bfloat16 if case.config.cache == "bf16" else torch.float8_e4m3fn
    shape = (batch, heads * group, depth) if queries == 1 else (batch, queries, heads * group, depth)
    pages = None if a.pages is None else tensor(a.pages, torch.int32)
    return (tensor(a.q.reshape(shape)), tensor(a.k, cache), tensor(a.v, cache), tensor(a.lengths, torch.int32), a.scale), pages

def right(case, out):
    case.arrays.output[:] = out.values.reshape(case.arrays.q.shape)
    return case.judge().ok
"""


def run(program: str) -> list[str]:
    done = subprocess.run([sys.executable, "-W", "error", "-c", PRELUDE + program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_decode() -> None:
    assert run(
        """
case = DecodeCase(DecodeConfig(2, 4, 64, 2), (130, 1), 2, seed=1)
arguments, _ = given(case)
print(right(case, torch.ops.fa4dsl.splitk_decode(*arguments)))
out = torch.zeros(2, 8, 64, dtype=torch.bfloat16)
torch.ops.fa4dsl.splitk_decode_out(*arguments, out, keys=130)
print(right(case, out))
paged = DecodeCase(DecodeConfig(2, 4, 64, 2, page=64), (200, 70), 2, seed=2)
arguments, pages = given(paged)
print(right(paged, torch.ops.fa4dsl.splitk_decode(*arguments, pages)))
one = DecodeCase(DecodeConfig(2, 8, 64, 2), (9000,), 1, seed=3)  # one key head: several clusters, with a workspace
arguments, _ = given(one)
print(right(one, torch.ops.fa4dsl.splitk_decode(*arguments)), fa4dsl.torch_decode.operator_config(1, 1, 8, 64, 9000).clusters > 1)
"""
    ) == ["True", "True", "True", "True True"]


def test_decode_of_an_8_bit_cache() -> None:
    assert run(
        """
case = DecodeCase(DecodeConfig(2, 4, 64, 2, cache="e4m3"), (130, 2), 2, seed=1)
arguments, _ = given(case)
out = torch.ops.fa4dsl.splitk_decode(*arguments, key_scale=case.arrays.key_scale, value_scale=case.arrays.value_scale)
print(right(case, out))
q, k, v, *rest = arguments
for other in ((q, k, tensor(v.values, torch.bfloat16)), (q, tensor(k.values, torch.float32), tensor(v.values, torch.float32))):
    try:
        torch.ops.fa4dsl.splitk_decode(*other, *rest)
    except Fa4dslError as error:
        print(error.code)
"""
    ) == ["True", "R096", "R096"]


def test_decode_of_several_queries() -> None:
    assert run(
        """
case = DecodeCase(DecodeConfig(2, 4, 64, 2, queries=3), (130, 2), 2, seed=1)
arguments, _ = given(case)
out = torch.ops.fa4dsl.splitk_decode(*arguments)
print(out.values.shape, right(case, out))
"""
    ) == ["(2, 3, 8, 64) True"]


def test_decode_of_tensors_that_do_not_fit() -> None:
    printed = run(
        """
(q, k, v, lengths, scale), _ = given(DecodeCase(DecodeConfig(2, 4, 64, 2), (70, 5), 2))
pages = torch.zeros(2, 3, dtype=torch.int32)
for arguments in (
    (tensor(q.values[0]), k, v, lengths),
    (q, tensor(k.values[..., :32]), v, lengths),
    (q, tensor(k.values[:1]), tensor(v.values[:1]), lengths),
    (tensor(q.values[:, :7]), k, v, lengths),
    (q, k, v, tensor(lengths.values[:1], torch.int32)),
    (q, k, v, lengths, scale, tensor(pages.values[0], torch.int32)),
    (tensor(q.values, torch.float32), k, v, lengths),
    (q, k, v, tensor(lengths.values, torch.float32)),
    (q, k, v, lengths, scale, tensor(pages.values, torch.float32)),
):
    try:
        torch.ops.fa4dsl.splitk_decode(*arguments, *([scale] if len(arguments) == 4 else []))
    except Fa4dslError as error:
        print(error.code)
try:
    torch.ops.fa4dsl.splitk_decode_out(q, k, v, lengths, scale, torch.zeros(2, 8, 32, dtype=torch.bfloat16))
except Fa4dslError as error:
    print(error.code)
"""
    )
    assert printed == ["R096"] * 10


def test_artifacts(tmp_path: Path) -> None:
    """Variants of both operators travel in one container."""
    file = tmp_path / "both.fa4"
    assert run(
        f"""
from fa4dsl.kernels.combine_config import CombineConfig
configs = [CombineConfig(2, 64, 4, "push"), DecodeConfig(2, 4, 64, 2)]
fa4dsl.torch.save_artifacts({str(file)!r}, configs)
print(fa4dsl.torch.use_artifacts({str(file)!r}) == configs)
"""
    ) == ["True"]
