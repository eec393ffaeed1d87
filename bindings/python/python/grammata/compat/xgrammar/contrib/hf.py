"""The logits processor for `generate` of `transformers`, which is not imported here."""

from __future__ import annotations

from typing import Any

from grammata.compat.xgrammar.compiler import CompiledGrammar
from grammata.compat.xgrammar.exception import translated
from grammata.integrations.transformers.processor import GrammarLogitsProcessor


class LogitsProcessor:
    """Masks the scores of `model.generate(..., logits_processor=[LogitsProcessor(compiled_grammar)])`.

    There is one grammar for all sequences, or one for each sequence of a batch. Unlike XGrammar's class it may be used
    for several calls of `generate` that do not overlap, and with beams.

    `budget` is an option of this package: the maximum number of tokens of each output, such as `max_new_tokens` of the
    call. Each output is complete within it. A budget within which no complete output is known is a RuntimeError that
    names the least number that is known to be enough.
    """

    def __init__(self, compiled_grammar: CompiledGrammar | list[CompiledGrammar], *, budget: int | None = None) -> None:
        grammars = compiled_grammar if isinstance(compiled_grammar, list) else [compiled_grammar]
        with translated(RuntimeError):
            self._processor = GrammarLogitsProcessor([grammar._compiled for grammar in grammars], budget=budget)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Returns the scores, with minus infinity for each token that is not allowed. Raises RuntimeError if a row has
        left its grammar, or the rows do not fit the grammars."""
        with translated(RuntimeError):
            return self._processor(input_ids, scores)
