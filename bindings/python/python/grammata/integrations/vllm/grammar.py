"""The state of one request: an implementation of vLLM's `StructuredOutputGrammar`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from grammata._errors import GrammataError, RejectedError
from grammata._native import MaskBuffer, Matcher
from grammata.integrations.serving.metrics import Metrics
from grammata.integrations.vllm.budget import Budget

logger = logging.getLogger("vllm.grammata")

BUDGET_ERROR = "matcher/budget"


class Rows:
    """The rows of vLLM's bitmask, which is one tensor for all steps. Each row is checked only once."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: tuple[Any, dict[int, MaskBuffer]] = (None, {})

    def row(self, bitmask: Any, index: int) -> MaskBuffer:
        """A row of a tensor of 32-bit integers. Raises UsageError if masks cannot be written to it."""
        held = self._held
        if held[0] is not bitmask:
            # one assignment, so that another thread never sees rows of another tensor
            self._held = held = (bitmask, {})
        found = held[1].get(index)
        if found is None:
            found = held[1][index] = MaskBuffer(bitmask[index])
        return found


class Grammar:
    """A request's matcher, and its budget. Threads must not use it at the same time.

    No method raises because of a request's grammar or a model's tokens, since that would end the server. If a mask
    cannot be computed, the request fails: the row allows everything, and `accept_tokens` refuses the next token.
    """

    def __init__(self, matcher: Matcher, rows: Rows, budget: Budget | None = None, metrics: Metrics = Metrics()) -> None:
        self._matcher = matcher
        self._rows = rows
        self._budget = budget
        self._metrics = metrics
        self._ends = frozenset(matcher.end_tokens)
        self._has_ended = False
        self._accepted = 0
        self._committed = 0
        """Number of accepted tokens in the request's output. The other accepted tokens belong to a draft."""
        self._reserve: int | None = None
        """Tokens of the budget that are kept for the end token: 1 or 0; None before the first mask."""
        self._failure: GrammataError | None = None

    def accept_tokens(self, request_id: str, tokens: Sequence[int]) -> bool:
        """Accepts the tokens. If one is not allowed, returns False; those before it stay accepted. Ignores tokens after
        the end."""
        if self._has_ended:
            return True
        if self._failure is not None:
            logger.error("request %s fails: %s", request_id, self._failure)
            return False
        proposed = without_padding(tokens)
        try:
            count = self._matcher.accept_tokens(proposed)
        except GrammataError as error:
            self._fail(error)
            return False
        self._accepted += count
        self._has_ended = bool(count) and proposed[count - 1] in self._ends
        if count < len(proposed) and not self._has_ended:
            logger.error("request %s: token %d is not allowed by its grammar", request_id, proposed[count])
            return False
        return True

    def validate_tokens(self, tokens: Sequence[int]) -> list[int]:
        """The longest prefix of a draft that is allowed, also by the budget. It does not accept tokens."""
        if self._has_ended or self._failure is not None:
            return []
        proposed = without_padding(tokens)
        try:
            return proposed[: self._fitting(proposed[: self._matcher.validate_tokens(proposed)])]
        except GrammataError as error:
            self._fail(error)
            return []

    def _fitting(self, draft: list[int]) -> int:
        """How many tokens of a draft the budget allows. The grammar must allow all of them.

        Tokens that the budget forbids are not proposed: vLLM 0.32 on CPUs was seen to accept such a token, and the text
        was then cut. It is not known whether its sampler or the mask was wrong.
        """
        left = self._left()
        if left is None:
            return len(draft)
        if self._reserve is None:
            self._reserve = self._start(left)
        count = 0
        try:
            for token in draft:
                within = left - self._reserve - count
                if token not in self._ends and (within < 1 or not self._matcher.is_token_allowed_within(token, within)):
                    break
                self._matcher.accept_token(token)
                count += 1
        finally:
            if count:
                self._matcher.rollback(count)
        return count

    def rollback(self, num_tokens: int) -> None:
        """Undoes accepted tokens. Tokens after the end, which were ignored, do not count. Raises UsageError if there
        are fewer."""
        if num_tokens < 1:
            return
        self._matcher.rollback(num_tokens)
        self._accepted -= num_tokens
        self._has_ended = False

    def commit(self) -> None:
        """Records that all accepted tokens are in the request's output."""
        self._committed = self._accepted
        self.skip(0)

    def skip(self, tokens: int) -> None:
        """Records how many tokens at the beginning of the current draft are reasoning."""
        if self._budget is not None:
            self._budget.unseen = tokens

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """Writes the mask of the next token to a row of vLLM's bitmask."""
        if self._failure is None:
            try:
                with self._metrics.timed_mask():
                    self._fill(self._rows.row(bitmask, batch_index))
                return
            except GrammataError as error:
                self._fail(error)
        bitmask[batch_index].fill_(-1)

    def is_terminated(self) -> bool:
        """Whether an end token was accepted."""
        return self._has_ended

    def reset(self) -> None:
        """Undoes all tokens."""
        self._matcher.reset()
        self._has_ended, self._accepted, self._committed, self._reserve = False, 0, 0, None

    def check_budget(self) -> GrammataError | None:
        """The error if no text fits the budget, which names the length of the shortest text; None if one fits."""
        budget = self._budget
        if budget is None:
            return None
        try:
            self._matcher.check_budget(budget.total)
        except RejectedError as error:
            if error.code != BUDGET_ERROR:
                raise
            return error
        return None

    def without_budget(self) -> None:
        """Lets `max_tokens` cut the output, and counts that."""
        self._budget = None
        self._metrics.cut()

    def _fill(self, row: MaskBuffer) -> None:
        left = self._left()
        if left is None:
            self._matcher.fill_mask(row)
            return
        if self._reserve is None:
            self._reserve = self._start(left)
        try:
            self._matcher.fill_mask_within(max(left - self._reserve, 0), row)
        except RejectedError as error:
            if error.code != BUDGET_ERROR:
                raise
            if self._accepted == self._committed:
                logger.warning("an output will be cut by max_tokens, of which %d are left: %s", left, error)
                self.without_budget()
            # a draft that does not fit the budget is refused at an earlier row
            self._matcher.fill_mask(row)

    def _left(self) -> int | None:
        if self._budget is None:
            return None
        return self._budget.left(self._accepted - self._committed)

    def _start(self, left: int) -> int:
        """The number of tokens to keep for the end token: 1, or 0 if a text fits only without it.

        vLLM reports a text without an end token as cut by its length.
        """
        try:
            self._matcher.check_budget(left - 1)
        except RejectedError as error:
            if error.code != BUDGET_ERROR:
                raise
            return 0
        return 1

    def _fail(self, error: GrammataError) -> None:
        self._failure = error
        self._metrics.failed(error.code)
        logger.error("a mask cannot be computed: %s", error)


def without_padding(tokens: Sequence[int]) -> list[int]:
    """The tokens before the first -1, with which vLLM fills up drafts."""
    for place, token in enumerate(tokens):
        if token < 0:
            return list(tokens[:place])
    return list(tokens)
