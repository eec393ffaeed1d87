"""Tokenizers of `transformers`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from grammata.compat.llguidance.tokenizer import LLTokenizer


def from_tokenizer(
    hf_tokenizer: Any,
    n_vocab: int | None = None,
    eos_token: int | Sequence[int] | None = None,
    slices: Sequence[str] | None = None,
) -> LLTokenizer:
    """The tokenizer of a fast tokenizer of `transformers`. `n_vocab` is the length of the model's logits.

    Sequences end with `eos_token`, by default the tokenizer's `eos_token_id`. Raises ValueError for a tokenizer that is
    not fast.
    """
    backend = getattr(hf_tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ValueError("Only fast tokenizers are supported")
    backend = copy.copy(backend)
    backend.no_padding()
    backend.no_truncation()
    end = hf_tokenizer.eos_token_id if eos_token is None else eos_token
    return LLTokenizer(backend.to_str(), n_vocab=n_vocab, eos_token=end, slices=slices)
