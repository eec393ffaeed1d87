"""Grammars for `transformers`' `generate`: a logits processor for batches and beams.

It needs NumPy or torch, whichever the scores are of; `transformers` itself is not imported.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from grammata._errors import RejectedError, usage_error
from grammata._native import CompiledGrammar, Matcher, fill_masks

__all__ = ["GrammarLogitsProcessor"]


class GrammarLogitsProcessor:
    """Forbids what leaves the grammar: `model.generate(..., logits_processor=[GrammarLogitsProcessor(grammar)])`.

    One grammar for all sequences, or one for each of a batch; each sequence may have several rows, its beams. A row's state is that
    of its text: where the rows change places, as beams do, each is found again by the tokens it has, and a beam costs a fork of
    its parent's matcher, which shares all that came before. A row that has ended is left as it is.

    A search with beams may fill up its rows with some that cannot be finished. All tokens are forbidden in these; where no row of a
    sequence is left, that is an error.

    What the first call has is the prompt, which is not read. A processor is for one call of `generate`, or for several one after
    the other: where the text has become shorter, a new one has begun.
    """

    def __init__(self, grammars: CompiledGrammar | Sequence[CompiledGrammar]) -> None:
        self._grammars = list(grammars) if isinstance(grammars, Sequence) else [grammars]
        self._prompt = 0
        self._length = -1
        self._known: dict[tuple[int, tuple[int, ...]], _State] = {}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores with those of forbidden tokens at minus infinity. Raises RejectedError if a text has left its grammar."""
        rows = input_ids.tolist()
        length = len(rows[0]) if rows else 0
        if length <= self._length or self._length < 0:
            self._prompt, self._known = length, {}
        self._length = length
        if not rows or len(rows) % len(self._grammars):
            raise usage_error(
                "python/rows",
                "the rows do not fit the grammars",
                found=f"{len(rows)} rows",
                allowed=f"a multiple of {len(self._grammars)}, the number of grammars",
                help="give one grammar for all sequences, or one for each sequence of the batch",
            )
        beams = len(rows) // len(self._grammars)
        known: dict[tuple[int, tuple[int, ...]], _State] = {}
        states = []
        for row, ids in enumerate(rows):
            key = (row // beams, tuple(ids[self._prompt :]))
            state = known.get(key) or self._state(*key)
            known[key] = state
            states.append(state)
        self._known = known
        for first in range(0, len(states), beams):
            errors = [state.error for state in states[first : first + beams]]
            if None not in errors:
                raise errors[0]  # type: ignore[misc]
        return _masked(scores, states, self._grammars[0].vocabulary.mask_words)

    def _state(self, grammar: int, text: tuple[int, ...]) -> _State:
        """The state after a text: one token after one that is known, or from the beginning."""
        parent = self._known.get((grammar, text[:-1])) if text else None
        if parent is not None:
            return parent.after(text[-1:])
        matcher = self._grammars[grammar].matcher()
        return _State(matcher, not matcher.mask()).after(text)


class _State:
    """A matcher that is not moved any more, whether its text has ended, and with what error it left the grammar."""

    __slots__ = ("error", "has_ended", "matcher")

    def __init__(self, matcher: Matcher, has_ended: bool, error: RejectedError | None = None) -> None:
        self.matcher = matcher
        self.has_ended = has_ended
        self.error = error

    def after(self, tokens: tuple[int, ...]) -> _State:
        """The state some tokens later. What stands after the end is padding."""
        state = self
        for token in tokens:
            if state.has_ended or state.error:
                break
            matcher = state.matcher.fork()
            try:
                matcher.accept_token(token)
            except RejectedError as error:
                return _State(matcher, False, error)
            state = _State(matcher, not matcher.mask())
        return state


def _masked(scores: Any, states: list[_State], words: int) -> Any:
    rows = [row for row, state in enumerate(states) if not state.has_ended]
    masked = _masked_torch if hasattr(scores, "masked_fill") else _masked_numpy
    return masked(scores, rows, [states[row] for row in rows], words)


def _fill(states: list[_State], masks: Any) -> None:
    """Writes a row for each state; that of one that has left its grammar stays empty."""
    # a matcher stands once in a batch; rows of equal texts share one
    for error in fill_masks([state.matcher.fork() for state in states], masks):
        if error is not None:
            raise error
    for row, state in enumerate(states):
        if state.error:
            masks[row] = 0


def _masked_torch(scores: Any, rows: list[int], states: list[_State], words: int) -> Any:
    if not rows:
        return scores
    torch: Any = importlib.import_module("torch")
    masks = torch.zeros((len(rows), words), dtype=torch.int32)
    _fill(states, masks)
    bits = masks.to(scores.device).unsqueeze(-1) >> torch.arange(32, dtype=torch.int32, device=scores.device)
    forbidden = torch.zeros_like(scores, dtype=torch.bool)
    forbidden[rows] = True
    width = min(scores.shape[-1], words * 32)
    forbidden[rows, :width] = (bits & 1).reshape(len(rows), -1)[:, :width] == 0
    return scores.masked_fill(forbidden, -torch.inf)


def _masked_numpy(scores: Any, rows: list[int], states: list[_State], words: int) -> Any:
    numpy: Any = importlib.import_module("numpy")
    masks = numpy.zeros((len(rows), words), dtype="<i4")
    _fill(states, masks)
    forbidden = numpy.zeros(scores.shape, dtype=bool)
    forbidden[rows] = True
    width = min(scores.shape[-1], words * 32)
    allowed = numpy.unpackbits(masks.view(numpy.uint8), axis=1, bitorder="little")[:, :width]
    forbidden[rows, :width] = allowed == 0
    return numpy.where(forbidden, -numpy.inf, scores).astype(scores.dtype)
