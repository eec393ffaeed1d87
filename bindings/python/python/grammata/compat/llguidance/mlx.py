"""Bitmasks for MLX: matchers fill NumPy arrays, which are applied to arrays of MLX. Needs the package `mlx`."""

from __future__ import annotations

import importlib
from typing import Any

from grammata.compat.llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask, get_bitmask_shape

__all__ = ["allocate_token_bitmask", "apply_token_bitmask", "fill_next_token_bitmask", "get_bitmask_shape"]

# imported here, since programs import this module to find out whether MLX is installed
_mx: Any = importlib.import_module("mlx.core")


def apply_token_bitmask(logits: Any, mask_np: Any) -> Any:
    """A new two-dimensional array of the logits. Forbidden tokens and tokens past the mask have minus infinity."""
    rows = logits if len(logits.shape) == 2 else _mx.expand_dims(logits, axis=0)
    words = _mx.array(mask_np.reshape(1, -1) if mask_np.ndim == 1 else mask_np)
    assert words.dtype == _mx.int32, "Mask must be int32"
    assert rows.shape[0] == words.shape[0], "Batch size mismatch"
    bits = ((words[:, :, None] >> _mx.arange(32, dtype=_mx.int32)) & 1).reshape(words.shape[0], -1)[:, : rows.shape[1]]
    missing = rows.shape[1] - bits.shape[1]
    if missing > 0:
        bits = _mx.pad(bits, [(0, 0), (0, missing)])
    return _mx.where(bits != 0, rows, _mx.array(-float("inf"), dtype=rows.dtype))
