"""Masks for torch tensors: forbids tokens in logits, in place.

The code for the CPU is tested. The code for CUDA and other devices is not: it moves the words of the masks to the
device and unpacks them with torch's operators. torch is imported when a function is called.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from grammata._errors import usage_error
from grammata._native import mask_logits

__all__ = ["apply_mask", "covered"]


def apply_mask(logits: Any, masks: Any, rows: Sequence[int] | None = None) -> None:
    """Sets the logits of forbidden tokens to minus infinity, in place.

    `logits` is a tensor of floats, a row for each sequence, or a single row. `masks` is a contiguous tensor of signed
    32-bit integers with the masks of these rows. With `rows`, mask i is that of row `rows[i]` of `logits`, and other
    rows are not changed. Tokens that have a logit and no bit are forbidden. Raises UsageError if the shapes or types do
    not fit, also if there are so few logits that a whole word of each mask has none: pass the part `masks[:, :words]`.
    """
    torch: Any = importlib.import_module("torch")
    table = logits.unsqueeze(0) if logits.dim() == 1 else logits
    words = masks.unsqueeze(0) if masks.dim() == 1 else masks
    chosen = range(len(table)) if rows is None else rows
    _check(torch, table, words, chosen)
    needed = -(-table.shape[1] // 32)
    if needed < words.shape[1]:
        raise usage_error(
            "python/width",
            "there are fewer logits than tokens",
            found=f"{table.shape[1]} logits in a row, {words.shape[1]} words of 32 tokens in its mask",
            allowed=f"more than {32 * (words.shape[1] - 1)} logits",
            help=f"pass the logits of the whole vocabulary; if the model lacks logits for the last tokens, pass `masks[:, :{needed}]`",
        )
    if table.device.type == "cpu" and words.device.type == "cpu" and table.dtype == torch.float32 and table.stride(1) == 1:
        for row, one in zip(chosen, words, strict=True):
            _mask_row(table[row], one)
        return
    words = words.to(table.device)
    bits = (words.unsqueeze(-1) >> torch.arange(32, dtype=torch.int32, device=table.device)) & 1
    forbidden = bits.reshape(len(words), -1)[:, : table.shape[1]] == 0
    missing = table.shape[1] - forbidden.shape[1]
    if missing > 0:
        forbidden = torch.nn.functional.pad(forbidden, (0, missing), value=True)
    if rows is None:
        table.masked_fill_(forbidden, -torch.inf)
    else:
        index = torch.tensor(list(chosen), dtype=torch.int64, device=table.device)
        table.index_copy_(0, index, table.index_select(0, index).masked_fill_(forbidden, -torch.inf))


def covered(masks: Any, logits: Any) -> Any:
    """The part of masks for which there are logits, contiguous in memory: some models have fewer logits than their
    tokenizer has tokens."""
    return masks[..., : -(-logits.shape[-1] // 32)].contiguous()


def _check(torch: Any, logits: Any, words: Any, rows: Sequence[int]) -> None:
    if not logits.is_floating_point() or logits.dim() != 2:
        raise usage_error(
            "python/logits",
            "the logits are not rows of floats",
            found=f"{logits.dtype} of shape {tuple(logits.shape)}",
            allowed="a tensor of floats with one or two dimensions",
            help="give the logits of the next token of each sequence",
        )
    if words.dtype != torch.int32 or words.dim() != 2 or not words.is_contiguous():
        raise usage_error(
            "python/element-type",
            "the masks are not rows of 32-bit integers",
            found=f"{words.dtype} of shape {tuple(words.shape)}, strides {tuple(words.stride())}",
            allowed="a contiguous tensor of torch.int32 with one or two dimensions",
            help="allocate it with torch.zeros((batch, vocabulary.mask_words), dtype=torch.int32)",
        )
    if len(words) != len(rows) or any(not 0 <= row < len(logits) for row in rows) or len(set(rows)) != len(rows):
        raise usage_error(
            "python/rows",
            "the masks do not fit the rows",
            found=f"{len(words)} masks for the rows {list(rows)[:8]} of {len(logits)}",
            allowed="one mask for each row, each row once",
            help="give `rows` if only some rows have a mask",
        )


def _mask_row(row: Any, words: Any) -> None:
    bits = words.shape[0] * 32
    if row.shape[0] <= bits:
        mask_logits(row.numpy(), words.numpy())
    else:
        mask_logits(row[:bits].numpy(), words.numpy())
        row[bits:] = -float("inf")
