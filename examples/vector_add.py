"""c = a + b: one thread an element, vector loads of 16 bytes.

Runs anywhere: ``python examples/vector_add.py`` simulates, ``python examples/vector_add.py cuda`` uses the GPU.
"""

import sys

import numpy as np

from fa4dsl import Pointer, block, f32, i32, kernel, thread

THREADS = 128


@kernel(threads=THREADS)
def vector_add(a: Pointer[f32], b: Pointer[f32], c: Pointer[f32], n: i32) -> None:
    first = 4 * (block.index() * THREADS + thread.index())
    if first + 3 < n:
        c.store(first, a.load(first, width=4) + b.load(first, width=4))
    else:
        for i in range(first, n):
            c[i] = a[i] + b[i]


def main(device: str = "simulator") -> None:
    random = np.random.default_rng(0)
    n = 4099
    a, b = random.standard_normal(n, np.float32), random.standard_normal(n, np.float32)
    c = np.zeros(n, np.float32)
    grid = -(-n // (4 * THREADS))
    vector_add.launch(grid, [a, b, c, n], device=device, **({"copy": True} if device == "cuda" else {}))
    assert (c == a + b).all()
    print(f"{n} sums are right ({device})")


if __name__ == "__main__":
    main(*sys.argv[1:])
