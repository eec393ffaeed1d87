"""llguidance's older functions for strings of grammars."""

from __future__ import annotations

import re

from grammata.compat.llguidance.matcher import LLMatcher
from grammata.compat.llguidance.options import JsonCompileOptions

_CLASSES = {"d": "0-9", "w": "0-9a-zA-Z_", "s": r" \t\n\r\f\v"}
_ESCAPES = {"/": r"\/", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def _checked(grammar: str, check: bool) -> str:
    error = LLMatcher.validate_grammar(grammar) if check else ""
    if error:
        raise ValueError(error)
    return grammar


class JsonCompiler:
    """The string of a JSON Schema, with options. `LLMatcher.grammar_from_json_schema` does the same."""

    def __init__(
        self,
        separators: tuple[str, str] | None = None,
        whitespace_flexible: bool = False,
        coerce_one_of: bool = False,
        whitespace_pattern: str | None = None,
        json_allowed_escapes: str | None = None,
        json_allow_general_unicode_escapes: bool = False,
    ) -> None:
        item, key = separators or ((",", ":") if whitespace_flexible else (", ", ": "))
        self._options: JsonCompileOptions = {
            "item_separator": item,
            "key_separator": key,
            "whitespace_flexible": whitespace_flexible,
            "whitespace_pattern": whitespace_pattern,
            "coerce_one_of": coerce_one_of,
            "json_allowed_escapes": json_allowed_escapes,
            "json_allow_general_unicode_escapes": json_allow_general_unicode_escapes,
        }

    def compile(self, schema: str, check: bool = True) -> str:
        """The string of a schema. Raises ValueError if it is not a JSON object; with `check`, also if it cannot be
        read."""
        return _checked(LLMatcher.grammar_from_json_schema(schema, overrides=self._options), check)


class LarkCompiler:
    """The string of a Lark grammar. `LLMatcher.grammar_from_lark` does the same."""

    def compile(self, lark: str, check: bool = True) -> str:
        """The string of a grammar. With `check`, raises ValueError for one that cannot be read."""
        return _checked(LLMatcher.grammar_from_lark(lark), check)


class RegexCompiler:
    """The string of a regular expression. `LLMatcher.grammar_from_regex` does the same."""

    def compile(self, regex: str, check: bool = True) -> str:
        """The string of a pattern. With `check`, raises ValueError for one that cannot be read."""
        return _checked(LLMatcher.grammar_from_regex(regex), check)


def regex_to_lark(regex: str, use_ascii: str = "") -> str:
    """A pattern as Lark writes it between slashes. Classes with a letter (`d`, `w`, `s`) in `use_ascii` match only
    ASCII."""

    def replaced(found: re.Match[str]) -> str:
        part = found[0]
        if len(part) == 1:
            return _ESCAPES.get(part, part)
        letter = part[1].lower()
        if letter in _CLASSES and letter in use_ascii:
            return f"[{'^' if part[1] != letter else ''}{_CLASSES[letter]}]"
        return _ESCAPES.get(part[1], part)

    return re.sub(r"\\.|[/\n\r\t]", replaced, regex, flags=re.DOTALL)
