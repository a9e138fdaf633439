"""Names for a report: threads by role and warp, addresses as name[index], instructions as source frames."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fa4dsl.runtime.diagnostics import Frame, Location
from fa4dsl.runtime.tensor_map_rules import SWIZZLE_SPANS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fa4dsl.runtime.manifest import Role, SharedObject
    from fa4dsl.runtime.ptx.instruction import Instruction
    from fa4dsl.runtime.simulator.check.numbering import Threads

ITEM_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
NESTED = re.compile(r"^_ZZ.*?E(\d+)(\w+)$")


def item_size(dtype: str) -> int:
    """Bytes of an element, from the digits of its dtype's name; 1 where there are none."""
    digits = re.search(r"(8|16|32|64)", dtype)
    if "e4m3" in dtype or "e5m2" in dtype:
        return 1
    return ITEM_SIZES[digits.group(1)] if digits else 1


def plain_name(symbol: str) -> str:
    """The author's name of a variable inside a C++ function (``_ZZ1kE3box`` is ``box``); other symbols as they are."""
    match = NESTED.match(symbol)
    if match:
        length = int(match.group(1))
        # nvcc appends a suffix to repeated names; the digits give the true length.
        return match.group(2)[:length]
    return symbol


@dataclass(frozen=True)
class Object:
    """A named range of memory: `start` and `size` in bytes (shared: offset in the CTA's window; global: in the arena)."""

    name: str
    start: int
    size: int
    item: int = 1
    barrier: bool = False
    swizzle: int = 0
    """Bits of the 16-byte chunk's number that the row's take part in: 1, 3, 7 for spans of 32, 64, 128 bytes."""


@dataclass
class Naming:
    """All that turns numbers into words."""

    threads: Threads
    shared_stride: int = 1
    shared: Sequence[Object] = ()
    buffers: Sequence[Object] = ()
    roles: Sequence[Role] = ()
    named_barriers: Mapping[int, str] = field(default_factory=dict)
    ptx_name: str = "kernel.ptx"

    @staticmethod
    def objects_of(shared: Iterable[SharedObject], base: int = 0) -> list[Object]:
        """From a manifest; `base` is where dynamic shared memory starts in the window."""
        return [
            Object(
                o.name,
                base + o.offset,
                o.size,
                8 if o.kind == "mbarrier" else item_size(o.dtype),
                o.kind == "mbarrier",
                SWIZZLE_SPANS.get(o.swizzle, 16) // 16 - 1,
            )
            for o in shared
        ]

    def role(self, thread: int) -> str:
        warp = thread % self.threads.per_cta // 32
        for role in self.roles:
            if role.first_warp <= warp < role.first_warp + role.warps:
                return role.name
        return ""

    def thread(self, thread: int) -> str:
        """``thread 5 (warp 0, lane 5, role producer) of CTA rank 1, cluster 0``."""
        inside = thread % self.threads.per_cta
        role = self.role(thread)
        words = f"thread {inside} (warp {inside // 32}, lane {inside % 32}{', role ' + role if role else ''})"
        return f"{words} of {self.cta(thread // self.threads.per_cta)}"

    def cta(self, cta: int) -> str:
        size = self.threads.cluster_size
        if size > 1:
            rank = f"CTA rank {cta % size}"
            return f"{rank} of cluster {cta // size}" if self.threads.clusters > 1 else rank
        return f"CTA {cta}"

    def crowd(self, threads: Sequence[int]) -> str:
        """Several threads in few words: role, warps, CTAs."""
        if len(threads) == 1:
            return self.thread(threads[0])
        per = self.threads.per_cta
        ctas = sorted({thread // per for thread in threads})
        inside = sorted({thread % per for thread in threads})
        warps = sorted({thread // 32 for thread in inside})
        roles = sorted({self.role(thread) for thread in threads} - {""})
        where = self.cta(ctas[0]) if len(ctas) == 1 else f"{len(ctas)} CTAs ({self.cta(ctas[0])} .. {self.cta(ctas[-1])})"
        span = (
            f"warp {warps[0]}"
            if len(warps) == 1
            else f"warps {warps[0]}-{warps[-1]}"
            if warps[-1] - warps[0] == len(warps) - 1
            else f"warps {', '.join(map(str, warps))}"
        )
        lanes = f"threads {inside[0]}-{inside[-1]}" if inside[-1] - inside[0] == len(inside) - 1 else f"{len(inside)} threads"
        role = f", role {' and '.join(roles)}" if roles else ""
        return f"{lanes} ({span}{role}) of {where}"

    def find(self, space: str, address: int) -> tuple[Object | None, int]:
        """The object that holds a physical address, and the offset in its window or arena."""
        objects, offset = (self.shared, address % self.shared_stride) if space == "shared" else (self.buffers, address)
        for found in objects:
            if found.start <= offset < found.start + found.size:
                return found, offset
        return None, offset

    def address(self, space: str, address: int, size: int = 0) -> str:
        """``box[3]`` (in the object's elements, or in elements of `size` where it is declared as bytes), or ``shared memory + 0x40``."""
        found, offset = self.find(space, address)
        where = f" of {self.cta(address // self.shared_stride)}" if space == "shared" and self.threads.geometry.ctas > 1 else ""
        if found is None:
            return f"{space} memory + {offset:#x}{where}"
        inside = offset - found.start
        inside ^= (inside >> 7 & found.swizzle) << 4
        item = found.item if found.item > 1 else size or 1
        if found.size <= item:
            return f"{found.name}{where}"
        if inside % item or (found.item == 1 and not size):
            return f"{found.name} + {inside:#x}{where}"
        return f"{found.name}[{inside // item}]{where}"

    def barrier(self, address: int) -> str:
        """Name of the mbarrier at a physical shared address, as name[index]."""
        found, offset = self.find("shared", address)
        if found is None:
            return f"the mbarrier at shared memory + {offset:#x}"
        if found.size <= 8:
            return found.name
        return (
            f"{found.name}[{(offset - found.start) // 8}]"
            if found.size % 8 == 0 and (offset - found.start) % 8 == 0
            else f"{found.name} + {offset - found.start:#x}"
        )

    def location(self, site: Instruction) -> Location:
        if site.place is not None:
            return Location(site.place.file, site.place.line, site.place.column)
        return Location(self.ptx_name, site.ptx_line)

    @staticmethod
    def place(site: Instruction) -> tuple[str, int]:
        """File and line, or ("", PTX line) where there is no source: equal for the instructions that one statement became."""
        place = site.place
        if place is None:
            return "", site.ptx_line
        while place.inlined is not None:
            place = place.inlined
        return place.file, place.line

    def line(self, site: Instruction | None) -> str:
        """``line 14``: of the user's outermost source line."""
        if site is None:
            return "the start"
        place = site.place
        if place is None:
            return f"PTX line {site.ptx_line}"
        while place.inlined is not None:
            place = place.inlined
        return f"line {place.line}"

    def frames(self, site: Instruction | None, label: str) -> tuple[Frame, ...]:
        """The instruction's place, then where that was inlined."""
        if site is None:
            return ()
        frames = [Frame(self.location(site), label)]
        place = site.place.inlined if site.place is not None else None
        while place is not None:
            frames.append(Frame(Location(place.file, place.line, place.column), "inlined here"))
            place = place.inlined
        return tuple(frames)
