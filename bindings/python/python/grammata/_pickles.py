"""What pickles are made of again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pickle import UnpicklingError

from grammata._native import CompiledGrammar, Compiler, Vocabulary


def vocabulary(
    tokens: Sequence[bytes | None], specials: Mapping[str, int], eos: Sequence[int], width: int, fingerprint: bytes
) -> Vocabulary:
    """The vocabulary of a pickle; default limits hold."""
    made = Vocabulary.from_tokens(tokens, specials=specials, eos=list(eos), width=width)
    if made.fingerprint != fingerprint:
        raise UnpicklingError("the vocabulary is not the one that was pickled")
    return made


@lru_cache(maxsize=1)
def _compiler(vocabulary: Vocabulary, limits: tuple[tuple[str, int], ...]) -> Compiler:
    """One compiler for pickles that come one after the other, as a model has one vocabulary."""
    return Compiler(vocabulary, limits=dict(limits))


def grammar(vocabulary: Vocabulary, limits: Mapping[str, int], content: bytes) -> CompiledGrammar:
    """The grammar of a pickle."""
    return _compiler(vocabulary, tuple(sorted(limits.items()))).load_bytes(content)
