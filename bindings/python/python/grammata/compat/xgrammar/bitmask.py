"""Bitmasks over the tokens of a vocabulary, in torch tensors or NumPy arrays, and masking of logits."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Sequence
from typing import Any

WORD = 32
"""Number of bits in an element of a bitmask."""


def tensors() -> Any:
    """The module that creates bitmasks: torch, or NumPy without torch. Raises ImportError without both."""
    for name in ("torch", "numpy"):
        if importlib.util.find_spec(name) is not None:
            return importlib.import_module(name)
    raise ImportError("bitmasks need torch or NumPy")


def bitmask_dtype() -> Any:
    """The element type of bitmasks: signed 32-bit integers."""
    return tensors().int32


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """The shape of a bitmask: a row for each sequence of a batch, a bit for each token."""
    return batch_size, -(-vocab_size // WORD)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any:
    """A bitmask on the CPU that allows everything."""
    return tensors().full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=bitmask_dtype())


def reset_token_bitmask(bitmask: Any) -> None:
    """Sets all bits of a bitmask, so that it allows everything."""
    bitmask[...] = -1


def apply_token_bitmask_inplace(
    logits: Any,
    bitmask: Any,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
    backend: str = "auto",
) -> None:
    """Sets the logits of forbidden tokens to minus infinity, on the device of the logits.

    `indices` are the rows to mask, by default all. Tokens from `vocab_size` on are not masked; its default is the
    shorter of logits and bitmask, with a warning if logits are left unmasked. `backend` is "auto", "cpu" or
    "torch_native"; only XGrammar has the kernels of the other back ends. Raises ValueError for arguments that do not
    fit together.
    """
    if backend not in ("auto", "cpu", "torch_native"):
        raise ValueError(f"apply_token_bitmask_inplace: backend={backend!r} is not supported; use 'auto', 'cpu' or 'torch_native'")
    if logits.ndim not in (1, 2) or bitmask.ndim not in (1, 2):
        raise ValueError("logits and bitmask must have one or two dimensions")
    rows = logits if logits.ndim == 2 else logits.reshape(1, -1)
    masks = bitmask if bitmask.ndim == 2 else bitmask.reshape(1, -1)
    if indices is None and rows.shape[0] != masks.shape[0]:
        raise ValueError(f"{rows.shape[0]} rows of logits and {masks.shape[0]} of bitmasks: give `indices`")
    count = min(rows.shape[0], masks.shape[0])
    if indices is not None and any(not 0 <= row < count for row in indices):
        raise ValueError(f"indices must be from 0 to {count - 1}: logits have {rows.shape[0]} rows and bitmasks {masks.shape[0]}")
    width = min(rows.shape[1], masks.shape[1] * WORD)
    if vocab_size is not None:
        if vocab_size > width:
            raise ValueError(f"vocab_size={vocab_size} is more than logits and bitmask have ({width})")
        width = vocab_size
    elif width < rows.shape[1]:
        warnings.warn(
            f"the bitmask covers {width} of {rows.shape[1]} tokens; the others are left unmasked: give `vocab_size` if that is meant",
            UserWarning,
            stacklevel=2,
        )
    for row in range(rows.shape[0]) if indices is None else indices:
        # rows are views: the caller's memory is written
        rows[row, :width][~bits(masks[row], width)] = float("-inf")


def bits(words: Any, width: int) -> Any:
    """The first `width` bits of a row as booleans, on the row's device."""
    if hasattr(words, "__array__") and not hasattr(words, "cpu"):
        numpy = importlib.import_module("numpy")
        places = numpy.arange(WORD, dtype=numpy.int32)
        return ((words[:, None] >> places) & 1).astype(bool).reshape(-1)[:width]
    torch = importlib.import_module("torch")
    places = torch.arange(WORD, dtype=torch.int32, device=words.device)
    return ((words[:, None] >> places) & 1).to(torch.bool).reshape(-1)[:width]
