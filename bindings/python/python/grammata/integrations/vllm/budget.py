"""How many tokens a request may still get."""

from __future__ import annotations

import weakref
from typing import Any


class Budget:
    """What is left of a request's `max_tokens`, and of the model's context.

    vLLM's request says how many tokens it has. Draft tokens that the grammar was moved over on trial are counted by the grammar.
    """

    __slots__ = ("_request", "_total", "unseen")

    def __init__(self, request: Any, total: int) -> None:
        self._request = weakref.ref(request)
        self._total = total
        self.unseen = 0
        """Tokens of the draft on trial that the grammar is not moved over, since they are thoughts."""

    @classmethod
    def of_request(cls, request: Any, config: Any) -> Budget | None:
        """The budget of a request under vLLM's configuration; None if the request does not bound its output."""
        total = getattr(request, "max_tokens", None)
        if not isinstance(total, int) or total < 1:
            return None
        most = getattr(getattr(config, "model_config", None), "max_model_len", None)
        if isinstance(most, int):
            total = min(total, most - int(getattr(request, "num_prompt_tokens", 0)))
        return cls(request, total)

    @property
    def total(self) -> int:
        """The tokens of the whole output, reasoning included."""
        return self._total

    def left(self, ahead: int) -> int | None:
        """The tokens that are left after the `ahead` draft tokens that the grammar was moved over; None if the request is gone."""
        request = self._request()
        if request is None:
            return None
        return self._total - int(request.num_output_tokens) - self.unseen - ahead
