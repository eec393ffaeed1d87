"""A logits processor for `generate`: batches, beams and budgets.

It needs NumPy or torch, depending on the type of the scores; it does not import `transformers`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from grammata._errors import RejectedError, usage_error
from grammata._native import CompiledGrammar, Matcher, fill_masks
from grammata.integrations.torch import apply_mask, covered

__all__ = ["GrammarLogitsProcessor"]


class GrammarLogitsProcessor:
    """Forbids tokens that leave the grammar: `model.generate(..., logits_processor=[GrammarLogitsProcessor(grammar)])`.

    There is one grammar for all sequences, or one for each sequence of a batch. A sequence may have several rows, its
    beams. A call continues the texts of the previous call if each row is a row of the same sequence in that call and
    one more token; so beams may change places. A beam costs a fork of its parent's matcher, which shares the state
    before it. The scores of a row that has ended are not changed.

    A search with beams may fill up its rows with rows that cannot be finished. All their tokens are forbidden. If no
    other row of a sequence is left, a call raises RejectedError.

    Any other call begins new texts, and all its tokens are the prompts, which the processor does not read. So one
    processor may be used for several calls of `generate` that do not overlap, with prompts of any length. Rows that
    undo tokens of a text raise UsageError; assisted generation does that.

    `budget` is the maximum number of tokens of each text, such as `max_new_tokens` of the call, or one number for each
    grammar. Each text is complete within its budget. A budget that is too small for any complete text raises
    RejectedError, which names the smallest one that is enough. `end_tokens` end a text instead of the vocabulary's.
    """

    def __init__(
        self,
        grammars: CompiledGrammar | Sequence[CompiledGrammar],
        *,
        budget: int | Sequence[int] | None = None,
        end_tokens: Sequence[int] | None = None,
    ) -> None:
        self._grammars = list(grammars) if isinstance(grammars, Sequence) else [grammars]
        if isinstance(budget, Sequence) and len(budget) != len(self._grammars):
            raise usage_error(
                "python/rows",
                "the budgets do not fit the grammars",
                found=f"{len(budget)} budgets",
                allowed=f"{len(self._grammars)}, the number of grammars, or one for all",
                help="give one budget for all grammars, or one for each",
            )
        self._budgets = list(budget) if isinstance(budget, Sequence) else [budget] * len(self._grammars)
        self._end_tokens = end_tokens
        for grammar, tokens in zip(self._grammars, self._budgets, strict=True):
            if tokens is not None:
                self._matcher(grammar).check_budget(tokens)
        self.reset()

    def reset(self) -> None:
        """Forgets the texts, so that the next call begins new ones. Generators of Outlines call it before each run."""
        self._rows: Any = None
        """A copy of the rows of the last call."""
        self._states: list[_State] = []
        """The state of each row of the last call."""
        self._steps = 0
        """The number of tokens of the last call's rows that belong to the text and not to the prompt."""

    def _matcher(self, grammar: CompiledGrammar) -> Matcher:
        return grammar.matcher(end_tokens=self._end_tokens)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores in which forbidden tokens have minus infinity. Raises RejectedError if a text has left its
        grammar."""
        rows = len(input_ids)
        if not rows or rows % len(self._grammars):
            raise usage_error(
                "python/rows",
                "the rows do not fit the grammars",
                found=f"{rows} rows",
                allowed=f"a multiple of {len(self._grammars)}, the number of grammars",
                help="give one grammar for all sequences, or one for each sequence of the batch",
            )
        beams = rows // len(self._grammars)
        parents = self._parents(input_ids, beams)
        if parents is None:
            first = [_State.at_start(self._matcher(grammar)) for grammar in self._grammars]
            self._states = [first[row // beams] for row in range(rows)]
            self._steps = 0
        else:
            self._states = _after(parents, input_ids[:, -1].tolist())
            self._steps += 1
        # a copy, since a caller may write the next tokens to the same memory
        self._rows = input_ids.clone() if hasattr(input_ids, "clone") else input_ids.copy()
        for start in range(0, rows, beams):
            errors = [state.error for state in self._states[start : start + beams]]
            if None not in errors:
                raise errors[0]  # type: ignore[misc]
        left = [None if budget is None else max(budget - self._steps, 0) for budget in self._budgets for _ in range(beams)]
        return _masked(scores, self._states, left, self._grammars[0].vocabulary.mask_words)

    def _parents(self, input_ids: Any, beams: int) -> list[_State] | None:
        """The state of each row before its last token; None if a row does not continue one of its sequence in the last
        call."""
        before = self._rows
        if before is None or getattr(input_ids, "device", None) != getattr(before, "device", None):
            return None
        heads = input_ids[:, :-1]
        if input_ids.shape[1] != before.shape[1] + 1:
            self._check_back(heads)
            return None
        # without beams, rows keep their places: one comparison on the rows' device is enough
        if heads.shape == before.shape and bool((heads == before).all()):
            return self._states
        beams_before = max(len(before) // len(self._grammars), 1)
        known = {
            (row // beams_before, tuple(ids)): state
            for row, (ids, state) in enumerate(zip(before.tolist(), self._states, strict=True))
        }
        parents = [known.get((row // beams, tuple(ids))) for row, ids in enumerate(heads.tolist())]
        return None if None in parents else parents  # type: ignore[return-value]

    def _check_back(self, heads: Any) -> None:
        """Raises UsageError if `heads`, rows without their last tokens, are shorter beginnings of the last call's
        texts."""
        length, last = heads.shape[1], self._rows
        prompt = last.shape[1] - self._steps
        if len(heads) == len(last) and prompt <= length < last.shape[1] and bool((heads == last[:, :length]).all()):
            raise usage_error(
                "python/rows-went-back",
                "the rows went back within a text",
                found=f"{length + 1 - prompt} tokens of text after a call with {self._steps}",
                allowed="one token more than in the last call, or a new prompt",
                help="turn off assisted generation; for a prompt that has part of an earlier output, make a new processor",
            )


def _after(parents: list[_State], tokens: list[int]) -> list[_State]:
    """The state of each row after one more token. Rows with the same parent and the same token share a state."""
    made: dict[tuple[int, int], _State] = {}
    states = []
    for parent, token in zip(parents, tokens, strict=True):
        key = (id(parent), token)
        if key not in made:
            made[key] = parent.after(token)
        states.append(made[key])
    return states


class _State:
    """A matcher that does not change any more, whether its text has ended, and the error with which it left the
    grammar."""

    __slots__ = ("error", "has_ended", "matcher")

    def __init__(self, matcher: Matcher, has_ended: bool, error: RejectedError | None = None) -> None:
        self.matcher = matcher
        self.has_ended = has_ended
        self.error = error

    @classmethod
    def at_start(cls, matcher: Matcher) -> _State:
        """The state before the first token."""
        return cls(matcher, has_ended(matcher))

    def after(self, token: int) -> _State:
        """The state after one more token. Tokens after the end are padding and change nothing."""
        if self.has_ended or self.error:
            return self
        matcher = self.matcher.fork()
        try:
            matcher.accept_token(token)
        except RejectedError as error:
            return _State(matcher, False, error)
        return _State(matcher, has_ended(matcher))


def has_ended(matcher: Matcher) -> bool:
    """Whether no token may follow, not even an end token, so that further tokens are padding."""
    return matcher.is_finished() and not matcher.mask()


def _masked(scores: Any, states: list[_State], left: list[int | None], words: int) -> Any:
    rows = [row for row, state in enumerate(states) if not state.has_ended]
    masked = _masked_torch if hasattr(scores, "masked_fill") else _masked_numpy
    return masked(scores, rows, [states[row] for row in rows], [left[row] for row in rows], words)


def _fill(states: list[_State], left: list[int | None], masks: Any) -> None:
    """Writes the mask of each state to its row. A state that has left its grammar gets an empty mask."""
    whole = [row for row, budget in enumerate(left) if budget is None]
    if len(whole) == len(left):
        # a batch may contain each matcher only once, and rows with equal texts share one
        fill_masks([state.matcher.fork() for state in states], masks)
    for row, (state, budget) in enumerate(zip(states, left, strict=True)):
        if state.error:
            masks[row] = 0
        elif budget is not None:
            state.matcher.fill_mask_within(budget, masks[row])
        elif len(whole) < len(left):
            state.matcher.fill_mask(masks[row])


def _masked_torch(scores: Any, rows: list[int], states: list[_State], left: list[int | None], words: int) -> Any:
    if not rows:
        return scores
    torch: Any = importlib.import_module("torch")
    masks = torch.zeros((len(rows), words), dtype=torch.int32)
    _fill(states, left, masks)
    masked = scores.clone()
    apply_mask(masked, covered(masks, masked), rows)
    return masked


def _masked_numpy(scores: Any, rows: list[int], states: list[_State], left: list[int | None], words: int) -> Any:
    numpy: Any = importlib.import_module("numpy")
    masks = numpy.zeros((len(rows), words), dtype="<i4")
    _fill(states, left, masks)
    forbidden = numpy.zeros(scores.shape, dtype=bool)
    forbidden[rows] = True
    width = min(scores.shape[-1], words * 32)
    allowed = numpy.unpackbits(masks.view(numpy.uint8), axis=1, bitorder="little")[:, :width]
    forbidden[rows, :width] = allowed == 0
    return numpy.where(forbidden, -numpy.inf, scores).astype(scores.dtype)
