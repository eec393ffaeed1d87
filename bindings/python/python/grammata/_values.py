"""What the library tells, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one part of a grammar waits for."""

    rule: str
    """The rule."""
    label: str | None
    """The label within the rule, for instance the JSON Pointer of a sub-schema."""
    bytes: bytes
    """The bytes that may come next for its sake, rising."""
    terminals: tuple[str, ...]
    """The token terminals of which a token may come next for its sake, as a grammar shows them."""
    text: str
    """As a person reads it."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a grammar takes a text."""

    position: int
    """How many bytes from the beginning of the sequence are fine."""
    found: int | None
    """The byte at which the text leaves the grammar; None if it does not."""
    is_viable: bool
    """Whether the text can be completed to a word."""
    may_end: bool
    """Whether the text might have ended at the position."""
    expected: tuple[Expectation, ...]
    """What was expected at the position."""
    accepted_tail: bytes
    """The last bytes before the position, 32 at most."""
    text: str
    """As a person reads it."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Distance:
    """How few tokens or bytes lead to a complete text."""

    kind: Literal["exact", "at most", "unreachable", "unknown"]
    """`exact`: this number and no fewer; `at most`: this number, whether fewer would do is not known; `unreachable`: none do;
    `unknown`: none were found within the limits."""
    known: int | None
    """The number that is known to do."""
