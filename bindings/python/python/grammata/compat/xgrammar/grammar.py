"""Grammars before compilation: a text in one of the notations, with the options for reading it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from grammata._native import Source
from grammata.compat.xgrammar import tags
from grammata.compat.xgrammar.ebnf import to_gbnf
from grammata.compat.xgrammar.exception import (
    GrammarCompileError,
    InvalidJSONError,
    InvalidStructuralTagError,
    translated,
    unsupported,
)
from grammata.compat.xgrammar.lark import with_grammars

LAYOUTS = {(",", ":"): "compact", (", ", ": "): "spaced"}
"""The engine's option for white space, by the separators of JSON."""

HANDLE = "# grammata: "
"""The beginning of a handle: the text of a grammar that is not plain GBNF. JSON that `Grammar.from_ebnf` reads
follows."""


class Grammar:
    """A grammar before compilation.

    `str()` returns its GBNF, or a handle in a comment. Both are texts for `from_ebnf` and for `grammar` in structural
    tags. Unlike in XGrammar, the text is not the EBNF of the compiled grammar.
    """

    __slots__ = ("_notation", "_options", "_source", "_text")

    _notation: str
    """The name of the function of `Source` that reads the text."""
    _text: str
    _options: dict[str, Any]
    _source: Source

    def __init__(self) -> None:
        raise TypeError("make grammars with Grammar.from_ebnf, from_json_schema, from_regex or from_structural_tag")

    @classmethod
    def _of(cls, notation: str, text: str, options: Mapping[str, Any] | None = None) -> Grammar:
        """A grammar in one of the notations of `grammata.Source`. Raises RuntimeError if it cannot be read."""
        try:
            text.encode()
        except UnicodeEncodeError as cause:
            raise GrammarCompileError(f"the text of a grammar is not UTF-8: {cause}") from cause
        made = object.__new__(cls)
        made._notation, made._text, made._options = notation, text, dict(options or {})
        # as in XGrammar, any white space unless the options say otherwise
        defaults = {"whitespace": "free"} if notation == "json_schema" else {}
        with translated(*([InvalidStructuralTagError] if notation == "structural_tag" else [])):
            made._source = getattr(Source, notation)(text, **(defaults | made._options))
            made._source.check()
        return made

    @staticmethod
    def from_ebnf(ebnf_string: str, *, root_rule_name: str = "root") -> Grammar:
        """Reads GBNF with XGrammar's macros, or the handle of a grammar. Raises RuntimeError; TypeError for other
        types."""
        if not isinstance(ebnf_string, str):
            raise TypeError(f"a grammar is a str, not {type(ebnf_string).__name__}")
        handle = _handle(ebnf_string)
        if handle is not None:
            return Grammar._of(*handle)
        return Grammar._of("gbnf", to_gbnf(ebnf_string), {"root": root_rule_name} if root_rule_name != "root" else None)

    @staticmethod
    def from_json_schema(
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        print_converted_ebnf: bool = False,
        any_order: bool = False,
    ) -> Grammar:
        """The JSON texts that a schema allows. The schema is a text, a dict or a Pydantic model.

        With `strict_mode`, objects and arrays have no further members unless the schema describes them. With
        `any_order`, properties may come in any order; `required` is still checked, and names do not repeat. Raises
        RuntimeError for a schema that cannot be read, and, without `any_whitespace`, for an indentation and for
        separators that are not in `LAYOUTS`; with it, for separators other than `(",", ":")`; ValueError for a schema of another type.
        """
        text = tags.schema_text(schema)
        options = {"whitespace": layout_option(any_whitespace, indent, separators, max_whitespace_cnt)}
        if strict_mode:
            options["undeclared"] = "refused"
        if any_order:
            options["property_order"] = "any"
        grammar = Grammar._of("json_schema", text, {name: option for name, option in options.items() if option != "free"})
        if print_converted_ebnf:
            print(grammar)
        return grammar

    @staticmethod
    def from_regex(regex_string: str, *, print_converted_ebnf: bool = False) -> Grammar:
        """The texts that a regular expression of ECMA-262 matches as a whole. Raises RuntimeError."""
        grammar = Grammar._of("regex", regex_string, {"dialect": "ecma"})
        if print_converted_ebnf:
            print(grammar)
        return grammar

    @staticmethod
    def from_lark(lark_string: str, *, tokenizer_info: Any = None, named_grammars: Any = None) -> Grammar:
        """A grammar in the notation of Lark. `tokenizer_info` has no effect.

        `named_grammars` are the grammars that the text uses, by their names after `@`. A grammar is a text in Lark, or
        a Grammar of Lark, of a schema without options, or of a pattern that means the same in every dialect. Raises
        RuntimeError; TypeError for values of other types.
        """
        return Grammar._of("lark", with_grammars(lark_string, named_grammars, Grammar))

    @staticmethod
    def from_structural_tag(*args: Any, **kwargs: Any) -> Grammar:
        """A structural tag (a text, a dict or a StructuralTag), or a list of StructuralTagItems and a list of triggers.

        Raises InvalidJSONError, InvalidStructuralTagError; TypeError for other arguments.
        """
        tag = tags.prepared(tags.tag_of(args, kwargs), _format_of_handle)
        return Grammar._of("structural_tag", tags.json_text(tag))

    @staticmethod
    def builtin_json_grammar() -> Grammar:
        """All objects and arrays of JSON. As in XGrammar, other values are not allowed at the top level."""
        return Grammar._of("json_schema", '{"type": ["object", "array"]}', {"undeclared": "refused"})

    @staticmethod
    def concat(*grammars: Grammar) -> Grammar:
        """The texts that consist of a text of each grammar, in order. Raises RuntimeError, TypeError."""
        return _combined("sequence", grammars)

    @staticmethod
    def union(*grammars: Grammar) -> Grammar:
        """The texts of any of the grammars. Raises RuntimeError, TypeError."""
        return _combined("or", grammars)

    def serialize_json(self) -> str:
        """The grammar as JSON, for `deserialize_json`. It is not the JSON that XGrammar writes."""
        return json.dumps({"grammata": [self._notation, self._text, self._options]}, ensure_ascii=False)

    @staticmethod
    def deserialize_json(json_string: str) -> Grammar:
        """Reads what `serialize_json` wrote. Raises InvalidJSONError, or RuntimeError for a grammar that cannot be
        read."""
        try:
            value = json.loads(json_string)["grammata"]
            return Grammar._of(*_parts(value))
        except (ValueError, KeyError, TypeError) as cause:
            raise InvalidJSONError(f"not a grammar that serialize_json wrote: {cause!r}") from cause

    def __str__(self) -> str:
        if self._notation == "gbnf" and not self._options:
            return self._text
        return HANDLE + json.dumps([self._notation, self._text, self._options])

    def __repr__(self) -> str:
        return f"<grammata.compat.xgrammar.Grammar: {self._source!r}>"

    def __eq__(self, other: object) -> bool:
        return self._source == other._source if isinstance(other, Grammar) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._source)

    def _format(self) -> dict[str, Any]:
        """The grammar as a format of a structural tag. Raises RuntimeError if it has options that formats lack."""
        options = dict(self._options)
        if self._notation == "structural_tag":
            return dict(_as_format(tags.parse_json(self._text)))
        made: dict[str, Any] = {"type": self._notation}
        if self._notation == "json_schema":
            made["json_schema"] = tags.parse_json(self._text)
            made["any_order"] = options.pop("property_order", "declared") == "any"
            if options.pop("undeclared", "allowed") == "allowed":
                raise unsupported("a schema with strict_mode=False cannot be a part of another grammar", "use strict_mode=True")
            whitespace = options.pop("whitespace", "free")
            if whitespace != "free":
                made["max_whitespace_cnt"] = most_whitespace(whitespace)
        elif self._notation == "regex":
            made["pattern"] = self._text
            # the dialects differ in few patterns; `\d` is one of them
            options.pop("dialect", None)
        elif self._notation in ("gbnf", "lark"):
            made = {"type": "grammar", "grammar": self._text, "syntax": "lark" if self._notation == "lark" else "ebnf"}
        if options:
            name, value = next(iter(options.items()))
            raise unsupported(f"a grammar with {name}={value!r} cannot be a part of another grammar", "use it alone")
        return made


def _as_format(tag: dict[str, Any]) -> Mapping[str, Any]:
    """The format of a structural tag, also of one in the older form."""
    if "format" in tag:
        return tags.checked_mapping(tag["format"])
    return tags.triggered_tags(tag["structures"], tag["triggers"])


def _combined(kind: str, grammars: tuple[Grammar, ...]) -> Grammar:
    if not grammars:
        raise unsupported("a combination of no grammars has no meaning", "give at least one grammar")
    for grammar in grammars:
        if not isinstance(grammar, Grammar):
            raise TypeError(f"expected a Grammar, not {type(grammar).__name__}")
    tag = {"type": "structural_tag", "format": {"type": kind, "elements": [grammar._format() for grammar in grammars]}}
    return Grammar._of("structural_tag", tags.json_text(tag))


def _handle(text: str) -> tuple[str, str, dict[str, Any]] | None:
    """The notation, the text and the options in a handle; None for other texts. Raises RuntimeError."""
    if not text.startswith(HANDLE):
        return None
    return _parts(tags.parse_json(text.removeprefix(HANDLE)))


def _parts(value: Any) -> tuple[str, str, dict[str, Any]]:
    """The notation, the text and the options in the JSON value of a grammar. Raises RuntimeError."""
    match value:
        case [str(notation), str(source), dict(options)] if notation in ("json_schema", "regex", "structural_tag", "gbnf", "lark"):
            return notation, source, options
    raise unsupported("the text of a grammar is damaged", "give the text as str(grammar) has made it")


def _format_of_handle(text: str) -> dict[str, Any] | None:
    handle = _handle(text)
    return None if handle is None else Grammar._of(*handle)._format()


def layout_option(any_whitespace: bool, indent: int | None, separators: tuple[str, str] | None, most: int | None) -> str:
    """The engine's option for the white space of JSON. Raises RuntimeError for a layout without one."""
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
        raise unsupported(f"max_whitespace_cnt={most!r} is not a positive integer", "leave it out for any amount")
    if any_whitespace:
        if separators is not None and tuple(separators) != (",", ":"):
            raise unsupported(
                f"separators={tuple(separators)!r} are not supported with any_whitespace=True",
                'leave them out, or use any_whitespace=False with (",", ":") or (", ", ": ")',
            )
        return "free" if most is None else f"max={most}"
    if indent is not None:
        raise unsupported(f"indent={indent!r} is not supported", "leave it out, or use any_whitespace=True")
    found = (", ", ": ") if separators is None else tuple(separators)
    if found not in LAYOUTS:
        raise unsupported(
            f"separators={found!r} are not supported with any_whitespace=False",
            'use (",", ":") or (", ", ": "), or any_whitespace=True',
        )
    return LAYOUTS[found]


def most_whitespace(layout: str) -> int:
    """The `max_whitespace_cnt` of a format, for a layout that is not "free". Raises RuntimeError for "spaced"."""
    if layout == "spaced":
        raise unsupported("a space after each comma is not supported in a structural tag", 'use separators=(",", ":")')
    return 0 if layout == "compact" else int(layout.removeprefix("max="))
