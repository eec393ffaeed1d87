"""Structural tags as objects. Their formats are plain dicts; docs/structural-tags.md lists them.

If XGrammar is installed, use the classes of its `xgrammar.structural_tag`: all functions of this package take them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grammata import _json


@dataclass(frozen=True)
class StructuralTagItem:
    """A tag of the older form: the text `begin`, a JSON text of the schema, and the text `end`."""

    begin: str
    schema: Any
    """A JSON Schema: a text, a dict or a Pydantic model."""
    end: str


@dataclass(frozen=True)
class StructuralTag:
    """A structural tag with one format, a dict."""

    format: Any
    type: str = "structural_tag"
    _text: str | None = field(default=None, init=False, repr=False, compare=False)
    """The text that the tag was read from."""

    @staticmethod
    def from_legacy_structural_tag(tags: Sequence[Any], triggers: Sequence[str]) -> StructuralTag:
        """Translates the older form, with items and triggers, to a tag with one format."""
        from grammata.compat.xgrammar.tags import triggered_tags

        return _read(_json.dumps({"type": "structural_tag", "format": triggered_tags(tags, triggers)}))

    @staticmethod
    def from_json(text: str | dict[str, Any]) -> StructuralTag:
        """Reads a structural tag from JSON or a dict. The format is not checked.

        Raises InvalidJSONError; InvalidStructuralTagError if it has another type or no format.
        """
        from grammata.compat.xgrammar.exception import InvalidStructuralTagError
        from grammata.compat.xgrammar.tags import parse_json

        tag = parse_json(text) if isinstance(text, str) else text
        if not isinstance(tag, dict) or tag.get("type") != "structural_tag" or "format" not in tag:
            raise InvalidStructuralTagError('a structural tag is an object {"type": "structural_tag", "format": …}')
        return _read(text) if isinstance(text, str) else StructuralTag(tag["format"])

    def model_dump(self) -> dict[str, Any]:
        """The tag as a dict."""
        return {"type": self.type, "format": self.format}

    def model_dump_json(self, *, indent: int | None = None) -> str:
        """The tag as JSON. Without an indentation, numbers are written as in the text that the tag was read from."""
        if indent is not None:
            return json.dumps(self.model_dump(), indent=indent, ensure_ascii=False)
        return self._kept() or _json.dumps(self.model_dump())

    def _kept(self) -> str | None:
        """The text that the tag was read from, unless its format was changed since."""
        text = self._text
        return text if text is not None and _value(text)["format"] == self.format else None


def _read(text: str) -> StructuralTag:
    """The tag of a text, which is kept: its numbers may have more digits than those of Python."""
    made = StructuralTag(_value(text)["format"])
    object.__setattr__(made, "_text", text)
    return made


def _value(text: str) -> Any:
    return json.loads(text, parse_int=_json.integer)
