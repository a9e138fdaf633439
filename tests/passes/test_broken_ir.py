"""Broken and hostile IR: whatever the text, `opt` ends with IR or with an error of the catalogue; no abort, no traceback."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fa4dsl.passes.dialect.rules import value_problem
from fa4dsl.passes.dialect.table import OPERATIONS
from fa4dsl.passes.pipeline import run_pipeline
from fa4dsl.runtime.diagnostics import Fa4dslError

PIPELINE = "fa4-verify,check-resources,check-tma,check-protocol,place-shared-memory,insert-proxy-fences,lower-fa4,fa4-to-llvm,emit-ptx"
LIT = Path(__file__).resolve().parent.parent / "lit"
SEEDS = sorted([*LIT.glob("passes/*.mlir"), *LIT.glob("ptx/*.mlir"), *LIT.glob("checks/*.mlir")])


def kernel(body: str) -> str:
    return f"""module {{ gpu.module @kernels {{
  func.func @kernel(%p: !llvm.ptr<1>, %x: f32, %i: i32) attributes {{fa4.kernel, fa4.block = array<i32: 128, 1, 1>}} {{
    {body}
    return
  }}
}} }}"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("%y = llvm.fpext %x : f32 to f80\n %z = llvm.fmul %y, %y : f80\n llvm.store %z, %p : f80, !llvm.ptr<1>", "f80"),
        ("%y = llvm.load %p : !llvm.ptr<1> -> f128\n %z = llvm.fdiv %y, %y : f128\n llvm.store %z, %p : f128, !llvm.ptr<1>", "fdiv"),
        ("%r = llvm.intr.lrint(%x) : (f32) -> i64\n llvm.store %r, %p : i64, !llvm.ptr<1>", "Cannot select"),
    ],
)
def test_what_llvm_ends_over_is_an_error(body: str, said: str) -> None:
    """LLVM ends its process over these; ours goes on, and names the operations and their lines."""
    with pytest.raises(Fa4dslError) as caught:
        run_pipeline(kernel(body), "fa4-verify,place-shared-memory,lower-fa4,fa4-to-llvm,emit-ptx")
    (found,) = caught.value.diagnostics
    assert found.code == "C024"
    assert found.frames and found.frames[0].location.line == 3
    assert said in found.message or said in body


def test_hand_written_llvm_ir_that_ends_llvm() -> None:
    text = '; ModuleID = "x"\ntarget triple = "nvptx64-nvidia-cuda"\ndefine fp128 @f(fp128 %x) {\n  %y = fdiv fp128 %x, %x\n  ret fp128 %y\n}\n'
    with pytest.raises(Fa4dslError) as caught:
        run_pipeline(text, "emit-ptx")
    assert caught.value.code == "C024"
    assert "ret;" in run_pipeline(text.replace("fp128", "float"), "emit-ptx")


def test_unusual_operations_that_llvm_knows_compile() -> None:
    """Operations that this compiler never emits go through a process of their own, to the same result."""
    body = "%r = llvm.intr.sadd.sat(%i, %i) : (i32, i32) -> i32\n llvm.store %r, %p : i32, !llvm.ptr<1>"
    ptx = run_pipeline(kernel(body), "fa4-verify,place-shared-memory,lower-fa4,fa4-to-llvm,emit-ptx")
    assert "st.global.b32" in ptx


def mutated(text: str, chance: random.Random) -> str:
    """A few of: a line lost, doubled or moved; an operand, number, type, attribute or operation replaced by one of another line; a cut."""
    for _ in range(chance.randint(1, 3)):
        lines = text.split("\n")
        here = chance.randrange(len(lines))
        kind = chance.randrange(8)
        if kind == 0:
            del lines[here]
        elif kind == 1:
            lines.insert(chance.randrange(len(lines)), lines[here])
        elif kind == 2:
            lines[here], lines[here - 1] = lines[here - 1], lines[here]
        elif kind == 3:
            lines[here] = lines[here][: chance.randrange(len(lines[here]) + 1)]
        else:
            pattern = (r"%\w+", r"\b\d+\b", r"![\w.<>]+|\b[if]\d+\b", r'"[\w.:]+"')[kind - 4]
            pool = (
                re.findall(pattern, text)
                + ["-1", "0", "4294967296", "f128", "i1", "!llvm.ptr", '"fa4.wgmma"', '"llvm.intr.exp"'][kind - 4 :: 4]
            )
            found = list(re.finditer(pattern, lines[here]))
            if found and pool:
                part = chance.choice(found)
                lines[here] = lines[here][: part.start()] + chance.choice(pool) + lines[here][part.end() :]
        text = "\n".join(lines)
    return text


VALUES = {
    "!llvm.ptr<1>": "%p",
    "f32": "%x",
    "i32": "%i",
    "i1": "%t",
    "i16": "%h",
    "i64": "%l",
    "!llvm.ptr<3>": "%s",
    "!llvm.ptr<7>": "%q",
    "!fa4.shared": "%a",
    "!fa4.mbarrier": "%b",
    "vector<4xf32>": "%v",
}
WORDS = (
    "release",
    "acquire",
    "relaxed",
    "volatile",
    "cta",
    "cluster",
    "gpu",
    "shared::cta",
    "all",
    "add",
    "max",
    "and",
    "idx",
    "bfly",
    "thread.x",
    "warp",
    "exp2",
    "rcp",
    "bf16",
    "f16",
    "f32",
    "k",
    "mn",
    "none",
    "any",
    "ballot",
    "m16n8k16",
    "increase",
    "128B",
    "evict_first",
    "ca",
    "rn.bf16x2.f32",
    "?",
)
NUMBERS = (-1, 0, 1, 2, 4, 8, 16, 24, 32, 64, 128)


def invented(chance: random.Random) -> str:
    """A kernel of operations of the dialect with operands, results and attributes at a guess: some right, some not."""
    lines = []
    for number in range(chance.randint(1, 4)):
        operation = chance.choice(OPERATIONS)
        slots = [slot.partition(":")[2].strip() for slot in operation.operands]
        types = [chance.choice([name for name in VALUES if _fits(name, slot)] or list(VALUES)) for slot in slots]
        if chance.random() < 0.1:
            types.append(chance.choice(list(VALUES)))
        results = [
            chance.choice([name for name in VALUES if _fits(name, slot.partition(":")[2].strip())] or ["f32"]) for slot in operation.results
        ]
        attributes = []
        for attribute in operation.attributes:
            name, _, kind = attribute.partition(":")
            pool: tuple[Any, ...] = WORDS if kind.strip() == "str" else NUMBERS
            legal = [item for item in pool if kind.strip() in ("str", "int") and not value_problem(operation.name, name, item)]
            value = chance.choice(legal if legal and chance.random() < 0.95 else pool)
            guess = {"str": f'"{value}"', "int": f"{value} : i64", "bool": "true", "type": "f32", "ints": "array<i64: 4, 8>"}
            if chance.random() < 0.95 and not name.endswith("?"):
                attributes.append(f"{name} = {guess[kind.strip()]}")
        made = ", ".join(f"%r{number}_{i}" for i in range(len(results)))
        text = f'"fa4.{operation.name}"({", ".join(VALUES[name] for name in types)}) {{{", ".join(attributes)}}}'
        lines.append(f"{made + ' = ' if made else ''}{text} : ({', '.join(types)}) -> ({', '.join(results)})")
    start = """%t = arith.constant true
    %h = arith.constant 3 : i16
    %l = arith.constant 5 : i64
    %v = arith.constant dense<1.0> : vector<4xf32>
    %a = "fa4.shared_alloc"() {name = "a", dtype = f32, shape = array<i64: 32>, alignment = 128 : i64, swizzle = "none"} : () -> !fa4.shared
    %b = "fa4.mbarrier_alloc"() {name = "b", count = 1 : i64, arrivals = 1 : i64, scope = "cta"} : () -> !fa4.mbarrier
    %s = "fa4.shared_address"(%a, %i) : (!fa4.shared, i32) -> !llvm.ptr<3>
    %q = "fa4.peer_address"(%s, %i) : (!llvm.ptr<3>, i32) -> !llvm.ptr<7>
    """
    return kernel(start + "\n    ".join(lines))


def _fits(name: str, slot: str) -> bool:
    kinds = {"ptr1": "!llvm.ptr<1>", "ptr3": "!llvm.ptr<3>", "ptr7": "!llvm.ptr<7>", "shared": "!fa4.shared", "mbarrier": "!fa4.mbarrier"}
    if slot in kinds or slot in VALUES:
        return name == kinds.get(slot, slot)
    if slot == "ptr":
        return name.startswith("!llvm.ptr")
    return not name.startswith("!fa4") and (slot not in ("float", "integer") or name[0] == slot[0])


def run_all(texts: list[str], folder: Path, pipeline: str) -> list[str]:
    """How each text ends, "compiled" or a code: one process takes them all, and one that ends it is named by the last line printed."""
    for number, text in enumerate(texts):
        (folder / f"{number:04}.mlir").write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", RUNNER, str(folder), pipeline], capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"{last}\n{done.stderr[-2000:]}\n{(folder / last[0].split()[0]).read_text() if last else ''}"
    ends = [line.split()[1] for line in done.stdout.splitlines()]
    assert len(ends) == len(texts)
    return ends


@pytest.mark.parametrize("part", range(4))
def test_mutated_ir(part: int, tmp_path: Path) -> None:
    chance = random.Random(part)
    modules = [piece for seed in SEEDS for piece in seed.read_text(encoding="utf-8").split("// -----") if "gpu.module" in piece]
    ends = run_all([mutated(chance.choice(modules), chance) for _ in range(60)], tmp_path, PIPELINE)
    assert "compiled" in ends and len(set(ends)) > 4


@pytest.mark.parametrize("checked", [True, False])
def test_invented_ir(checked: bool, tmp_path: Path) -> None:
    """With the checks, and with none of them, not even fa4-verify: the lowering passes too report what they cannot lower."""
    chance = random.Random(17)
    pipeline = PIPELINE if checked else PIPELINE[PIPELINE.index("place-") :]
    ends = run_all([invented(chance) for _ in range(150)], tmp_path, pipeline)
    assert "compiled" in ends and len(set(ends)) > 4


RUNNER = """
import sys, warnings
from pathlib import Path
from typing import Any
from fa4dsl.passes.dialect.rules import value_problem
from fa4dsl.passes.dialect.table import OPERATIONS
from fa4dsl.passes.pipeline import run_pipeline
from fa4dsl.runtime.diagnostics import Fa4dslError
warnings.simplefilter("ignore")
for file in sorted(Path(sys.argv[1]).glob("*.mlir")):
    print(file.name, end=" ", flush=True)
    try:
        run_pipeline(file.read_text(), sys.argv[2], str(file))
        print("compiled", flush=True)
    except Fa4dslError as error:
        print(error.diagnostics[0].code, flush=True)
"""


def test_the_command_survives_mlir(tmp_path: Path) -> None:
    """The command's own process outlives one that is killed in the middle of its work."""
    script = (
        "import os, signal, sys\n"
        "from fa4dsl.passes.separate_process import guarded\n"
        "def work():\n    sys.stderr.write('LLVM ERROR: Cannot select: this\\n'); sys.stderr.flush(); os.kill(os.getpid(), signal.SIGABRT)\n"
        "sys.exit(guarded(work, lambda reason: print(reason) or 7))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (7, "Cannot select: this\n")
