"""One module for each family of instructions; importing this package registers them all."""

from fa4dsl.runtime.simulator.instructions import (  # noqa: F401
    addresses,
    atomics,
    calls,
    control,
    copies,
    cta_barriers,
    fences,
    loads_stores,
    matrices,
    mbarriers,
    moves,
    multimem,
    stack,
    tensor_copies,
    tensormaps,
    video,
    warp,
    wgmma,
    wmma,
)
