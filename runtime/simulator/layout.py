"""Where things lie in the simulated address space.

Generic 64-bit addresses are split into windows, as on the hardware. A shared address is 32 bits: the block's rank in its cluster in bits 24 and
up, then the offset behind a small reserved area; so a shared::cta address is also a valid shared::cluster address of the own block.
Only global addresses are the same in their own space and as generic ones: a kernel parameter or constant has a small address of its own, and is
reached by a generic one only after cvta.
"""

from __future__ import annotations

GLOBAL_BASE = 0x10_0000_0000
CONSTANT_WINDOW = 0x7C_0000_0000
LOCAL_WINDOW = 0x7D_0000_0000
SHARED_WINDOW = 0x7E_0000_0000
WINDOW_BYTES = 0x1_0000_0000

RANK_SHIFT = 24
RESERVED_SHARED = 1024
"""Bytes at the start of every block's shared memory that the hardware keeps for itself; address 0 is therefore never valid."""

BUFFER_ALIGNMENT = 256
BUFFER_GUARD = 256
"""Unused bytes between two buffers, so that a small overrun is seen."""

MAXIMUM_SHARED = 227 * 1024
MAXIMUM_THREADS = 1024
MAXIMUM_CLUSTER = 16

POISON = 0xA7
"""What shared and local memory hold before they are written."""


def round_up(value: int, step: int) -> int:
    """The smallest multiple of `step` that is not below `value`."""
    return -(-value // step) * step
