"""Structural tags: tool calls in the middle of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammata.compat.llguidance.errors import unsupported
from grammata.compat.llguidance.options import parsed
from grammata.compat.llguidance.sources import grammar_list

ANY_TEXT = (r"(.|\n)*", r"[\s\S]*", r"(?s:.*)", r"(?s:.)*")
"""Patterns that match any text."""


class StructTag:
    """A tag in running text. After `trigger`, the text continues as one of the tags with this trigger.

    A tag is the text `begin`, which begins with the trigger, a text of `grammar`, and the text `end`. `grammar` is a
    JSON Schema (a text or a dict), a Lark grammar with the rule `start`, or a grammar as
    `LLMatcher.grammar_from_json_schema` returns it.
    """

    def __init__(self, *, trigger: str, begin: str, grammar: str | dict[str, Any], end: str) -> None:
        self.trigger, self.begin, self.grammar, self.end = trigger, begin, grammar, end
        self._validate()

    def _validate(self) -> None:
        assert self.trigger, "trigger must not be empty"
        assert self.begin.startswith(self.trigger), "begin must start with trigger"

    @staticmethod
    def to_grammar(tags: list[StructTag], *, assume_special: bool = True, text_regex: str = ANY_TEXT[0]) -> str:
        """The grammar of any text with these tags in it, as a string.

        With `assume_special`, triggers of the form `<…>` are special tokens. Raises AssertionError for bad tags,
        UnsupportedError if `text_regex` is not in `ANY_TEXT`, ValueError for a grammar that is no text and no object.
        """
        assert len(tags) > 0, "tags must not be empty"
        if text_regex not in ANY_TEXT:
            raise unsupported(f"text_regex={text_regex!r} is not supported", "leave it out: text between tags is any text")
        texts: list[dict[str, Any]] = []
        specials: list[dict[str, Any]] = []
        others: list[dict[str, Any]] = []
        triggers: list[str] = []
        for place, tag in enumerate(tags):
            assert hasattr(tag, "_validate"), "tags must be StructTag instances"
            tag._validate()
            name = f"tag_{place}_grm"
            others.append({"name": name, **_grammar(tag.grammar)})
            content: dict[str, Any] = {"type": "grammar", "name": name}
            if assume_special and tag.trigger.startswith("<") and tag.trigger.endswith(">"):
                rest = tag.begin[len(tag.trigger) :]
                parts = [{"type": "const_string", "value": rest}, content] if rest else [content]
                begin = {"type": "token", "token": tag.trigger}
                specials.append({"type": "tag", "begin": begin, "content": {"type": "sequence", "elements": parts}, "end": tag.end})
            else:
                texts.append({"begin": tag.begin, "content": content, "end": tag.end})
                triggers += [] if tag.trigger in triggers else [tag.trigger]
        text: dict[str, Any] = {"type": "triggered_tags", "triggers": triggers, "tags": texts} if texts else {"type": "any_text"}
        format_ = text
        if specials:
            # text contains no special tokens, so it ends before one
            call = {"type": "sequence", "elements": [text, {"type": "or", "elements": specials}]}
            format_ = {"type": "sequence", "elements": [{"type": "star", "content": call}, text]}
        return grammar_list("structural_tag", {"type": "structural_tag", "format": format_}, *others, name="struct_tag")


def _grammar(grammar: Any) -> dict[str, Any]:
    """The entry of a list of grammars for the grammar of a tag. Raises ValueError."""
    if isinstance(grammar, str) and not grammar.lstrip().startswith("{"):
        return {"lark_grammar": grammar}
    value = parsed(grammar)
    if not isinstance(value, Mapping):
        raise ValueError("grammar must be a string or a dictionary")
    # the result of `LLMatcher.grammar_from_json_schema` begins with a brace too, and is no schema
    grammars = value["grammars"] if list(value) == ["grammars"] else None
    if isinstance(grammars, list):
        if len(grammars) != 1:
            raise unsupported("a tag with several grammars is not supported", "give a tag one grammar")
        return {key: part for key, part in grammars[0].items() if key != "name"}
    return {"json_schema": dict(value)}
