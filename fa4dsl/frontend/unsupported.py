"""Python that kernels cannot contain, and what to write instead."""

from __future__ import annotations

STATEMENTS: dict[str, tuple[str, str]] = {
    "Try": ("try", "a GPU thread raises nothing: test the condition with `if`"),
    "TryStar": ("try", "a GPU thread raises nothing: test the condition with `if`"),
    "Raise": ("raise", "for a check at compile time use static_assert(condition, message); at run time call trap()"),
    "FunctionDef": ("a function defined inside a kernel", "define it at module level with @device_function and pass it what it needs"),
    "AsyncFunctionDef": ("async def", "define a plain function with @device_function"),
    "ClassDef": ("a class defined inside a kernel", "define a dataclass at module level"),
    "Import": ("import", "import at the top of the module"),
    "ImportFrom": ("import", "import at the top of the module"),
    "Global": ("global", "pass the value as an argument and return what changes"),
    "Nonlocal": ("nonlocal", "pass the value as an argument and return what changes"),
    "Delete": ("del", "let the name be; registers are freed when a value is no longer used"),
    "Match": ("match", "use if / elif"),
    "AsyncFor": ("async for", "use for"),
    "AsyncWith": ("async with", "use with"),
    "TypeAlias": ("a type alias", "define it at module level"),
}
"""AST class of a statement to what it is called and what to write."""

EXPRESSIONS: dict[str, tuple[str, str]] = {
    "Lambda": ("lambda", "define a function at module level with @device_function"),
    "Await": ("await", "waiting is done on barriers: barrier.wait()"),
    "Yield": ("yield", "return the values together, as a tuple"),
    "YieldFrom": ("yield from", "return the values together, as a tuple"),
    "Starred": ("a starred expression here", "write the elements out"),
}
"""AST class of an expression to what it is called and what to write."""
