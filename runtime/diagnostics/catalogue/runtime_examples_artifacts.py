"""Examples of the diagnostics of artifacts, R001 to R013: a kernel is compiled, saved, and something happens to the file."""

from __future__ import annotations

from fa4dsl.runtime.diagnostics.catalogue.illustrated import Examples

_KERNEL = """{before}from fa4dsl import Pointer, block, f32, kernel, thread
{after}

@kernel(threads=128)
def scale(x: Pointer[f32], factor: f32):
    i = block.index() * 128 + thread.index()
    x[i] = x[i] * factor


"""


def _script(body: str, after: str = "", before: str = "") -> str:
    """The kernel with what is done to it; `before` and `after` are imports around the kernel's own."""
    return _KERNEL.format(before=before + "\n\n" if before else "", after=after + "\n" if after else "") + body


_LOAD = "from fa4dsl.runtime import load"
_PATH = "from pathlib import Path"
_REPLACE = "from dataclasses import replace"


def _edited(change: str) -> str:
    """A saved artifact whose bytes `change` turns into others."""
    return _script(
        f"""scale.compile().save("scale.fa4")
data = bytearray(Path("scale.fa4").read_bytes())
{change}Path("copy.fa4").write_bytes(data)
load("copy.fa4")
""",
        _LOAD,
        _PATH,
    )


_ROWS = """from fa4dsl import Pointer, f32, kernel, thread
from fa4dsl.runtime import load, save


@kernel(threads=128)
def clear(x: Pointer[f32], *, rows: int):
    for i in range(rows):
        x[128 * i + thread.index()] = 0.0


save("clear.fa4", [clear(rows=2).compile(), clear(rows=4).compile()])
"""

_HAND_MADE = """import hashlib
import json
import struct
from pathlib import Path

from fa4dsl.runtime import load_all

header = json.dumps({{"producer": "a tool of our own", "{field}": []}}).encode()
start = struct.pack("<8sII32s", b"\\x89FA4\\r\\n\\x1a\\n", 1, len(header), hashlib.sha256(header).digest())
Path("empty.fa4").write_bytes(start + header)
print(load_all("empty.fa4"))
"""

EXAMPLES: Examples = {
    "R001": (
        _script('scale.compile().save("scale.fa4")\nload("scale.fa5")\n', _LOAD),
        _script('scale.compile().save("scale.fa4")\nload("scale.fa4")\n', _LOAD),
    ),
    "R002": (
        _script('Path("scale.ptx").write_text(scale.compile().ptx)\nload("scale.ptx")\n', _LOAD, _PATH),
        _script('scale.compile().save("scale.fa4")\nload("scale.fa4")\n', _LOAD, _PATH),
    ),
    "R003": (
        _edited("data[8] = 2  # the format version: what a later release would write\n"),
        _edited(""),
    ),
    "R004": (
        _edited("del data[-100:]  # a copy that stopped early\n"),
        _edited(""),
    ),
    "R005": (
        _edited("data[-1] ^= 1  # one bit of the machine code\n"),
        _edited(""),
    ),
    "R006": (
        _script('save("many.fa4", 300 * [scale.compile()])\n', "from fa4dsl.runtime import save"),
        _script(
            'save("first.fa4", 150 * [scale.compile()])\nsave("second.fa4", 150 * [scale.compile()])\n', "from fa4dsl.runtime import save"
        ),
    ),
    "R007": (_HAND_MADE.format(field="kernels"), _HAND_MADE.format(field="variants")),
    "R008": (
        _script(
            'manifest = scale.compile().manifest.as_dict()\nmanifest["block"] = [2048, 1, 1]\nManifest.from_dict(manifest)\n',
            "from fa4dsl.runtime import Manifest",
        ),
        _script(
            'manifest = scale.compile().manifest.as_dict()\nmanifest["block"] = [1024, 1, 1]\nManifest.from_dict(manifest)\n',
            "from fa4dsl.runtime import Manifest",
        ),
    ),
    "R009": (_ROWS + 'load("clear.fa4", rows=8)\n', _ROWS + 'load("clear.fa4", rows=4)\n'),
    "R010": (_ROWS + 'load("clear.fa4")\n', _ROWS + 'load("clear.fa4", rows=2)\n'),
    "R011": (
        _script(
            'artifact = scale.compile()\nreplace(artifact, ptx=artifact.ptx.replace("scale", "scale_by")).save("scale.fa4")\n',
            before=_REPLACE,
        ),
        _script(
            """artifact = scale.compile()
manifest = replace(artifact.manifest, entry="scale_by")
replace(artifact, manifest=manifest, ptx=artifact.ptx.replace("scale", "scale_by")).save("scale.fa4")
""",
            before=_REPLACE,
        ),
    ),
    "R012": (
        _script('scale.compile().save("build/kernels/scale.fa4")\n'),
        _script('Path("build/kernels").mkdir(parents=True)\nscale.compile().save("build/kernels/scale.fa4")\n', before=_PATH),
    ),
    "R013": (
        _script('scale.compile().save("scale.fa4")\nload("scale.fa4", target="hopper")\n', _LOAD),
        _script('scale.compile().save("scale.fa4")\nload("scale.fa4", target="sm_90a")\n', _LOAD),
    ),
}
