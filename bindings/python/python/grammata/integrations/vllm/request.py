"""Translates a request's constraint, as vLLM passes it to a back end, to a source that Grammata compiles."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from grammata import _json
from grammata._errors import usage_error
from grammata._native import Source

ANY_OBJECT = '{"type": "object"}'
"""The schema for requests that ask for any JSON object."""

_WHITE_SPACE = re.compile(r"(?:[ \t\n\r]|\\[tnr]|\\x(?:20|09|0[aAdD])|[\[\]?*+()|]|\{[0-9]+(?:,[0-9]*)?\})*")
"""Patterns that can match only white space of JSON."""

_COMMENT = re.compile(r"(#|//).*$")


@dataclass(frozen=True, slots=True)
class Options:
    """Options for JSON, from a request and the server's configuration."""

    whitespace: str = "free"
    """The argument `whitespace` of `Source.json_schema`."""
    undeclared: Literal["allowed", "refused"] = "allowed"
    """Whether objects may have members that their schema does not declare."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Limits for reading the constraint; the others have their defaults."""

    def with_request(self, params: Any) -> Options:
        """The options changed by those of one request, which are vLLM's `StructuredOutputsParams` or None.

        Raises UsageError for contradicting options and for a `whitespace_pattern` that may match other characters.
        """
        whitespace, undeclared = self.whitespace, self.undeclared
        pattern = getattr(params, "whitespace_pattern", None)
        compact = bool(getattr(params, "disable_any_whitespace", False))
        if pattern is not None and compact:
            raise usage_error(
                "vllm/whitespace",
                "whitespace_pattern and disable_any_whitespace contradict each other",
                found=f"whitespace_pattern={pattern!r}, disable_any_whitespace=True",
                allowed="one of them",
                help="leave one of them out",
            )
        if pattern is not None and not (isinstance(pattern, str) and _WHITE_SPACE.fullmatch(pattern)):
            raise usage_error(
                "vllm/whitespace",
                "whitespace_pattern must match nothing but white space of JSON",
                found=repr(pattern),
                allowed="spaces, \\t, \\n, \\r, classes of them, groups, alternatives and numbers of times",
                help=r"write it as in [ \n]? or [ \t\n\r]{0,8}",
            )
        if pattern is not None:
            whitespace = f"pattern={pattern}"
        elif compact:
            whitespace = "compact"
        if getattr(params, "disable_additional_properties", False):
            undeclared = "refused"
        return replace(self, whitespace=whitespace, undeclared=undeclared)


def source_of(kind: str, spec: str, options: Options) -> Source:
    """The source of a constraint. `kind` is the name of a member of vLLM's `StructuredOutputOptions`.

    Raises UsageError for a kind that is not known, GrammarError for a constraint that cannot be read.
    """
    limits = options.limits
    match kind:
        case "JSON":
            return Source.json_schema(spec, whitespace=options.whitespace, undeclared=options.undeclared, limits=limits)
        case "JSON_OBJECT":
            return Source.json_schema(ANY_OBJECT, whitespace=options.whitespace, limits=limits)
        case "REGEX":
            return Source.regex(spec, dialect="ecma", limits=limits)
        case "GRAMMAR":
            return Source.lark(spec, limits=limits) if is_lark(spec) else Source.gbnf(spec, limits=limits)
        case "CHOICE":
            return _choice(spec, limits)
        case "STRUCTURAL_TAG":
            return Source.structural_tag(_tag(spec), limits=limits)
    raise usage_error(
        "vllm/constraint",
        "a kind of constraint that this package does not know",
        found=kind,
        allowed="JSON, JSON_OBJECT, REGEX, GRAMMAR, CHOICE or STRUCTURAL_TAG",
        help="use a supported version of vLLM, or set GRAMMATA_VLLM=off",
    )


def is_lark(grammar: str) -> bool:
    """Whether a grammar is in the notation of Lark. As in vLLM, it is if it is not empty and no line has `::=` outside
    of its comment."""
    lines = (_COMMENT.sub("", line) for line in grammar.split("\n"))
    return bool(grammar) and not any("::=" in line for line in lines)


def _choice(spec: str, limits: Mapping[str, int]) -> Source:
    """The source for one of several texts, given a JSON list of them or the grammar that vLLM makes of it."""
    try:
        choices = json.loads(spec)
    except ValueError:
        choices = None
    if isinstance(choices, list) and choices and all(isinstance(choice, str) for choice in choices):
        return Source.regex(pattern_of(choices), limits=limits)
    if choices is None and "::=" in spec:
        return Source.gbnf(spec, limits=limits)
    raise usage_error(
        "vllm/choice",
        "a choice is a list of texts",
        found=spec if len(spec) <= 100 else f"{spec[:100]}…",
        allowed='a JSON list of strings that is not empty, such as ["yes", "no"]',
        help="list the texts that the output may be",
    )


def pattern_of(choices: Sequence[str]) -> str:
    """A regular expression that matches exactly these texts, in Rust's dialect."""
    return "|".join("".join(f"\\x{{{ord(character):x}}}" for character in choice) or "(?:)" for choice in choices)


def _tag(spec: str) -> str:
    """A structural tag as the engine reads it. Schemas that are texts, as in the older form, become values."""
    try:
        tag = _json.loads(spec)
    except ValueError:
        return spec
    structures = tag.get("structures") if isinstance(tag, dict) else None
    if not isinstance(structures, list) or not any(_has_text_schema(item) for item in structures):
        return spec
    for item in filter(_has_text_schema, structures):
        try:
            item["schema"] = _json.loads(item["schema"])
        except ValueError:
            return spec
    return _json.dumps(tag)


def _has_text_schema(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("schema"), str)
