"""Bitmasks in tensors of torch, and masking of logits. torch is imported when a function is called."""

from __future__ import annotations

import importlib
from typing import Any

from grammata.compat.llguidance.executor import LLExecutor
from grammata.compat.llguidance.matcher import LLMatcher
from grammata.compat.llguidance.numpy import consume_token_par, get_bitmask_shape

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "apply_token_bitmask_inplace_kernel",
    "consume_token_par",
    "fill_next_token_bitmask",
    "fill_next_token_bitmask_par",
    "fill_next_token_bitmask_par_with_draft_tokens",
    "get_bitmask_shape",
]


def _torch() -> Any:
    return importlib.import_module("torch")


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any:
    """A bitmask on the CPU that allows everything, in pinned memory if CUDA is available and the memory can be
    pinned."""
    torch = _torch()
    shape = get_bitmask_shape(batch_size, vocab_size)
    try:
        return torch.full(shape, -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())
    except RuntimeError:
        # the memory cannot be pinned
        return torch.full(shape, -1, dtype=torch.int32)


def apply_token_bitmask_inplace_kernel(logits: Any, mask: Any) -> None:
    """Sets the logits of forbidden tokens, and of tokens past the mask, to minus infinity."""
    apply_token_bitmask_inplace(logits, mask)


def apply_token_bitmask_inplace(logits: Any, mask: Any) -> None:
    """Sets the logits of forbidden tokens, and of tokens past the mask, to minus infinity, on the device of the logits."""
    from grammata.integrations.torch import apply_mask, covered

    assert mask.dtype == _torch().int32, "Mask must be int32"
    assert logits.dim() in (1, 2), "Logits must be 2D"
    apply_mask(logits, covered(mask, logits))


def _check(bitmask: Any) -> None:
    assert bitmask.dtype == _torch().int32, "Mask must be int32"
    assert bitmask.is_cpu, "Mask must be on CPU"
    assert bitmask.is_contiguous(), "Mask must be contiguous"


def fill_next_token_bitmask(interp: LLMatcher, bitmask: Any, index: int = 0) -> None:
    """Writes the mask of a matcher into row `index`."""
    assert bitmask.dim() == 2, "Mask must be 2D"
    row = bitmask[index]
    _check(row)
    interp.unsafe_compute_mask_ptr(row.data_ptr(), row.numel() * row.element_size())


def fill_next_token_bitmask_par(executor: LLExecutor, matchers: list[tuple[LLMatcher, int]], bitmask: Any) -> None:
    """Writes the mask of each matcher into its row."""
    assert bitmask.dim() == 2, "Mask must be 2D"
    _check(bitmask)
    executor.unsafe_compute_mask_ptr(matchers, bitmask.data_ptr(), bitmask.shape[1] * 4, bitmask.shape[0])


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int, list[int]]], bitmask: Any
) -> None:
    """Writes the masks along each draft into consecutive rows, beginning with the matcher's row."""
    assert bitmask.dim() == 2, "Mask must be 2D"
    _check(bitmask)
    executor.unsafe_compute_mask_ptr_with_draft_token(matchers, bitmask.data_ptr(), bitmask.shape[1] * 4, bitmask.shape[0])
