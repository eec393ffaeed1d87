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
