"""Bitmasks in NumPy arrays, and masking of logits."""

from __future__ import annotations

import importlib
from typing import Any

from grammata.compat.llguidance.executor import LLExecutor
from grammata.compat.llguidance.matcher import LLMatcher


def _numpy() -> Any:
    return importlib.import_module("numpy")


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """The shape of a bitmask: a row for each sequence, a bit for each token."""
    return batch_size, -(-vocab_size // 32)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any:
    """A bitmask that allows everything."""
    numpy = _numpy()
    return numpy.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=numpy.int32)


def apply_token_bitmask_inplace_kernel(logits: Any, mask: Any) -> None:
    """Sets the logits of forbidden tokens to minus infinity. Both arrays have two dimensions; the mask covers all
    logits."""
    numpy = _numpy()
    bits = numpy.unpackbits(numpy.ascontiguousarray(mask).view(numpy.uint8), axis=1, bitorder="little")
    logits[bits[:, : logits.shape[1]] == 0] = -numpy.inf


def apply_token_bitmask_inplace(logits: Any, mask: Any) -> None:
    """Sets the logits of forbidden tokens, and of tokens past the mask, to minus infinity."""
    numpy = _numpy()
    logits = numpy.expand_dims(logits, axis=0) if logits.ndim == 1 else logits
    mask = numpy.expand_dims(mask, axis=0) if mask.ndim == 1 else mask
    assert mask.dtype == numpy.int32, "Mask must be int32"
    assert logits.ndim == 2, "Logits must be 2D"
    assert logits.shape[0] == mask.shape[0], "Batch size mismatch"
    covered = 32 * mask.shape[1]
    logits[:, covered:] = -numpy.inf
    apply_token_bitmask_inplace_kernel(logits[:, :covered], mask)


def _check(bitmask: Any) -> None:
    assert bitmask.dtype == _numpy().int32, "Mask must be int32"
    assert bitmask.ndim == 2, "Mask must be 2D"
    assert bitmask.flags["C_CONTIGUOUS"], "Mask must be contiguous"
    assert bitmask.flags["WRITEABLE"], "Mask must be writable"


def fill_next_token_bitmask(interp: LLMatcher, bitmask: Any, index: int = 0) -> None:
    """Writes the mask of a matcher into row `index`."""
    row = bitmask[index : index + 1] if index >= 0 else bitmask[index]
    _check(row)
    interp.unsafe_compute_mask_ptr(row.ctypes.data, row.size * row.itemsize)


def fill_next_token_bitmask_par(executor: LLExecutor, matchers: list[tuple[LLMatcher, int]], bitmask: Any) -> None:
    """Writes the mask of each matcher into its row."""
    _check(bitmask)
    executor.unsafe_compute_mask_ptr(matchers, bitmask.ctypes.data, bitmask.shape[1] * 4, bitmask.shape[0])


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int, list[int]]], bitmask: Any
) -> None:
    """Writes the masks along each draft into consecutive rows, beginning with the matcher's row."""
    _check(bitmask)
    executor.unsafe_compute_mask_ptr_with_draft_token(matchers, bitmask.ctypes.data, bitmask.shape[1] * 4, bitmask.shape[0])


def consume_token_par(executor: LLExecutor, matchers: list[tuple[LLMatcher, int]]) -> list[bool]:
    """Accepts a token in each matcher, and returns for each whether it was allowed."""
    return executor.consume_token_par(matchers)
