"""Grammars as strings: Lark, or JSON of a list of grammars.

A list is `{"grammars": [{…}]}`. The first grammar is the one to match; the others are those that a structural tag
names. A grammar has one of these keys: `lark_grammar`, `json_schema` (with options in its `x-guidance`), and, only in
this package, `regex`, `gbnf_grammar`, `structural_tag`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from grammata import _json
from grammata._native import Source
from grammata.compat.llguidance.errors import unsupported
from grammata.compat.llguidance.options import KEY, JsonCompileOptions, merged, parsed, whitespace

GrammarFormat = Literal["lark", "gbnf", "ebnf", "cfg", "grammar", "json_schema", "json", "regex", "choice", "llguidance"]

_KINDS = ("lark_grammar", "json_schema", "regex", "gbnf_grammar", "structural_tag")

_RULE = re.compile(r"^[^\S\n]*[A-Za-z_][\w-]*[^\S\n]*::=", re.MULTILINE)
"""The beginning of a rule in GBNF. Grammars in Lark have no `::=`."""

_TOKENS = re.compile(r"<\[|<\||<[A-Za-z_/][^<>\s\"]*>")
"""The beginning of a special token in a grammar."""

_ANY = re.compile(r"""(?P<kept> "(?:\\.|[^"\\\n])*" | /(?!/)(?:\\.|[^/\\\n])+/ | (?://|\#)[^\n]* ) | <\[\*\]>""", re.VERBOSE)
"""`<[*]>`, any token; and the parts of a grammar where it is plain text: strings, patterns and comments."""


def grammar_list(kind: str, value: Any, *others: Mapping[str, Any], name: str | None = None) -> str:
    """The string of a list of grammars. The first one has the key `kind`. Raises ValueError for
    values that JSON does not have."""
    first = {**({} if name is None else {"name": name}), kind: value}
    try:
        return _json.dumps({"grammars": [first, *others]})
    except TypeError as cause:
        raise ValueError(f"a grammar is not JSON: {cause}") from cause


def of_json_schema(schema: Any, defaults: JsonCompileOptions | None, overrides: JsonCompileOptions | None) -> str:
    """The string of a JSON Schema, which is a text or a value.

    Options of `overrides` win over those of the schema's `x-guidance`, and these over `defaults`. Raises ValueError if
    an argument is not JSON, or if options are given and the schema is not an object.
    """
    value = parsed(schema)
    if defaults is None and overrides is None:
        return grammar_list("json_schema", value)
    if not isinstance(value, Mapping):
        raise ValueError("Expecting object schema to apply options")
    return grammar_list("json_schema", {**value, KEY: merged(defaults, value.get(KEY), overrides)})


def of_choice(choices: Any) -> str:
    """The string of a grammar of these texts, which are a list or JSON of one. Raises ValueError."""
    texts = parsed(choices)
    if not isinstance(texts, Sequence) or isinstance(texts, str) or not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError("choices are a list of strings, at least one")
    return "start: " + " | ".join(json.dumps(text, ensure_ascii=False) for text in texts)


def grammar_from(format: GrammarFormat, text: str) -> str:
    """The string of a grammar in one of the formats.

    The formats are `lark`; `gbnf`, `ebnf`, `cfg` and `grammar` (GBNF if the text has a rule with `::=`, otherwise
    Lark); `json_schema` and `json`; `regex`; `choice`, a list of texts as JSON; `llguidance`, a list of grammars.
    Raises ValueError for other formats, and for a schema or a choice that is not JSON.
    """
    if format == "lark" or (format in ("gbnf", "ebnf", "cfg", "grammar") and not _RULE.search(text)):
        return text
    if format in ("gbnf", "ebnf", "cfg", "grammar"):
        return grammar_list("gbnf_grammar", text)
    if format in ("json_schema", "json"):
        return of_json_schema(text, None, None)
    if format == "regex":
        return grammar_list("regex", text)
    if format == "choice":
        return of_choice(text)
    if format == "llguidance":
        return text
    raise ValueError(f"Unknown grammar type: {format}")


def source(grammar: Any, width: int = 1) -> Source:
    """The source of a grammar: a string, or the value of a list of grammars, for a vocabulary of `width` tokens.

    Raises ValueError, GrammataError.
    """
    if isinstance(grammar, str) and not grammar.strip():
        raise ValueError("Empty grammar")
    if isinstance(grammar, str) and not grammar.lstrip().startswith("{"):
        return _lark(grammar, width)
    value = parsed(grammar)
    grammars = value.get("grammars") if isinstance(value, Mapping) else None
    if not isinstance(grammars, list) or not grammars or not all(isinstance(one, Mapping) for one in grammars):
        raise ValueError('a list of grammars is an object {"grammars": [{…}, …]}')
    first: Mapping[str, Any] = grammars[0]
    others: list[Mapping[str, Any]] = grammars[1:]
    if value.get("max_tokens") is not None:
        raise unsupported(f"max_tokens={value['max_tokens']} of a list of grammars is not supported", "use LLMatcher(budget=)")
    if "structural_tag" in first:
        named = {other["name"]: _one(other, width) for other in others if "name" in other}
        return Source.structural_tag(_json.dumps(first["structural_tag"]), grammars=named)
    if others:
        raise unsupported("grammars that name each other are not supported", "write them into one grammar")
    return _one(first, width)


def _one(grammar: Mapping[str, Any], width: int) -> Source:
    """The source of one grammar of a list."""
    kinds = [kind for kind in _KINDS if grammar.get(kind) is not None]
    if len(kinds) != 1:
        raise ValueError(f"a grammar of a list has one of the keys {', '.join(_KINDS)}, not {sorted(grammar)}")
    value = grammar[kinds[0]]
    if not isinstance(value, str) and kinds[0] in ("lark_grammar", "regex", "gbnf_grammar"):
        raise ValueError(f"{kinds[0]} is a text, not {type(value).__name__}")
    match kinds[0]:
        case "lark_grammar":
            return _lark(value, width)
        case "regex":
            return Source.regex(value)
        case "gbnf_grammar":
            return Source.gbnf(value)
        case "structural_tag":
            return Source.structural_tag(_json.dumps(value))
        case _:
            options = value.get(KEY) if isinstance(value, Mapping) else None
            schema = {name: one for name, one in value.items() if name != KEY} if isinstance(value, Mapping) else value
            return Source.json_schema(_json.dumps(schema), whitespace=whitespace(merged(options)))


def _lark(text: str, width: int) -> Source:
    """The source of a Lark grammar. `<[*]>` becomes the ids from 0 to `width` - 1."""
    if "<[*]>" in text:
        text = _ANY.sub(lambda found: found["kept"] or f"<[0-{width - 1}]>", text)
    return Source.lark(text)


def needs_tokens(grammar: Source) -> bool:
    """Whether a grammar may contain special tokens, which are looked up only with a tokenizer."""
    return grammar.notation in ("lark", "gbnf", "structural-tag") and _TOKENS.search(grammar.text) is not None


def message(error: Exception, grammar: Source | None) -> str:
    """The message of an error; for a regular expression it begins with `invalid regex`, as in llguidance."""
    return f"invalid regex: {error}" if grammar is not None and grammar.notation == "regex" else str(error)
