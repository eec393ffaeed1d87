"""A replacement for transformers for XGrammar's tests. A test that needs a tokenizer of a model hub is skipped."""

from __future__ import annotations

from typing import Any, NoReturn


class PreTrainedTokenizerBase:
    """The class of all tokenizers."""


class PreTrainedTokenizerFast(PreTrainedTokenizerBase):
    """The class of fast tokenizers."""


class LogitsProcessor:
    """The class of logits processors."""


class AutoTokenizer:
    """Finds no tokenizer."""

    @staticmethod
    def from_pretrained(*arguments: Any, **named: Any) -> NoReturn:
        import pytest

        pytest.skip("needs a tokenizer of a model hub")


AutoConfig = AutoTokenizer
