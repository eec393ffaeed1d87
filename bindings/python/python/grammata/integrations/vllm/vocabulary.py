"""Vocabularies of the tokenizers that vLLM loads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grammata._errors import GrammataError, usage_error
from grammata._native import Vocabulary


def is_supported(tokenizer: Any) -> bool:
    """Whether the tokens can be read: a fast tokenizer of `transformers`, a slow one with a SentencePiece model, or a
    tokenizer of mistral-common."""
    return _is_of_transformers(tokenizer) or any(getattr(tokenizer, kind, False) for kind in ("is_tekken", "is_spm"))


def _is_of_transformers(tokenizer: Any) -> bool:
    return hasattr(type(tokenizer), "backend_tokenizer") or hasattr(tokenizer, "sp_model")


def vocabulary_of(tokenizer: Any, width: int) -> Vocabulary:
    """The vocabulary of a tokenizer, for logits of this width; ids from `width` on are left out.

    Raises UsageError for another tokenizer, VocabularyError if the tokens cannot be read.
    """
    if not is_supported(tokenizer):
        raise usage_error(
            "vllm/tokenizer",
            "the tokens of this tokenizer cannot be read",
            found=type(tokenizer).__name__,
            allowed="a fast tokenizer or a SentencePiece model of transformers, or a tokenizer of mistral-common",
            help="serve with `--tokenizer-mode hf` and a fast tokenizer, or set GRAMMATA_VLLM=off",
        )
    if not _is_of_transformers(tokenizer):
        return _of_mistral(tokenizer, width)
    try:
        return Vocabulary.from_transformers(tokenizer, width=width)
    except GrammataError:
        # the tokenizer may have more tokens than there are logits
        whole = Vocabulary.from_transformers(tokenizer)
        if whole.width <= width:
            raise
        return _rebuilt(whole, width, whole.specials, whole.eos)


def with_text_of_specials(vocabulary: Vocabulary) -> Vocabulary:
    """A vocabulary in which special tokens that do not end a sequence are text tokens with their names as text.

    If a grammar has such a name in its text, as structural tags do, the mask allows the token.
    """
    ends = set(vocabulary.eos)
    return _rebuilt(
        vocabulary, vocabulary.width, {name: token for name, token in vocabulary.specials.items() if token in ends}, vocabulary.eos
    )


def names_a_special(text: str, vocabulary: Vocabulary) -> bool:
    """Whether a text contains the name of a special token that does not end a sequence."""
    ends = set(vocabulary.eos)
    return any(name in text for name, token in vocabulary.specials.items() if token not in ends)


def _rebuilt(vocabulary: Vocabulary, width: int, specials: dict[str, int], eos: Iterable[int]) -> Vocabulary:
    kept = {name: token for name, token in specials.items() if token < width}
    reserved = set(kept.values())
    tokens: list[str | bytes | None] = [
        None if token in reserved else vocabulary.bytes(token) or vocabulary.special(token) or None
        for token in range(min(width, vocabulary.width))
    ]
    return Vocabulary.from_tokens(tokens, specials=kept, eos=[token for token in eos if token < width], width=width)


def _of_mistral(tokenizer: Any, width: int) -> Vocabulary:
    """The vocabulary of vLLM's `MistralTokenizer`."""
    inner = tokenizer.tokenizer
    if not tokenizer.is_tekken:
        whole = Vocabulary.from_file(inner.file_path, eos=[tokenizer.eos_token_id])
        return _rebuilt(whole, width, whole.specials, whole.eos)
    specials = {str(inner.id_to_piece(token)): int(token) for token in tokenizer.all_special_ids if token < width}
    reserved = set(specials.values())
    tokens = [None if token in reserved else inner.id_to_byte_piece(token) for token in range(min(width, len(tokenizer.vocab)))]
    return Vocabulary.from_tokens(tokens, specials=specials, eos=[tokenizer.eos_token_id], width=width)
