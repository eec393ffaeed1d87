"""llguidance's options of JSON Schemas (`JsonCompileOptions`), and the options of the engine that they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from grammata import _json
from grammata.compat.llguidance.errors import unsupported

KEY = "x-guidance"
"""The keyword of a schema whose value is the options."""

_ALL_ESCAPES = frozenset('nrbtf\\"u')


class JsonCompileOptions(TypedDict, total=False):
    """Options for reading a JSON Schema. `None` is the same as a missing option."""

    item_separator: str | None
    """`,` by default. `, ` needs the `key_separator` `: ` and no flexible white space."""
    key_separator: str | None
    """`:` by default. `: ` needs the `item_separator` `, ` and no flexible white space."""
    whitespace_pattern: str | None
    """A regular expression for the white space between tokens of JSON."""
    whitespace_flexible: bool | None
    """Whether white space is allowed between tokens of JSON. True by default."""
    coerce_one_of: bool | None
    """No effect: `oneOf` is exact."""
    lenient: bool | None
    """No effect: no keyword is ignored."""
    json_allowed_escapes: str | None
    """All letters of JSON's escapes, in any order. Other values raise UnsupportedError."""
    json_allow_general_unicode_escapes: bool | None
    """No effect: such escapes are always allowed."""


_SEPARATORS = {(",", ":"): "compact", (", ", ": "): "spaced"}


def parsed(text: Any) -> Any:
    """The value of a JSON text, with numbers that keep their text; other values are returned as they are. Raises
    ValueError."""
    return _json.loads(text) if isinstance(text, str) else text


def merged(*layers: Any) -> dict[str, Any]:
    """Merges options: later layers win. A layer is None, a mapping, or JSON of one. Raises ValueError."""
    options: dict[str, Any] = {}
    for layer in layers:
        value = parsed(layer)
        if value is not None:
            if not isinstance(value, Mapping):
                raise ValueError(f"options are an object, not {type(value).__name__}")
            options |= value
    return options


def whitespace(options: Mapping[str, Any]) -> str:
    """The engine's option for white space. Raises UnsupportedError for options that have no counterpart."""
    unknown = sorted(options.keys() - JsonCompileOptions.__annotations__.keys())
    if unknown:
        raise unsupported(f"{KEY}: unknown option {unknown[0]!r}", f"options are {', '.join(JsonCompileOptions.__annotations__)}")
    given = {name: value for name, value in options.items() if value is not None}
    escapes = given.get("json_allowed_escapes")
    if escapes is not None and set(escapes) != _ALL_ESCAPES:
        raise unsupported(f"json_allowed_escapes={escapes!r} is not supported", "leave it out: all escapes of JSON are allowed")
    separators = given.get("item_separator", ","), given.get("key_separator", ":")
    layout = _SEPARATORS.get(separators)
    pattern = given.get("whitespace_pattern")
    is_flexible = given.get("whitespace_flexible", True)
    if layout is None or (layout == "spaced" and (is_flexible or pattern is not None)):
        raise unsupported(
            f"the separators {separators!r} are not supported here", 'use "," and ":", or ", " and ": " with whitespace_flexible=False'
        )
    if pattern is not None:
        return f"pattern={pattern}"
    return "free" if is_flexible else layout
