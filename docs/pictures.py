"""Draws the pictures of these pages: ``python docs/pictures.py`` runs the ring example in the simulator and writes ring.svg."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from fa4dsl.runtime.simulator.recording import recording
from fa4dsl.runtime.simulator.render.roles import RolePicture

DOCS = Path(__file__).resolve().parent
TILES = 4


def ring_picture() -> str:
    """Roles over time of examples/tma_ring.py, copies held back until somebody waits."""
    spec = importlib.util.spec_from_file_location("drawn_ring", DOCS.parent / "examples" / "tma_ring.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    matrix, sums = np.ones((TILES * module.ROWS, module.COLUMNS), np.float32), np.zeros(module.COLUMNS, np.float32)
    with recording() as reports:
        module.column_sums.launch(1, [matrix, sums, TILES], device="simulator", schedule="late")
    return RolePicture(reports[0].timeline, columns=420).draw(standalone=True)


if __name__ == "__main__":
    (DOCS / "ring.svg").write_text(ring_picture(), encoding="utf-8")
