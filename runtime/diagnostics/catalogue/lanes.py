"""Diagnostics of lanes: shuffles from lanes that take no part, copies that several lanes issue."""

from fa4dsl.runtime.diagnostics.entry import Entry

LANES: tuple[Entry, ...] = (
    Entry(
        "S106",
        "a shuffle that reads a lane which takes no part",
        "{mnemonic} by {thread} reads lane {lane}, {why}, and the result depends on it",
        "{how}",
        "shfl.sync waits for the lanes of its member mask that have not exited; what a lane gets from one that has exited, or that is not in the mask, is undefined (PTX ISA, shfl.sync). An H200 "
        "gives 0, or the other lane's register. Votes, match and redux count the lanes of the mask that are there, and are defined. Reductions of part of a warp read such lanes and throw "
        "the value away, which is right: the simulator repeats the run with other values in these places, and reports those that change a buffer, the output or the end of the run.",
        severity="review",
    ),
    Entry(
        "S107",
        "a copy issued several times over",
        "the {words} on {line} is issued {count} times, by {who}: {count} times the bytes, from the same source to the same destination",
        "{how}",
        "Each thread that executes a tensor or bulk copy starts a copy of its own. When all lanes of a warp, or every warp, execute one that was meant for a single thread, the barrier gets too many bytes, a reduction "
        "adds too often, and the same memory is written again and again. Copies of one instruction in one CTA with the same source and destination count as one, unless a synchronisation lies between. "
        "It is an error where these copies race with one another or with their readers, as loads and stores do.",
        severity="review",
    ),
)
