"""Results of the library, as data classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from grammata_agents._errors import Diagnostic


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a plan."""

    action: str
    """The action's name in the spec."""
    text: str = ""
    """The word of the step, as plans write it."""
    elements: tuple[str, ...] = ()
    """The chosen elements of a set-valued action."""
    outcome: str | None = None
    """The outcome of the step, if its action has outcomes."""
    arguments: Any = None
    """The arguments, if the action has any."""

    def __str__(self) -> str:
        return self.text or self.action


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers that a policy may give."""

    label: str
    """The label of the choice."""
    cost: int
    """The cost of the action, in the spec's unit; 0 for the end."""
    is_end: bool
    """Whether the choice ends the plan."""
    completable: bool | None
    """Whether the choice can lead to a finished plan; None if that is not known."""
    steps_left: int | None
    """The fewest steps after the choice to a finished plan; None if not known, as without `lookahead`."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a policy."""

    text: str
    """The text of the question, with its choices."""
    choices: tuple[Choice, ...]
    """The choices. The answer is one of them, or several if there is a `set`."""
    set: tuple[int, int] | None
    """The least and the greatest number of choices, if the answer is a set."""


class Policy(Protocol):
    """Who chooses: a callable, or an object with the same as `choose` and with `scores` (natural logarithms of
    probabilities, one for each choice), which the strategies best-first, beam and a-star ask."""

    def __call__(self, question: Question, /) -> int | str | Sequence[int]:
        """The place of a choice from 0, or its label; of a set, the places."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a plan."""

    is_valid: bool
    """Whether the plan is one of the spec."""
    plan: list[Step] | None = None
    """The plan as it was read, if it is valid."""
    step: int | None = None
    """The first wrong step, from 0; the number of steps if the plan is only not finished."""
    feasible: tuple[str, ...] = ()
    """The actions that are allowed there."""
    may_end: bool = False
    """Whether the plan may end before that step."""


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """The outcome of a search."""

    plan: list[Step] | None
    """The plan; None if none was found."""
    score: float | None
    """The natural logarithm of the plan's probability, if the policy gives probabilities."""
    questions: int
    """The number of questions."""
    backtracks: int
    """The number of steps that were undone."""


class Scores:
    """A policy from a function that scores the choices of a question: natural logarithms of probabilities. The
    strategies best-first, beam and a-star ask for the scores; greedy takes the best choice."""

    def __init__(self, score: Callable[[Question], Sequence[float]]) -> None:
        self.scores = score

    def __call__(self, question: Question, /) -> Sequence[int]:
        """The best choice; of a set, as few as may be."""
        scores = self.scores(question)
        best = sorted(range(len(question.choices)), key=lambda place: -scores[place])
        return sorted(best[: question.set[0] if question.set else 1])


@dataclass(frozen=True, slots=True)
class OpenAction:
    """An action that may come next in a plan."""

    name: str
    """The name of the action in the spec."""
    label: str
    """The label of the action."""
    cost: int
    """The cost, in the spec's unit."""
    arguments: dict[str, Any] | None
    """The JSON Schema of its arguments, if it has any."""
    elements: tuple[str, ...]
    """The elements from which a set-valued action chooses."""
    takes: tuple[int, int] | None
    """The least and the greatest number of elements of a set-valued action."""
    outcomes: tuple[str, ...]
    """The possible outcomes of the action, if it has any."""
    completable: bool | None
    """Whether a finished plan can be reached after the action; None if that is not known."""
    steps_left: int | None
    """The fewest steps after the action to a finished plan; None if not known."""


ObstacleCode = Literal[
    "again",
    "argument",
    "blocking",
    "cancelled",
    "guard",
    "limit",
    "order",
    "precondition",
    "schema",
    "stale",
    "unknown",
    "unsaid",
]
"""Why a call or an answer may not come; `docs/procedures.md` explains them. `schema`: an argument is not a value that
the call may have."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a call or an answer is not allowed."""

    code: ObstacleCode
    """The kind."""
    text: str
    """The reason as a sentence, for a model or a log."""
    node: str | None = None
    """`precondition`: what must come before. `stale`: the call that has another value."""
    slot: str | None = None
    """The argument that is wrong, missing, or was not said by anybody."""
    condition: str | None = None
    """`guard`: the condition that does not hold. `blocking`: the outcome after which the end is not certain."""
    values: str | None = None
    """`guard`: the values that the condition reads."""
    limit: int | None = None
    """`limit`: the most calls."""
    schema: Any = None
    """`schema`: the JSON Schema of the argument; false if the call has no such argument."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class OpenNode:
    """A call or an answer that may come next in a conversation under a procedure."""

    name: str
    """Its name."""
    kind: Literal["api", "inform", "request", "courtesy", "out_of_workflow"]
    """A call, or the kind of the answer."""
    description: str
    """The description of the call, or the text of the answer with `$slot` for values."""
    arguments: dict[str, Any] | None
    """The JSON Schema of the arguments that a call may have now."""
    text: str
    """The text of an answer with values filled in."""
    asks: tuple[str, ...]
    """The slots that a request asks for."""
    decides: tuple[str, ...]
    """The slots that the user decides after it."""
    writes: bool
    """Whether the call has an effect."""
    is_closing: bool
    """Whether the procedure is complete once it was said."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A call or an answer of a trace that breaks the procedure."""

    event: int
    """The event, from 0."""
    node: str
    """The name that was called or said."""
    obstacle: Obstacle
    """The first rule that it breaks."""


@dataclass(frozen=True, slots=True)
class ProcedureVerdict:
    """The verdict on a trace."""

    is_valid: bool
    """Whether the trace complies with the procedure."""
    steps: int
    """The number of judged calls and answers."""
    is_complete: bool
    """Whether a closing answer was said where it may be."""
    violations: tuple[Violation, ...]
    """Those that break a rule, in order."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a document."""

    name: str
    """The name, unique among the tools that can be called."""
    description: str
    """The description: text from an untrusted source, never an instruction."""
    arguments: dict[str, Any] | bool
    """The JSON Schema of its arguments."""
    label: str
    """The label of its document."""
    place: str
    """Where the document declares it."""
    endpoint: tuple[str, str, str | None] | None
    """Method, path and server of an operation; None for a tool that the host executes."""
    refusal: Diagnostic | None
    """Why the tool cannot be called; None if it can."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool."""

    name: str
    """The tool."""
    arguments: dict[str, Any]
    """The arguments."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a model after parsing."""

    text: str
    """The text before the calls; without calls, all of it."""
    calls: tuple[ToolCall, ...]
    """The calls."""
    after: str
    """The text after the calls."""


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request."""

    method: str
    """The method, in capitals."""
    url: str
    """The address, percent-encoded."""
    headers: dict[str, str]
    """The headers, in the order of the document."""
    body: str | None
    """The body."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Plans of a domain from some place on."""

    plans: int | float
    """The number of plans; `math.inf` if they have no maximum length."""
    fewest: int
    """The number of calls of the shortest plan."""
    most: int | None
    """The number of calls of the longest plan; None without a maximum length."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that may come next in a flow."""

    call: str
    """The argument for `FlowWalk.take`: the API, with `=outcome` if it has outcomes."""
    api: str
    """The API."""
    outcome: str | None
    """What it answers, if that matters."""
    description: str
    """The description of the API."""
    arguments: dict[str, tuple[str, ...]]
    """The sources of each available datum that the API takes: earlier calls, or "given"."""
    steps: tuple[str, ...]
    """The steps that the call may carry out."""
    flows: tuple[str, ...]
    """The flows that are still possible after it."""
    ahead: Ahead
    """The plans after it."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of a domain."""

    id: str
    """Its id."""
    intent: str
    """The intent of the customer."""
    steps: tuple[str, ...]
    """The texts of its steps, in order."""


@dataclass(frozen=True, slots=True)
class FlowVerdict:
    """The verdict on the calls of a conversation."""

    is_valid: bool
    """Whether the calls are a plan."""
    call: int | None
    """The first wrong call, from 0; the number of calls if the plan is only not finished."""
    feasible: tuple[str, ...]
    """The calls that are allowed there."""
    may_end: bool
    """Whether the plan may end before that call."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that was found."""

    id: str
    """Its id in the index."""
    name: str
    """Its name."""
    function: str
    """The name by which models call it: letters, digits, `_` and `-`."""
    description: str
    """What it does."""
    score: float
    """The score by which the index ranks; higher is better."""
    query: str
    """The query that found the tool."""
    rank: int
    """The rank of the tool for that query, from 1."""


def plain_plan(plan: Sequence[Any]) -> list[Any]:
    """A plan as a JSON value: steps as names or objects."""
    return [plain_step(step) if isinstance(step, Step) else step for step in plan]


def plain_step(step: Step) -> dict[str, Any]:
    """A step as a JSON value."""
    plain: dict[str, Any] = {"action": step.action}
    if step.elements:
        plain["elements"] = list(step.elements)
    if step.outcome is not None:
        plain["outcome"] = step.outcome
    if step.arguments is not None:
        plain["arguments"] = step.arguments
    return plain
