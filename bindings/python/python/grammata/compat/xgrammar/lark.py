"""Named grammars in Lark: replaces each `@name` in a text with the grammar of this name."""

from __future__ import annotations

import json
import re
from typing import Any

from grammata.compat.xgrammar.exception import GrammarCompileError, unsupported

_PART = re.compile(
    r"""(?P<skip> "(?:\\.|[^"\\\n])*" | //[^\n]* | \#[^\n]* | /(?:\\.|[^/\\\n])+/ ) | @(?P<name>[A-Za-z_][A-Za-z0-9_-]*)""", re.VERBOSE
)
"""Names of grammars; and the parts of a text where `@name` is plain text: literals, comments and patterns."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")

_PLAIN = re.compile(r"[A-Za-z0-9 ,;:=<>_+*?(){}|\[\]-]*")
"""Patterns that mean the same in every dialect."""


def with_grammars(text: str, named: Any, kind: type) -> str:
    """The text in which the grammars replace their names. `kind` is the class `Grammar`.

    Raises GrammarCompileError for unknown, circular and invalid names and for grammars that Lark cannot contain;
    TypeError for arguments of other types.
    """
    if named is None:
        return text
    if not isinstance(named, dict):
        raise TypeError(f"named_grammars must be a dictionary, not {type(named).__name__}")
    for name, value in named.items():
        if not isinstance(name, str):
            raise TypeError(f"the names of named_grammars must be strings, not {type(name).__name__}")
        if not isinstance(value, (str, kind)):
            raise TypeError(f"the values of named_grammars must be texts in Lark or Grammars, not {type(value).__name__}")
        if not _NAME.fullmatch(name):
            raise GrammarCompileError(f"error[xgrammar/named-grammar] {name!r} is not a name of a grammar: letters, digits, `_` and `-`")
    return _replaced(text, named, ())


def _replaced(text: str, named: dict[str, Any], way: tuple[str, ...]) -> str:
    """The text with its names replaced. `way` are the names inside whose grammars the text is, from the outside."""

    def part(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None:
            return found[0]
        if name in way:
            names = " -> ".join(f"@{step}" for step in (*way[way.index(name) :], name))
            raise GrammarCompileError(f"error[xgrammar/named-grammar] circular named grammar reference: {names}")
        if name not in named:
            known = ", ".join(f"@{known}" for known in named) or "none"
            raise GrammarCompileError(f"error[xgrammar/named-grammar] unknown grammar @{name}; known grammars: {known}")
        return _part(named[name], named, (*way, name))

    return _PART.sub(part, text)


def _part(value: Any, named: dict[str, Any], way: tuple[str, ...]) -> str:
    """A named grammar as a part of a rule in Lark. Raises RuntimeError if Lark cannot contain it."""
    if isinstance(value, str):
        return f"%lark {{\n{_replaced(value, named, way)}\n}}"
    notation, text, options = value._notation, value._text, value._options
    if notation == "lark":
        return f"%lark {{\n{text}\n}}"
    if notation == "json_schema" and not options:
        return f"%json {text}"
    if notation == "regex" and _PLAIN.fullmatch(text):
        return f"/{text}/"
    raise unsupported(
        f"@{way[-1]} is a grammar of {notation} that cannot be a part of one in Lark: {json.dumps(text)[:80]}",
        "give a text in Lark",
    )
