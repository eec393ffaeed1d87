"""How many tokens a request may still get."""

from __future__ import annotations

import weakref
from typing import Any


class Budget:
    """What is left of a request's `max_tokens`, and of the model's context.

    vLLM's request says how many tokens it has. Draft tokens that the grammar was moved over on trial are counted by the grammar.
    """

    __slots__ = ("_drafts", "_request", "_total")

    def __init__(self, request: Any, total: int, drafts: int) -> None:
        self._request = weakref.ref(request)
        self._total = total
        self._drafts = drafts

    @classmethod
    def of_request(cls, request: Any, config: Any) -> Budget | None:
        """The budget of a request under vLLM's configuration; None if the request does not bound its output."""
        total = getattr(request, "max_tokens", None)
        if not isinstance(total, int) or total < 1:
            return None
        most = getattr(getattr(config, "model_config", None), "max_model_len", None)
        if isinstance(most, int):
            total = min(total, most - int(getattr(request, "num_prompt_tokens", 0)))
        drafts = getattr(config, "num_speculative_tokens", 0)
        return cls(request, total, drafts if isinstance(drafts, int) else 0)

    @property
    def total(self) -> int:
        """The tokens of the whole output, reasoning included."""
        return self._total

    def is_reasoning(self) -> bool:
        """Whether the grammar has not begun because the model is thinking."""
        structured = getattr(self._request(), "structured_output_request", None)
        return getattr(structured, "reasoning_ended", None) is False

    def left(self, ahead: int) -> int | None:
        """The tokens that are left after `ahead` draft tokens; None if the request is gone.

        While the model is thinking a draft may hold the end of its thoughts, at a place that is not known here. Then the longest draft
        is taken off, so that what is left is at least what is returned.
        """
        request = self._request()
        if request is None:
            return None
        unseen = self._drafts if self.is_reasoning() else 0
        return self._total - int(request.num_output_tokens) - ahead - unseen
