"""Continuous batching: a grammar for each request, whose state is stored in the request.

Tested with transformers 5.24 on the CPU. CUDA graphs and asynchronous batching are refused: they ask for a mask before
the previous token is known.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from grammata._errors import LimitError, RejectedError, usage_error
from grammata._native import CompiledGrammar, Matcher
from grammata.integrations.torch import apply_mask, covered
from grammata.integrations.transformers.processor import has_ended

__all__ = ["enable_continuous_batching"]

_MODULE = "transformers.generation.continuous_batching.cb_logits_processors"


class _Marker:
    """A classic processor that does nothing. `transformers` replaces it with the processor of requests."""

    supports_continuous_batching = True

    def __init__(self, within_limit: bool) -> None:
        self.within_limit = within_limit

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        return scores


def enable_continuous_batching(model: Any, *, within_limit: bool = True) -> None:
    """Lets requests of continuous batching have a grammar: `manager.add_request(ids, grammar=grammar, max_new_tokens=200)`.

    The manager's config must have `per_request_processors=True`. Each output is complete within the request's
    `max_new_tokens`, unless `within_limit` is false. A request for which no complete text is short enough, or whose
    mask exceeds a limit, ends with `error` set and does not stop the others. A second call changes `within_limit`.
    """
    host: Any = importlib.import_module(_MODULE)
    host.CLASSIC_TO_CB_PROCESSORS_MAP[_Marker] = _request_processor(host)
    inherited = getattr(model, "_grammata_inherited", None) or model._get_logits_processor
    model._grammata_inherited = inherited

    def with_grammars(*arguments: Any, **options: Any) -> Any:
        processors = inherited(*arguments, **options)
        processors.append(_Marker(within_limit))
        return processors

    model._get_logits_processor = with_grammars


class _Text:
    """The matcher of a request and the tokens that it has accepted. `transformers` copies it for sibling requests."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.tokens: list[int] = []
        self.asked_at: int | None = None
        """The number of tokens at the time of the last mask; None before the first mask."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _Text:
        copy = _Text(self.matcher.fork())
        copy.tokens, copy.asked_at = list(self.tokens), self.asked_at
        return copy

    def follow(self, tokens: Sequence[int]) -> None:
        """Accepts those of the text's tokens that are new.

        Raises RejectedError if they leave the grammar, UsageError if there is no new token since the last mask.
        """
        if self.asked_at is not None and len(tokens) <= self.asked_at:
            raise usage_error(
                "python/ran-ahead",
                "a mask was asked for before the token of the last one was known",
                found=f"{len(tokens)} tokens twice",
                allowed="one token between two masks",
                help="use ContinuousBatchingConfig(use_async_batching=False, use_cuda_graph=False)",
            )
        for token in tokens[len(self.tokens) :]:
            self.matcher.accept_token(token)
            self.tokens.append(token)
        self.asked_at = len(tokens)


def _request_processor(host: Any) -> type[Any]:
    """The class of processors that replaces a `_Marker` in continuous batching."""
    torch: Any = importlib.import_module("torch")
    known: type[Any] | None = host.CLASSIC_TO_CB_PROCESSORS_MAP.get(_Marker)
    if known is not None:
        return known

    class GrammarsOfRequests(host.ContinuousBatchingLogitsProcessor):  # type: ignore[misc]
        supported_kwargs = {"grammar": CompiledGrammar}
        ignored_kwargs = ()

        def __init__(self, marker: _Marker) -> None:
            self.within_limit = marker.within_limit
            self.masks: Any = None

        def fill_defaults(self, int32_tensor: Any) -> None:
            int32_tensor.fill_(-1)

        def prepare_tensor_args(self, requests_with_new_token: list[Any]) -> Any:
            """Computes the masks. Returns the row of each request's mask; -1 without a grammar or after the end."""
            states = [request.state for request in requests_with_new_token]
            constrained = [state for state in states if "grammar" in state.logit_processor_kwargs]
            texts = [_text(state) for state in constrained]
            words = max((text.matcher.compiled.vocabulary.mask_words for text in texts), default=0)
            self.masks = torch.zeros((len(texts), words), dtype=torch.int32)
            rows, filled = [-1] * len(states), 0
            places = {id(state): place for place, state in enumerate(states)}
            for state, text in zip(constrained, texts, strict=True):
                if _fill(state, text, self.masks[filled], self.within_limit):
                    rows[places[id(state)]] = filled
                    filled += 1
            self.masks = self.masks[:filled]
            return torch.tensor(rows, dtype=torch.int32)

        def __call__(self, scores: Any, tensor_arg: Any) -> Any:
            if scores.is_cuda and torch.cuda.is_current_stream_capturing():
                raise usage_error(
                    "python/cuda-graph",
                    "masks cannot be part of a CUDA graph",
                    found="a capture",
                    allowed="continuous batching without CUDA graphs",
                    help="use ContinuousBatchingConfig(use_async_batching=False, use_cuda_graph=False)",
                )
            if self.masks is None or not len(self.masks):
                return scores
            arguments = tensor_arg[: scores.size(0)].tolist()
            rows = [row for row, place in enumerate(arguments) if place >= 0]
            apply_mask(scores, covered(self.masks, scores), rows)
            return scores

    return GrammarsOfRequests


def _text(state: Any) -> _Text:
    """The text of a request. At the first call, it replaces the grammar in the request's arguments."""
    found = state.logit_processor_kwargs["grammar"]
    if isinstance(found, _Text):
        return found
    ends = state.eos_token_id
    ends = [ends] if isinstance(ends, int) else ends
    ends = [token for token in ends or [] if token >= 0]
    text = _Text(found.matcher(end_tokens=ends or None))
    state.logit_processor_kwargs["grammar"] = text
    return text


def _fill(state: Any, text: _Text, row: Any, within_limit: bool) -> bool:
    """Writes the mask of a request, or returns False if its text has ended. On an error, sets `error` of the request
    and allows only end tokens."""
    # after a reset, a request has the tokens that were generated before at the end of its prompt
    begun = state.initial_tokens[state._true_initial_tokens :] if state._true_initial_tokens else []
    try:
        text.follow([*begun, *state.generated_tokens])
        if has_ended(text.matcher):
            return False
        if within_limit and state.max_new_tokens is not None:
            text.matcher.fill_mask_within(max(state.max_new_tokens - len(state.generated_tokens), 0), row)
        else:
            text.matcher.fill_mask(row)
    except (RejectedError, LimitError) as error:
        state.error = str(error)
        row.zero_()
        for token in text.matcher.end_tokens:
            row[token // 32] |= 1 << (token % 32) if token % 32 < 31 else -(1 << 31)
    return True
