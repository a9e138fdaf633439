"""Diagnostics of debugging and releasing kernels (R100 to R119)."""

from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "R100",
        "The records of a launch's waits are too large",
        "{kernel}: the records of the waits of grid {grid} take {size} bytes, at most {limit} are possible",
        "launch fewer CTAs while you debug",
        "A kernel compiled with debug_waits has 16 bytes for each thread of the grid, in memory that the host reads while the kernel runs.",
    ),
    Entry(
        "R101",
        "The kernel does not record its waits",
        "{kernel} was compiled without debug_waits, so nobody knows what it waits for",
        "compile it with @kernel(debug_waits=True), kernel.with_options(debug_waits=True) or --debug-waits",
        "Shared memory, where mbarriers lie, cannot be read from outside a kernel: it must tell itself what it waits for. That costs time, so it is asked for.",
    ),
    Entry(
        "R102",
        "The kernel cannot be unloaded now",
        "{kernel} cannot be unloaded: {problem}",
        "unload it when no stream is captured and no thread launches it",
        "Its code must stay on the GPU as long as a launch may need it. It stays loaded; fa4dsl.runtime.unload_collected tries again.",
    ),
)
