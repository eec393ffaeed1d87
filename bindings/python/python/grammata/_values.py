"""What the library tells, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


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


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a plan."""

    action: str
    """The action's name in the spec."""
    text: str = ""
    """What the step spells."""
    elements: tuple[str, ...] = ()
    """Of a set-valued action, the elements taken."""
    outcome: str | None = None
    """Of an action with outcomes, the one that the world chose."""
    arguments: Any = None
    """Of an action with arguments, what they are."""

    def __str__(self) -> str:
        return self.text or self.action


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers that a policy may give."""

    label: str
    """How the choice is shown."""
    cost: int
    """What the action costs, in the spec's unit; 0 for the end."""
    is_end: bool
    """Whether it ends the plan."""
    completable: bool | None
    """Whether it leads to a finished plan, if that was found out."""
    steps_left: int | None
    """The fewest steps from there to a finished plan, if `lookahead` was asked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a policy is asked."""

    text: str
    """The question as a text, choices and all."""
    choices: tuple[Choice, ...]
    """One of them is to be chosen; with `set`, several."""
    set: tuple[int, int] | None
    """How many are to be taken, at least and at most, if the question is for a set."""


class Policy(Protocol):
    """Who chooses: a callable, or an object with the same as `choose` and `scores` (natural logarithms of probabilities, one for
    each choice), which the strategies best-first, beam and a-star ask."""

    def __call__(self, question: Question, /) -> int | str | Sequence[int]:
        """The place of a choice from 0, or its label; of a set, the places."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found out about a plan."""

    is_valid: bool
    """Whether it is a plan of the spec."""
    plan: list[Step] | None = None
    """The plan as it was read, if it is valid."""
    step: int | None = None
    """The first wrong step, from 0; the number of steps if the plan is only not finished."""
    feasible: tuple[str, ...] = ()
    """The actions that may stand there instead."""
    may_end: bool = False
    """Whether the plan might end before that step."""


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """The outcome of a search."""

    plan: list[Step] | None
    """The plan; None says that there is none."""
    score: float | None
    """The natural logarithm of the plan's probability, where the policy knows it."""
    questions: int
    """Questions asked."""
    backtracks: int
    """Steps taken back."""


def plain_plan(plan: Sequence[Any]) -> list[Any]:
    """A plan as JSON has it: steps by their names, or as objects."""
    return [plain_step(step) if isinstance(step, Step) else step for step in plan]


def plain_step(step: Step) -> dict[str, Any]:
    """A step as JSON has it."""
    plain: dict[str, Any] = {"action": step.action}
    if step.elements:
        plain["elements"] = list(step.elements)
    if step.outcome is not None:
        plain["outcome"] = step.outcome
    if step.arguments is not None:
        plain["arguments"] = step.arguments
    return plain
