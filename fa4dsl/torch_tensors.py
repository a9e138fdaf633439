"""What the torch operators check of their tensors."""

from __future__ import annotations

from typing import Any


def misfit(*tensors: tuple[str, Any, Any]) -> str:
    """What is wrong with one of ``(name, tensor, dtype)``: its type, or its device, where it is not the first one's. Empty where all fit."""
    first, like, _ = tensors[0]
    problem = ""
    for name, tensor, dtype in tensors:
        if tensor.dtype != dtype:
            problem = f"{name} has {tensor.dtype}, expected {dtype}"
        elif tensor.device != like.device:
            problem = f"{name} lies on {tensor.device}, {first} on {like.device}"
    return problem
