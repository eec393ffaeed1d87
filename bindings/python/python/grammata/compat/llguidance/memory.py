"""Masks at an address."""

from __future__ import annotations

import ctypes
from typing import Any

_WORD = ctypes.sizeof(ctypes.c_int32)


def check(pointer: int, mask_bytes: int, width: int) -> None:
    """Raises ValueError unless masks of `width` tokens are stored at the address, each in this many bytes."""
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
    """The words of masks one after the other."""
    return (ctypes.c_int32 * (mask_bytes // _WORD) * count).from_address(pointer)


def write(pointer: int, mask: bytes) -> None:
    """Writes a mask to an address."""
    ctypes.memmove(pointer, mask, len(mask))
