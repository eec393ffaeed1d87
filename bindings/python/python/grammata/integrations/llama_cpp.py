"""Grammars for llama-cpp-python: the vocabulary of a model, and logits processors whose output is complete within `max_tokens`.

`create_completion` and `create_chat_completion` call the host's methods with a grammar::

    from grammata.integrations import llama_cpp as constrained

    grammar = grammata.Compiler(constrained.vocabulary(llm)).compile_json_schema(schema)
    reply = constrained.create_completion(llm, grammar, "Ada as JSON: ", max_tokens=100)

`logits_processor` is for programs that pass logits processors to the host. It needs NumPy, as the host does.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from grammata._errors import usage_error
from grammata._native import CompiledGrammar, Matcher, Vocabulary, mask_logits

__all__ = ["GrammarLogitsProcessor", "create_chat_completion", "create_completion", "logits_processor", "vocabulary"]

_PIECE = 64
"""Size in bytes of the first buffer for a token's text; nearly all tokens fit in it."""


def vocabulary(llm: Any) -> Vocabulary:
    """The vocabulary of a `llama_cpp.Llama`.

    Tokens without text are special. Their names are those in the model file, with the id added to an empty name or one
    that occurs twice. All end-of-generation tokens end a text.
    """
    host = importlib.import_module("llama_cpp")
    model = llm._model
    tokens: list[bytes | None] = []
    specials: dict[str, int] = {}
    for token in range(llm.n_vocab()):
        piece = _piece(host, model.vocab, token)
        tokens.append(piece or None)
        if not piece:
            name = host.llama_vocab_get_text(model.vocab, token).decode("utf-8", "replace")
            # names may be empty or occur twice, ids may not
            specials[name if name and name not in specials else f"{name}<[{token}]>"] = token
    ends = [token for token in range(len(tokens)) if host.llama_vocab_is_eog(model.vocab, token)]
    return Vocabulary.from_tokens(tokens, specials=specials, eos=ends, width=len(tokens))


def _piece(host: Any, vocab: Any, token: int) -> bytes:
    """The bytes of a token; empty for a special token."""
    import ctypes

    buffer = ctypes.create_string_buffer(_PIECE)
    length = host.llama_token_to_piece(vocab, token, buffer, _PIECE, 0, False)
    if length < 0:
        buffer = ctypes.create_string_buffer(-length)
        length = host.llama_token_to_piece(vocab, token, buffer, -length, 0, False)
    return buffer.raw[: max(length, 0)]


def create_completion(
    llm: Any, grammar: CompiledGrammar, prompt: Any, *, max_tokens: int | None = 16, complete: bool = True, **options: Any
) -> Any:
    """Calls `llm.create_completion` with a grammar. `options` are other arguments of that method.

    The text is complete within `max_tokens`; with `complete=False`, it may be cut there. Raises RejectedError before
    the call if no complete text is that short, UsageError if `options` has a `logits_processor` or the grammar does not
    fit the model, and after the call what `GrammarLogitsProcessor.check` raises.
    """
    return _create(llm.create_completion, llm, grammar, (prompt,), max_tokens, complete, options)


def create_chat_completion(
    llm: Any,
    grammar: CompiledGrammar,
    messages: Any,
    *,
    max_tokens: int | None = None,
    complete: bool = True,
    **options: Any,
) -> Any:
    """Calls `llm.create_chat_completion` with a grammar; see `create_completion`."""
    return _create(llm.create_chat_completion, llm, grammar, (messages,), max_tokens, complete, options)


def _create(
    create: Any,
    llm: Any,
    grammar: CompiledGrammar,
    arguments: tuple[Any, ...],
    max_tokens: int | None,
    complete: bool,
    options: Mapping[str, Any],
) -> Any:
    if "logits_processor" in options:
        raise usage_error(
            "python/llama-cpp-processor",
            "the call has a logits processor already",
            found="`logits_processor`",
            allowed="a call without",
            help="put the list of `logits_processor(llm, grammar, max_tokens=…)` and your own together, and call the method of the model",
        )
    processors = logits_processor(llm, grammar, max_tokens=max_tokens, complete=complete)
    (processor,) = processors
    reply = create(*arguments, max_tokens=max_tokens, logits_processor=processors, **options)
    if options.get("stream"):
        return _checked(reply, processor)
    processor.check()
    return reply


def _checked(chunks: Iterator[Any], processor: GrammarLogitsProcessor) -> Iterator[Any]:
    yield from chunks
    processor.check()


def logits_processor(llm: Any, grammar: CompiledGrammar, *, max_tokens: int | None = None, complete: bool = True) -> Any:
    """A `LogitsProcessorList` with a `GrammarLogitsProcessor`, for calls that do not overlap.

    `max_tokens` must be that of the call. None, or less than 1, means the rest of the context. Raises RejectedError if
    no complete text is that short, and UsageError if the grammar does not fit the model.
    """
    host = importlib.import_module("llama_cpp")

    class Processors(host.LogitsProcessorList):  # type: ignore[name-defined, misc]
        def extend(self, others: Any) -> Any:
            # if a call has a `logit_bias`, the host uses the value that `extend` returns
            super().extend(others)
            return self

    return Processors([GrammarLogitsProcessor(llm, grammar, max_tokens=max_tokens, complete=complete)])


class GrammarLogitsProcessor:
    """Forbids tokens that leave the grammar, and tokens after which the text cannot be completed within `max_tokens`.

    If the tokens of a call are those of the previous call and one more, the call continues the text. Any other call
    begins a new text, and all its tokens are the prompt, which the processor does not read. The host ignores exceptions
    of a processor and would continue without a grammar. So after an error, only the end-of-generation tokens are
    allowed, there is a warning, and `check` raises the error.
    """

    def __init__(
        self, llm: Any, grammar: CompiledGrammar, *, max_tokens: int | None = None, complete: bool = True
    ) -> None:
        if getattr(llm, "draft_model", None) is not None:
            raise usage_error(
                "python/llama-cpp-draft",
                "with a draft model the host shows processors tokens that are not accepted yet",
                found="a `Llama` with `draft_model`",
                allowed="one without",
                help="make the `Llama` without `draft_model`",
            )
        if grammar.vocabulary.width != llm.n_vocab():
            raise usage_error(
                "python/llama-cpp-vocabulary",
                "the grammar is compiled for another vocabulary",
                found=f"{grammar.vocabulary.width} tokens",
                allowed=f"{llm.n_vocab()} tokens",
                help="compile it for `vocabulary(llm)`",
            )
        self._numpy = importlib.import_module("numpy")
        self._grammar = grammar
        self._max_tokens = max_tokens if max_tokens is not None and max_tokens > 0 else None
        self._context: int = llm.n_ctx()
        self._complete = complete
        self._words = self._numpy.zeros(grammar.vocabulary.mask_words, dtype=self._numpy.uint32)
        self._matcher: Matcher | None = None
        self._ids: Any = None
        self._left = 0
        """Number of tokens that the text may still have."""
        self._has_ended = False
        self._error: Exception | None = None
        if complete and self._max_tokens is not None:
            grammar.matcher().check_budget(self._max_tokens)

    def __call__(self, ids: Any, scores: Any) -> Any:
        """A copy of the scores in which forbidden tokens have minus infinity."""
        # a copy, since the host's scores are not contiguous in memory
        scores = self._numpy.array(scores, dtype=self._numpy.float32)
        try:
            self._follow(ids)
            if self._error is None and self._matcher is not None and not self._has_ended:
                if self._complete:
                    self._matcher.fill_mask_within(self._left, self._words)
                else:
                    self._matcher.fill_mask(self._words)
                mask_logits(scores, self._words)
                return scores
        except Exception as error:  # after any exception, the host would continue without a grammar
            self._error = error
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
        return self._ended(scores)

    def check(self) -> None:
        """Raises the error of the last text, if there was one."""
        if self._error is not None:
            raise self._error

    def _follow(self, ids: Any) -> None:
        """Accepts the last token, or begins a new text."""
        before, self._ids = self._ids, ids.copy()
        is_next = before is not None and len(ids) == len(before) + 1 and bool((ids[:-1] == before).all())
        if not is_next or self._matcher is None:
            self._matcher = self._grammar.matcher()
            self._error, self._has_ended = None, False
            room = self._context - len(ids)
            self._left = room if self._max_tokens is None else min(self._max_tokens, room)
            if self._complete:
                self._matcher.check_budget(self._left)
        elif self._error is None and not self._has_ended:
            token = int(ids[-1])
            self._matcher.accept_token(token)
            self._has_ended = token in self._matcher.end_tokens
            self._left -= 1

    def _ended(self, scores: Any) -> Any:
        """Sets all scores except those of the end-of-generation tokens to minus infinity."""
        ends = self._grammar.vocabulary.eos
        kept = scores[ends]
        scores[:] = -self._numpy.inf
        scores[ends] = kept
        return scores
