"""Diagnostics of arguments that functions of the language do not take."""

from fa4dsl.runtime.diagnostics.catalogue.language_examples import kernel
from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "L100",
        "An argument of the wrong kind",
        "{function} takes {expected} as `{argument}`, not {given}",
        "{mend}",
        "Each parameter of a function of the language takes one kind of thing: a shared array, a pointer, an mbarrier, a number known at compile "
        "time, a scalar. Nothing is turned into another kind unseen.",
        failing=kernel("tile = shared(f32, 64)", "copy_async(tile, 4 * thread.index(), x[0])"),
        fixed=kernel("tile = shared(f32, 64)", "copy_async(tile, 4 * thread.index(), x + 4 * thread.index())"),
    ),
    Entry(
        "L101",
        "A word that a function does not know",
        "`{argument}` of {function} is {expected}, not {given}",
        "{mend}",
        "Orders, scopes, cache hints and the like are words that choose an instruction; each function lists its own.",
        failing=kernel('x.store(0, 1.0, order="relased")'),
        fixed=kernel('x.store(0, 1.0, order="release")'),
    ),
    Entry(
        "L102",
        "A number out of range",
        "`{argument}` of {function} is {expected}, not {given}",
        "{mend}",
        "The number becomes part of an instruction, which has room for these only, or is the size of something that exists in these sizes only.",
        failing=kernel("x[0] = shuffle(x[0], 0, width=12)"),
        fixed=kernel("x[0] = shuffle(x[0], 0, width=16)"),
    ),
    Entry(
        "L103",
        "Words that do not go together",
        "{problem}",
        "{mend}",
        "Each word is right by itself, but no instruction has all of them: an ordered access has a scope and no cache hint, a plain one the reverse.",
        failing=kernel('x[0] = x.load(1, order="acquire", cache="cg")'),
        fixed=kernel('x[0] = x.load(1, order="acquire")'),
    ),
)
