"""Diagnostics of artifacts, their container and the cache (R001 to R019)."""

from fa4dsl.runtime.diagnostics.entry import Entry

_SAFETY = "An artifact comes from outside, so its bytes are checked before anything in them is used; loading one executes nothing."

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "R001",
        "The artifact cannot be read",
        "cannot read the artifact {path}: {reason}",
        "check the path and its permissions",
        "The file could not be opened or read. The reason is the operating system's own.",
    ),
    Entry(
        "R002",
        "The file is not an artifact",
        "the file does not start as an fa4dsl artifact does; its first bytes: {start}",
        "pass a file written by `fa4dsl compile -o NAME.fa4`; if a text-mode transfer touched it, transfer it again as binary",
        "An artifact starts with eight fixed bytes that hold both kinds of line end, so that a text-mode transfer is told from another file. "
        + _SAFETY,
    ),
    Entry(
        "R003",
        "The artifact's format is of another version",
        "the artifact has format version {found}, this release reads version {known}",
        "compile the kernel again with this release, or install the release that wrote it",
        "The layout of the container carries a version number, and a reader does not guess at one it does not know.",
    ),
    Entry(
        "R004",
        "The artifact is truncated or has bytes too many",
        "the artifact's size is wrong: {problem}",
        "copy the file again or compile the kernel again",
        "The sizes in the header must add up to exactly the file's size. " + _SAFETY,
    ),
    Entry(
        "R005",
        "The artifact is damaged",
        "the {part} of the artifact does not match its SHA-256 digest",
        "copy the file again or compile the kernel again",
        "Every part of an artifact has a digest. One that does not match was changed after it was written, by accident or on purpose. "
        + _SAFETY,
    ),
    Entry(
        "R006",
        "A part of the artifact is too large",
        "the artifact's {what} is of size {size}, more than the {limit} allowed",
        "split the variants over several artifacts; if you did not write such a file, do not use it",
        "Limits keep a damaged or hostile file from filling the memory. " + _SAFETY,
    ),
    Entry(
        "R007",
        "The artifact's header is malformed",
        "the artifact's header is malformed at {where}: {problem}",
        "compile the kernel again with this release",
        "The header is JSON of a fixed shape: no unknown, missing or doubled field, no wrong type. " + _SAFETY,
    ),
    Entry(
        "R008",
        "The manifest is malformed",
        "the manifest is malformed at {where}: {problem}",
        "compile the kernel again with this release; if you wrote the manifest by hand, mend the field",
        "The manifest describes a kernel's parameters, launch and shared memory. Every field is checked by type, range and against the others, for a "
        "launch with a wrong manifest would read and write the wrong memory.",
    ),
    Entry(
        "R009",
        "No variant matches",
        "the artifact has no variant with {wanted}; it holds: {there}",
        "ask for one that it holds, or compile the kernel for this target or these options",
        "An artifact may hold a kernel for several targets and several sets of compile-time options. Each must be equal to what was asked for.",
    ),
    Entry(
        "R010",
        "Several variants match",
        "several variants match {wanted}: {found}",
        "say which one: runtime.load(path, target=..., name=..., option=...)",
        "Where several variants fit, taking any of them would make a program's meaning depend on their order in the file.",
    ),
    Entry(
        "R011",
        "PTX and manifest disagree",
        "the artifact's code does not fit its manifest: {problem}",
        "compile the kernel again; an artifact is not meant to be edited",
        "The manifest says how to launch the code beside it. If the two speak of different kernels or targets, the launch would be wrong.",
    ),
    Entry(
        "R012",
        "The artifact cannot be written",
        "cannot write the artifact {path}: {reason}",
        "choose a folder that exists and can be written to",
        "The file is written beside its target and renamed. The reason is the operating system's own.",
    ),
    Entry(
        "R013",
        "The target's name is not known",
        "{target!r} is not a target's name",
        "write it as sm_90a: the compute capability, and a suffix where the code needs one",
        "A target is named by compute capability, with the suffix `a` for code bound to one architecture or `f` for one family.",
    ),
)
