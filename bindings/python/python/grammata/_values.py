"""Results of the library, as data classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Expectation:
    """Bytes and tokens that one part of a grammar expects."""

    rule: str
    """The name of the rule to which the part belongs."""
    label: str | None
    """The label within the rule, for instance the JSON Pointer of a sub-schema; None without a label."""
    bytes: bytes
    """The bytes with which the part may continue, in ascending order."""
    terminals: tuple[str, ...]
    """The token terminals with which the part may continue, in the notation of grammars."""
    text: str
    """The expectation in words."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a grammar allows a text after the accepted bytes, and what it expects otherwise."""

    position: int
    """How many bytes the grammar allows, counted from the beginning of the sequence."""
    found: int | None
    """The first byte that the grammar does not allow; None if it allows all."""
    is_viable: bool
    """Whether the whole text is the beginning of a text of the grammar, or is one."""
    may_end: bool
    """Whether the text could have ended at the position."""
    expected: tuple[Expectation, ...]
    """What the parts of the grammar expected at the position."""
    accepted_tail: bytes
    """The last bytes before the position, at most 32."""
    text: str
    """The explanation in words."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Distance:
    """The smallest number of tokens or bytes after which the text is complete."""

    kind: Literal["exact", "at most", "unreachable", "unknown"]
    """`exact`: `known` is the smallest number. `at most`: `known` is enough, and a smaller number may be too.
    `unreachable`: no number is enough. `unknown`: none was found within the limits."""
    known: int | None
    """A number that is enough; None for `unreachable` and `unknown`."""


@dataclass(frozen=True, slots=True)
class Event:
    """The beginning or the end of a part of the output: a JSON value, or a text of a rule."""

    change: Literal["begin", "end"]
    """Whether the part begins or ends."""
    kind: Literal["object", "array", "string", "number", "boolean", "null", "rule"]
    """The kind of the part."""
    pointer: str
    """The JSON Pointer of a value; empty for the whole text and for rules."""
    start: int
    """The position of the first byte of the part in the output."""
    end: int
    """The position after its last byte; `start` if the part begins."""
    step: int
    """The step that reports the event, counted from 0: a token, or bytes accepted in one call."""
    rule: str | None = None
    """The name of the rule; None for values."""
