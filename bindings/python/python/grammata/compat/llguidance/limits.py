"""Parts of llguidance without a counterpart here: the limits of its parser, and its interface for Guidance."""

from __future__ import annotations

from typing import Any, NoReturn

from grammata.compat.llguidance.errors import unsupported


class LLParserLimits:
    """llguidance's limits; each must be None. The engine has other limits, which are always checked.

    Raises UnsupportedError for a limit that is not None. `precompute_large_lexemes` and `verbose_errors` have no
    effect.
    """

    def __init__(
        self,
        max_items_in_row: int | None = None,
        initial_lexer_fuel: int | None = None,
        step_lexer_fuel: int | None = None,
        step_max_items: int | None = None,
        max_lexer_states: int | None = None,
        max_grammar_size: int | None = None,
        precompute_large_lexemes: bool | None = None,
        verbose_errors: bool | None = None,
    ) -> None:
        given = {
            "max_items_in_row": max_items_in_row,
            "initial_lexer_fuel": initial_lexer_fuel,
            "step_lexer_fuel": step_lexer_fuel,
            "step_max_items": step_max_items,
            "max_lexer_states": max_lexer_states,
            "max_grammar_size": max_grammar_size,
        }
        for name, value in given.items():
            if value is not None:
                raise unsupported(
                    f"{name}={value!r} limits a parser that is not used here",
                    "leave it out: the engine's own limits hold, see `grammata.Compiler(limits=)`",
                )
        self.precompute_large_lexemes = precompute_large_lexemes is not False
        self.verbose_errors = verbose_errors is not False

    def __repr__(self) -> str:
        return f"LLParserLimits(precompute_large_lexemes={self.precompute_large_lexemes}, verbose_errors={self.verbose_errors})"


class LLInterpreter:
    """llguidance's interface for the Guidance library, which is not offered. Raises UnsupportedError."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        _refuse()

    def __class_getitem__(cls, item: Any) -> NoReturn:
        _refuse()


def _refuse() -> NoReturn:
    raise unsupported("LLInterpreter is not offered", "use LLMatcher, which servers use")
