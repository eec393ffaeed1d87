"""The wrapper with which the Guidance library passes its tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class TokenizerWrapper:
    """Adapts a tokenizer to `LLTokenizer`.

    The tokenizer is an object with `eos_token_id`, `bos_token_id`, `tokens` (bytes) and perhaps `special_token_ids`. It
    is called with a text, or with its UTF-8 bytes if it takes bytes, and returns the tokens.
    """

    def __init__(self, gtokenizer: Any) -> None:
        self.eos_token_id: int = gtokenizer.eos_token_id
        self.bos_token_id: int | None = gtokenizer.bos_token_id
        self.tokens: Sequence[bytes] = gtokenizer.tokens
        self.special_token_ids: Sequence[int] = getattr(gtokenizer, "special_token_ids", [])
        self.is_tokenizer_wrapper = True
        self._tokenizer = gtokenizer
        self._takes_bytes = True
        try:
            gtokenizer(b"test")
        except Exception:  # whatever a tokenizer of another library raises for bytes
            self._takes_bytes = False

    def __call__(self, text: str) -> list[int]:
        """The tokens of a text."""
        return list(self._tokenizer(text.encode() if self._takes_bytes else text))
