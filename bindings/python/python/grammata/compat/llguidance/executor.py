"""Masks of a batch of matchers, computed on the package's threads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from grammata import _native
from grammata._errors import GrammataError
from grammata.compat.llguidance import memory
from grammata.compat.llguidance.matcher import LLMatcher


class LLExecutor:
    """Calls for several matchers. `num_threads` has no effect: all calls share one pool (`RAYON_NUM_THREADS`)."""

    def __init__(self, num_threads: int | None = None) -> None:
        if num_threads is not None and num_threads < 0:
            raise OverflowError(f"num_threads={num_threads} is negative")

    def unsafe_compute_mask_ptr(
        self, interpreters: list[tuple[LLMatcher, int]], trg_pointer: int, one_mask_bytes: int, trg_batch_size: int
    ) -> None:
        """Writes the mask of each matcher to its row of the masks at an address.

        Raises ValueError for an empty list, a tuple of another length, a row outside of the batch, a null or unaligned
        address or a wrong size; TypeError for entries of other types; RuntimeError if a matcher is named twice. After
        an exception, nothing is written.
        """
        entries: list[tuple[LLMatcher, int, list[int]]] = []
        for matcher, row in _entries(interpreters, 2, "(LLMatcher, int)", "No interpreters"):
            _check_row(row, 0, trg_batch_size)
            memory.check(trg_pointer, one_mask_bytes, matcher._tokenizer.vocab_size)
            entries.append((matcher, row, []))
        fill(entries, trg_pointer, one_mask_bytes, trg_batch_size)

    def unsafe_compute_mask_ptr_with_draft_token(
        self, interpreters: list[tuple[LLMatcher, int, list[int]]], trg_pointer: int, one_mask_bytes: int, trg_batch_size: int
    ) -> None:
        """Writes the masks along each draft. The matcher's row + i gets the mask after the first i tokens of its draft.

        Rows after the first token that is not allowed (such as -1), and after the end, are not written. The matchers do
        not change, except that they keep an error. Raises as `unsafe_compute_mask_ptr` does, and ValueError for an
        empty draft or one whose rows are not all in the batch.
        """
        entries = []
        for matcher, row, draft in _entries(interpreters, 3, "(LLMatcher, int, List[int])", "No interpreters"):
            if not draft:
                raise ValueError("Draft tokens must not be empty")
            _check_row(row, len(draft), trg_batch_size)
            memory.check(trg_pointer, one_mask_bytes, matcher._tokenizer.vocab_size)
            entries.append((matcher, row, list(draft)))
        fill(entries, trg_pointer, one_mask_bytes, trg_batch_size)

    def consume_token_par(self, matchers: list[tuple[LLMatcher, int]]) -> list[bool]:
        """Accepts a token in each matcher, and returns for each whether it was allowed."""
        entries = list(_entries(matchers, 2, "(LLMatcher, int)", "No matchers"))
        return [matcher.consume_token(token) for matcher, token in entries]


def fill(entries: Sequence[tuple[LLMatcher, int, list[int]]], pointer: int, mask_bytes: int, count: int) -> None:
    """Writes the masks of matchers and of their drafts to rows of the masks at an address, in parallel."""
    at_work: list[tuple[LLMatcher, _native.Matcher, int, list[int]]] = []
    ends: list[tuple[LLMatcher, int]] = []
    for matcher, row, draft in entries:
        native = matcher._matcher
        if native is None or native.is_finished():
            ends.append((matcher, row))
            continue
        # servers pad drafts with -1, which is not an id
        draft = list(takewhile(range(matcher._tokenizer.vocab_size).__contains__, draft))
        try:
            kept = draft[: native.validate_tokens(draft)] if draft else []
        except GrammataError as cause:
            matcher._fail(str(cause))
            ends.append((matcher, row))
            continue
        place = next((place for place, token in enumerate(kept) if token in matcher._end), None)
        if place is not None:
            # the row after the end allows only the end tokens
            kept = kept[:place]
            ends.append((matcher, row + place + 1))
        at_work.append((matcher, native, row, kept))
    if at_work:
        failed = _native.fill_masks(
            [native for _, native, _, _ in at_work],
            memory.rows(pointer, mask_bytes, count),
            rows=[row for _, _, row, _ in at_work],
            budgets=[matcher._left() for matcher, _, _, _ in at_work],
            drafts=[draft for _, _, _, draft in at_work],
            errors="return",
        )
        for (matcher, _, row, _), error in zip(at_work, failed, strict=True):
            if error is not None:
                matcher._fail(str(error))
                ends.append((matcher, row))
    for matcher, row in ends:
        memory.write(pointer + row * mask_bytes, matcher._end_mask())


def _check_row(row: int, further: int, count: int) -> None:
    if not 0 <= row < count - further:
        raise ValueError("Target index out of bounds")


def _entries(given: Any, size: int, form: str, empty: str) -> list[Any]:
    """Checks the entries of a batch and returns them. Raises ValueError, TypeError, RuntimeError."""
    if not isinstance(given, list):
        raise TypeError(f"'{type(given).__name__}' object is not an instance of 'list'")
    if not given:
        raise ValueError(empty)
    seen: set[int] = set()
    for entry in given:
        if not isinstance(entry, tuple):
            raise TypeError(f"'{type(entry).__name__}' object is not an instance of 'tuple'")
        if len(entry) != size:
            raise ValueError(f"Expecting {form} tuple")
        if not isinstance(entry[0], LLMatcher):
            raise TypeError(f"'{type(entry[0]).__name__}' object is not an instance of 'LLMatcher'")
        if id(entry[0]) in seen:
            raise RuntimeError("Already borrowed")
        seen.add(id(entry[0]))
        if not isinstance(entry[1], int):
            raise TypeError(f"'{type(entry[1]).__name__}' object cannot be interpreted as an integer")
    return given
