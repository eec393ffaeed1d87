"""Functions that restore vocabularies and compiled grammars from pickles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pickle import UnpicklingError

from grammata._native import CompiledGrammar, Compiler, Vocabulary


def vocabulary(
    tokens: Sequence[bytes | None], specials: Mapping[str, int], eos: Sequence[int], width: int, fingerprint: bytes
) -> Vocabulary:
    """Restores the vocabulary of a pickle under default limits. Raises `UnpicklingError` for another fingerprint."""
    made = Vocabulary.from_tokens(tokens, specials=specials, eos=list(eos), width=width)
    if made.fingerprint != fingerprint:
        raise UnpicklingError("the vocabulary is not the one that was pickled")
    return made


@lru_cache(maxsize=1)
def _compiler(vocabulary: Vocabulary, limits: tuple[tuple[str, int], ...]) -> Compiler:
    """The compiler of a vocabulary. The last one is kept, since the grammars of a model share its vocabulary."""
    return Compiler(vocabulary, limits=dict(limits))


def grammar(vocabulary: Vocabulary, limits: Mapping[str, int], content: bytes) -> CompiledGrammar:
    """Restores the compiled grammar of a pickle from the bytes of its mask file."""
    return _compiler(vocabulary, tuple(sorted(limits.items()))).load_bytes(content)
