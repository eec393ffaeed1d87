"""How many more tokens a request may generate."""

from __future__ import annotations

import weakref
from typing import Any


class Budget:
    """The rest of a request's `max_tokens`, bounded by the model's context.

    vLLM's request has the number of its output tokens. The grammar counts draft tokens that it accepted provisionally.
    """

    __slots__ = ("_request", "_total", "unseen")

    def __init__(self, request: Any, total: int) -> None:
        self._request = weakref.ref(request)
        self._total = total
        self.unseen = 0
        """Number of tokens of the current draft that the grammar does not accept, since they are reasoning."""

    @classmethod
    def of_request(cls, request: Any, config: Any) -> Budget | None:
        """The budget of a request under vLLM's configuration; None if the request has no `max_tokens` of at least 1."""
        total = getattr(request, "max_tokens", None)
        if not isinstance(total, int) or total < 1:
            return None
        most = getattr(getattr(config, "model_config", None), "max_model_len", None)
        if isinstance(most, int):
            total = min(total, most - int(getattr(request, "num_prompt_tokens", 0)))
        return cls(request, total)

    @property
    def total(self) -> int:
        """The maximum number of tokens of the whole output, reasoning included."""
        return self._total

    def left(self, ahead: int) -> int | None:
        """The number of tokens left after `ahead` accepted draft tokens; None if the request does not exist any
        more."""
        request = self._request()
        if request is None:
            return None
        return self._total - int(request.num_output_tokens) - self.unseen - ahead
