"""Masks at an address."""

from __future__ import annotations

import ctypes
from typing import Any

_WORD = ctypes.sizeof(ctypes.c_int32)


def check(pointer: int, mask_bytes: int, width: int) -> None:
    """Raises ValueError if an address is null or not aligned, or a mask of `width` tokens has another size in bytes."""
    if pointer == 0:
        raise ValueError("Null pointer")
    if pointer % _WORD:
        raise ValueError("Pointer not aligned")
    if mask_bytes != -(-width // 32) * _WORD:
        raise ValueError("Invalid buffer size")


def row(pointer: int, mask_bytes: int) -> Any:
    """The words of a mask at an address."""
    return (ctypes.c_int32 * (mask_bytes // _WORD)).from_address(pointer)


def rows(pointer: int, mask_bytes: int, count: int) -> Any:
    """The words of `count` consecutive masks at an address."""
    return (ctypes.c_int32 * (mask_bytes // _WORD) * count).from_address(pointer)


def write(pointer: int, mask: bytes) -> None:
    """Writes a mask to an address."""
    ctypes.memmove(pointer, mask, len(mask))
