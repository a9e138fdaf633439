"""Expands the tables of forms, and writes PTX kernels and launches that run them."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.launch import Launch, PointerArgument, TensorMapArgument
from fa4dsl.runtime.tensor_map import Im2col, TensorMapDescription

if TYPE_CHECKING:
    from collections.abc import Sequence

_VECTOR = re.compile(r"\b([rdh])\*(\d+)")

HEAD = """.version 8.8
.target sm_90a
.address_size 64
.global .align 128 .b8 table[4096];
.const .align 16 .u32 constants[16] = {1, 2, 3, 4, 5, 6, 7, 8};
.shared .align 1024 .b8 tile[16384];
.shared .align 128 .b8 scratch[128];
.shared .align 8 .b64 bar[8];
.func nothing() { ret; }
.func (.reg .b32 y) twice(.reg .b32 x) { add.u32 y, x, x; ret; }
.func (.param .b32 y) add_one(.param .b32 x) { .reg .b32 a; ld.param.b32 a, [x]; add.u32 a, a, 1; st.param.b32 [y], a; ret; }
.func takes_struct(.param .align 8 .b8 x[16]) { ret; }
"""
PARAMETERS = ".param .u64 buf, .param .align 64 .b8 map[128], .param .align 64 .b8 pixels[128], .param .u64 all"
SETTING = """.reg .pred p<16>; .reg .b16 h<16>; .reg .b32 r<64>; .reg .b64 d<32>; .reg .b128 q<4>; .reg .b8 b<8>; .local .align 16 .b8 own[256];
ld.param.u64 d20, [buf];
mov.u32 r50, tile;
mov.u64 d21, tile; cvta.shared.u64 d21, d21;
mov.u64 d22, own;
st.local.b64 [d22], d20;
mov.b64 d23, map; cvta.param.u64 d23, d23;
mov.b64 d24, pixels; cvta.param.u64 d24, d24;
ld.param.u64 d18, [all];
mov.u64 d25, bar; cvta.shared.u64 d25, d25;
mov.u64 d27, table; cvta.global.u64 d27, d27;
mov.u32 r51, -1;
mov.u32 r52, bar; mapa.shared::cluster.u32 r52, r52, 0;
mov.u32 r53, 8;
mov.u32 r1, 0x40490fdb; mov.u32 r2, 0x3f9d70a4; mov.u32 r3, 0xbfc00000; mov.u32 r4, 5; mov.u32 r5, 1; mov.u32 r6, 1; mov.u32 r7, 7; mov.u32 r8, 4; mov.u32 r9, 0xeeeeeeee;
mov.u32 r10, 0; mov.u32 r11, 0;
mov.b16 h1, 0x3c40; mov.b16 h2, 0x4100; mov.b16 h3, 0xb800; mov.b16 h9, 1; mov.b16 h10, 0; mov.b16 h11, 0;
mov.b64 d1, 0x400921fb54442d18; mov.b64 d2, 0x3ff3ae1480000000; mov.b64 d3, 0xbff8000000000000; mov.b64 d26, 0;
createpolicy.fractional.L2::evict_first.b64 d19, 1.0;
and.b32 r50, r50, 0xfffffff0;
shr.u32 r54, r50, 4; cvt.u64.u32 d28, r54; mov.b64 d29, d28;
setp.eq.u32 p3, r4, 5; setp.ne.u32 p4, r4, 5; setp.eq.u32 p5, r4, 5;
mov.u32 r55, %tid.x; setp.eq.u32 p6, r55, 0;
@p6 mbarrier.init.shared.b64 [bar], 100000;
@p6 mbarrier.init.shared.b64 [bar+24], 1;
bar.sync 0;
"""
BUFFER_BYTES = 1 << 16


def forms(table: str) -> list[str]:
    """All forms of a table: `<a|b>` replaced by each alternative, `r*4` by a vector of four registers."""
    found: list[str] = []
    for line in table.strip().splitlines():
        parts = [part[1:-1].split("|") if part.startswith("<") else [part] for part in re.split(r"(<[^<>]*>)", line)]
        for choice in itertools.product(*parts):
            form = _VECTOR.sub(lambda match: "{" + ", ".join(f"{match[1]}{i}" for i in range(int(match[2]))) + "}", "".join(choice))
            if form not in found:
                found.append(form)
    return found


def kernel(lines: Sequence[str], name: str = "k") -> str:
    """One kernel that executes `lines` one after the other, each in braces of its own and on a line of its own."""
    body = "".join(f"{{ {line}; }}\n" for line in lines)
    return f".visible .entry {name}({PARAMETERS}) .maxntid 128, 1, 1\n{{\n{SETTING}{body}ret;\n}}\n"


def launch(name: str = "k", threads: int = 128) -> Launch:
    """A buffer of zeros, a tiled map and an im2col map on it, and a multicast buffer that stands for two others."""
    tiled = TensorMapDescription("u32", (32, 32), (128,), (8, 8), (1, 1))
    pixels = TensorMapDescription("u32", (8, 6, 5, 2), (32, 192, 960), (8, 1, 1, 1), (1, 1, 1, 1), im2col=Im2col((0, 0), (-1, -1), 16))
    buffers = {name: np.zeros(size, np.uint8) for name, size in (("buf", BUFFER_BYTES), ("one", 4096), ("two", 4096), ("all", 4096))}
    arguments = [PointerArgument("buf"), TensorMapArgument(tiled, "buf"), TensorMapArgument(pixels, "buf"), PointerArgument("all")]
    return Launch(name, (1, 1, 1), (threads, 1, 1), (1, 1, 1), 0, buffers, arguments, {"buf": "uint32"}, {"all": ("one", "two")})


def bare(lines: Sequence[str], target: str) -> str:
    """The lines alone in a kernel of a file for another target: for ptxas only."""
    top = HEAD.replace("sm_90a", target)
    registers = ".reg .pred p<16>; .reg .b16 h<16>; .reg .b32 r<64>; .reg .b64 d<32>; .reg .b8 b<8>;\n"
    return f"{top}.visible .entry k({PARAMETERS})\n{{\n{registers}" + "\n".join(lines) + "\nret;\n}\n"
