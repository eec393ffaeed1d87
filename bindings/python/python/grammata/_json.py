"""JSON without loss: numbers keep the text that they have.

`json.loads` reads numbers as floats, so `0.1234567890123456789` loses digits and `1e400` becomes infinite. A schema that
passes through a look-alike or a host must keep its text. `loads` reads numbers as `Number`, and `dumps` writes their
texts. Other values are those of `json`; Python's numbers are written as `json.dumps` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

MAX_DEPTH = 512
"""Maximum number of nested levels that `dumps` writes. Circular values are deeper."""


class Number:
    """A number of JSON: its text. Two numbers are equal if their texts are."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Number) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)


class _Written(str):
    """Text that is already JSON."""

    __slots__ = ()


_END_OF_OBJECT, _END_OF_LIST = _Written("}"), _Written("]")


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def loads(text: str) -> Any:
    """The value of a JSON text, with numbers as `Number`. Of equal names the last one counts, at the place of the first, as in
    the engine. Raises ValueError, also for a text that is nested too deeply."""
    try:
        return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_constant)
    except RecursionError as cause:
        raise ValueError("JSON is nested too deeply") from cause


def integer(text: str) -> int | Number:
    """An integer of JSON as a value of Python; a `Number` if Python refuses to read as many digits."""
    try:
        return int(text)
    except ValueError:
        return Number(text)


def dumps(value: Any) -> str:
    """The JSON text of a value, which may contain `Number`s.

    Raises ValueError for numbers that JSON does not have, and for values that are circular or nested too deeply;
    TypeError for values of other types.
    """
    written: list[str] = []
    waiting: list[Any] = [value]
    depth = 0
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Written):
            written.append(item)
            depth -= item is _END_OF_OBJECT or item is _END_OF_LIST
        elif isinstance(item, Number):
            written.append(item.text)
        elif isinstance(item, (Mapping, list, tuple)):
            depth += 1
            if depth > MAX_DEPTH:
                raise ValueError(f"a value that is circular, or nested more than {MAX_DEPTH} levels deep")
            _open(item, written, waiting)
        else:
            written.append(_scalar(item))
    return "".join(written)


def _scalar(value: Any) -> str:
    """The text of a value without parts. Characters stay as they are, except for halves of surrogate pairs."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    return text if text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text) else json.dumps(value)


def _open(item: Any, written: list[str], waiting: list[Any]) -> None:
    """Begins an object or a list. What follows is put on the stack `waiting`, the last part first."""
    if not isinstance(item, Mapping):
        written.append("[")
        waiting.append(_END_OF_LIST)
        for place in range(len(item) - 1, -1, -1):
            waiting.append(item[place])
            if place:
                waiting.append(_Written(", "))
        return
    written.append("{")
    waiting.append(_END_OF_OBJECT)
    members = list(item.items())
    for place in range(len(members) - 1, -1, -1):
        name, one = members[place]
        # names that are not texts are written as `json.dumps` writes them
        key = f"{_scalar(name)}: " if isinstance(name, str) else json.dumps({name: 0})[1:-2]
        waiting += [one, _Written(f"{', ' if place else ''}{key}")]
