"""Shared-memory layouts that must agree: TMA swizzle against the tile's alignment and against the wgmma descriptor that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fa4dsl.runtime.simulator.check.findings import Findings, build

if TYPE_CHECKING:
    from fa4dsl.runtime.simulator.check.naming import Naming
    from fa4dsl.runtime.simulator.check.operations import Operation
    from fa4dsl.runtime.simulator.check.shadow import Shadow

PERIOD = {"none": 16, "32B": 256, "64B": 512, "128B": 1024}
"""Bytes after which a swizzle pattern repeats (PTX ISA 5.5.7)."""


class Tiles:
    def __init__(self, findings: Findings, naming: Naming) -> None:
        self.findings = findings
        self.naming = naming
        self.crooked: list[tuple[Operation, int, str]] = []
        self.covered: dict[str, list[tuple[int, int]]] = {}
        """By swizzle the tiles (start, end) that tensor copies touched."""

    def tensor_copy(self, operation: Operation) -> None:
        """Notes the tiles of a TMA load or store."""
        for layout in operation.layouts:
            if layout.swizzle == "none":
                continue
            ranges = [r for r in (*operation.writes, *operation.reads) if r.space == "shared"]
            size = max((int(r.starts.max()) + r.length - int(r.starts.min()) for r in ranges if len(r.starts)), default=0)
            tiles = self.covered.setdefault(layout.swizzle, [])
            if (layout.start, layout.start + size) not in tiles[-64:]:
                tiles.append((layout.start, layout.start + size))
            if layout.start % PERIOD[layout.swizzle] and not any(
                o.site is operation.site and start == layout.start for o, start, _ in self.crooked
            ):
                self.crooked.append((operation, layout.start, layout.swizzle))

    def wgmma(self, operation: Operation, shadow: Shadow, operations: list[Operation], first_operation: int) -> None:
        """Compares the descriptors with the swizzle that TMA used for the same bytes."""
        for layout in operation.layouts:
            granule = shadow.locate(np.array([layout.start & ~15], np.int64), 16).rows[0]
            writer = int(shadow.writer[granule] >> 32) - first_operation
            if writer < 0:
                continue
            load = operations[writer]
            tile = next((t for t in load.layouts), None)
            if tile is not None and tile.swizzle != layout.swizzle:
                frames = [
                    *self.naming.frames(load.site, f"loaded with swizzle {tile.swizzle}"),
                    *self.naming.frames(operation.site, f"read through a descriptor of swizzle {layout.swizzle}"),
                ]
                self.findings.add(
                    ("S045", load.site.ptx_line, operation.site.ptx_line),
                    build(
                        "S045",
                        frames,
                        tma=tile.swizzle,
                        descriptor=layout.swizzle,
                        where=self.naming.address("shared", layout.start),
                        load=self.naming.line(load.site),
                        use=self.naming.line(operation.site),
                    ),
                )

    def finish(self) -> None:
        """A tile off its pattern's boundary is right only as a slice of a larger tile: then the bytes before it, back to the boundary, hold tiles of the same swizzle."""
        for operation, start, swizzle in self.crooked:
            boundary = start - start % PERIOD[swizzle]
            end = start
            progress = True
            while progress and end > boundary:
                progress = False
                for low, high in self.covered[swizzle]:
                    if low < end <= high:
                        end, progress = low, True
                        break
            if end <= boundary:
                continue
            frames = self.naming.frames(
                operation.site, f"{operation.words} with swizzle {swizzle}, issued by {self.naming.thread(operation.thread)}"
            )
            self.findings.add(
                ("S044", operation.site.ptx_line),
                build(
                    "S044",
                    frames,
                    swizzle=swizzle,
                    where=self.naming.address("shared", start),
                    offset=start % PERIOD[swizzle],
                    period=PERIOD[swizzle],
                    line=self.naming.line(operation.site),
                ),
            )
