from collections.abc import Callable
from typing import Any

LEFT_ALONE: int
INTEGER: int
BOOLEAN: int
FLOATING: int
EXCHANGED_POINTER: int
METHOD_POINTER: int
ATTRIBUTE_POINTER: int
READY_MAP: int
EXCHANGED_MAP: int
EXTRACTED: int
MOST_PARAMETERS: int
MOST_BYTES: int

class Prepared:
    def __init__(
        self,
        *,
        function: int,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        dynamic_shared_bytes: int,
        attributes: bytes,
        attribute_count: int,
    ) -> None: ...
    def retire(self) -> int: ...

class Launch:
    __name__: str
    def __init__(
        self,
        name: str,
        missed: Callable[..., Any],
        *,
        token: object = ...,
        prepared: Prepared = ...,
        steps: tuple[dict[str, Any], ...] = ...,
        size: int = ...,
        stream_from: type | None = ...,
        device: int = ...,
        stream_function: Callable[[tuple[Any, ...]], int] | None = ...,
        stream_of: Callable[[Any], int] = ...,
        failed: Callable[[int, int, bytes], None] = ...,
        told: Any = ...,
        recent: Any = ...,
        note: Callable[[Any], None] = ...,
    ) -> None: ...
    def __call__(self, *arguments: Any, stream: Any = None, **named: Any) -> Any: ...
    def adopt(self, plan: Launch) -> None: ...

def set_launch_function(address: int) -> None: ...
def lends_view(array: Any) -> bool: ...
