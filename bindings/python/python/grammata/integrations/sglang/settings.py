"""The environment variables of the backend, `GRAMMATA_SGLANG_BUDGET` and the others of
`grammata.integrations.serving.settings`.

Without `GRAMMATA_SGLANG_BUDGET`, budgets are strict. `GRAMMATA_SGLANG_CACHE_MB` does not exist: SGLang keeps the
grammars of all requests itself, until its cache is flushed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grammata.integrations.serving import settings
from grammata.integrations.serving.settings import BudgetMode, Variables

PREFIX = "GRAMMATA_SGLANG"
NAMES = tuple(name for name in settings.NAMES if name != "CACHE_MB")


@dataclass(frozen=True, slots=True)
class Settings(settings.Settings):
    """Values of the environment variables, or their defaults."""

    budget: BudgetMode = "strict"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Reads the variables. Raises UsageError for a value that is not allowed and a name that is not known."""
        variables = Variables(PREFIX, environment)
        variables.check_names(NAMES)
        return cls(**variables.settings(budget="strict"))
