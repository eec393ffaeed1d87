"""The compiler in the engine: an implementation of vLLM's `StructuredOutputBackend`."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Iterable
from typing import Any

from grammata._native import Source, Vocabulary
from grammata.integrations.serving import metrics
from grammata.integrations.serving.grammars import Grammars, Refusals
from grammata.integrations.vllm.budget import Budget
from grammata.integrations.vllm.grammar import Grammar, Rows
from grammata.integrations.vllm.request import Options, source_of
from grammata.integrations.vllm.settings import Settings
from grammata.integrations.vllm.vocabulary import is_supported, names_a_special, vocabulary_of, with_text_of_specials

logger = logging.getLogger("vllm.grammata")


class Current(threading.local):
    """The request whose grammar this thread compiles. vLLM passes only the request's constraint to a back end."""

    request: Any = None


current = Current()


class Backend:
    """Compiles the grammars of an engine's requests. Threads may share it.

    vLLM creates it with the engine's configuration, the tokenizer, and the length of the model's logits.
    """

    settings = Settings()
    """The settings of all instances; `with_settings` makes a class with others."""

    @classmethod
    def with_settings(cls, settings: Settings) -> type[Backend]:
        """A subclass with these settings. vLLM creates its instances."""
        return type(cls.__name__, (cls,), {"settings": settings})

    def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
        self.vllm_config = vllm_config
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size
        settings, config = self.settings, vllm_config.structured_outputs_config
        closed = settings.closes_objects or bool(getattr(config, "disable_additional_properties", False))
        self._options = Options(
            "compact" if getattr(config, "disable_any_whitespace", False) else settings.whitespace,
            "refused" if closed else "allowed",
            settings.limits,
        )
        self._metrics = metrics.of_process(logger)
        self._grammars = self._grammars_for(vocabulary_of(tokenizer, vocab_size))
        self._tags: Grammars | None = None
        self._lock = threading.Lock()
        self._rows = Rows()

    @staticmethod
    def is_tokenizer_supported(tokenizer: Any) -> bool:
        """Whether this package can read the tokens of a tokenizer."""
        return is_supported(tokenizer)

    def compile_grammar(self, request_type: Any, grammar_spec: str, stop_token_ids: Iterable[int] | None = None) -> Grammar:
        """Compiles the grammar of a request. Texts end with `stop_token_ids`, if given, instead of the tokenizer's end
        tokens.

        Raises GrammataError for a constraint that cannot be compiled, and, if budgets are strict, for a `max_tokens`
        that is too small for any text. Then only this request fails.
        """
        with Refusals(self._metrics):
            return self._compile(current.request, request_type, grammar_spec, stop_token_ids)

    def _compile(self, request: Any, request_type: Any, grammar_spec: str, stop_token_ids: Iterable[int] | None) -> Grammar:
        request_id = getattr(request, "request_id", None)
        params = getattr(getattr(request, "sampling_params", None), "structured_outputs", None)
        source = source_of(request_type.name, grammar_spec, self._options.with_request(params))
        compiled = self._grammars_of(source).get(source, request_id)
        ends = sorted(token for token in stop_token_ids or () if 0 <= token < self.vocab_size)
        matcher = compiled.matcher(end_tokens=ends) if ends else compiled.matcher()
        grammar = Grammar(matcher, self._rows, self._budget(request), self._metrics)
        error = grammar.check_budget()
        if error is not None:
            if self.settings.budget == "strict":
                raise error
            logger.warning("request %s will be cut by max_tokens: %s", request_id or "?", error)
            grammar.without_budget()
        return grammar

    def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
        """A tensor of masks that allow everything, in pinned memory if there is a CUDA device."""
        torch: Any = importlib.import_module("torch")
        shape = (max_num_seqs, self._grammars.vocabulary.mask_words)
        return torch.full(shape, -1, dtype=torch.int32, pin_memory=torch.cuda.is_available())

    def destroy(self) -> None:
        """Waits until mask files are written, and removes the grammars from the caches."""
        for grammars in (self._grammars, self._tags):
            if grammars is not None:
                grammars.clear()

    def _budget(self, request: Any) -> Budget | None:
        if request is None or self.settings.budget == "off":
            return None
        return Budget.of_request(request, self.vllm_config)

    def _grammars_of(self, source: Source) -> Grammars:
        vocabulary = self._grammars.vocabulary
        spells_specials = source.notation in ("structural-tag", "gbnf") and names_a_special(source.text, vocabulary)
        return self._grammars_for_tags() if spells_specials else self._grammars

    def _grammars_for_tags(self) -> Grammars:
        """The compiler of grammars that write names of special tokens as text, for which these tokens are text."""
        with self._lock:
            if self._tags is None:
                self._tags = self._grammars_for(with_text_of_specials(self._grammars.vocabulary))
            return self._tags

    def _grammars_for(self, vocabulary: Vocabulary) -> Grammars:
        return Grammars(vocabulary, self.settings, self._metrics, logger)
