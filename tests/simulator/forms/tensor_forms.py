"""Forms that edit tensor maps in memory (PTX ISA 9.7.9.26 and on), as in `arithmetic_forms`. `scratch` is a copy of a map in shared memory, d27 one in global memory."""

from __future__ import annotations

TENSOR_MAPS = """
tensormap.replace.tile.global_address<|.shared::cta>.b1024.b64 [scratch], d20
tensormap.replace.tile.global_address<|.global>.b1024.b64 [d27], d20
tensormap.replace.tile.rank.shared::cta.b1024.b32 [scratch], 1
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [scratch], <0|1>, 8
tensormap.replace.tile.global_dim.global.b1024.b32 [d27], <0|1>, r53
tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [scratch], 0, 128
tensormap.replace.tile.element_stride.global.b1024.b32 [d27], 1, 1
tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [scratch], <0|6|10>
tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [scratch], 0
tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [scratch], <0|1|2|3>
tensormap.replace.tile.fill_mode.global.b1024.b32 [d27], <0|1>
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.<cta|cluster|gpu|sys>.sync.aligned [d27], [scratch], 128
"""

TABLES = {"tensor maps": TENSOR_MAPS}
