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
    """The chosen elements of a set-valued action; empty for other actions."""
    outcome: str | None = None
    """The outcome of the step; None if its action has no outcomes."""
    arguments: Any = None
    """The arguments as a JSON value; None if the action has none."""

    def __str__(self) -> str:
        return self.text or self.action


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the answers that a policy may give."""

    label: str
    """The text of the choice. A policy may answer with it."""
    cost: int
    """The cost of the action, in the spec's unit; 0 for the end."""
    is_end: bool
    """Whether the choice ends the plan."""
    completable: bool | None
    """Whether the choice can lead to a finished plan; None if that is not known."""
    steps_left: int | None
    """The fewest steps after the choice to a finished plan; None if not known, for instance without `lookahead`."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question to a policy which choice to take next."""

    text: str
    """The text of the question, with its choices."""
    choices: tuple[Choice, ...]
    """The choices. The answer is one of them, or several if there is a `set`."""
    set: tuple[int, int] | None
    """The least and the greatest number of choices if the answer is a set; None if it is one choice."""


class Policy(Protocol):
    """Answers the questions of a search: a callable, or an object with a method `choose` of the same signature.

    The strategies best-first, beam and a-star call a method `scores` instead. It returns the natural logarithms of
    probabilities, one for each choice."""

    def __call__(self, question: Question, /) -> int | str | Sequence[int]:
        """The index of a choice, from 0, or its label; for a set, the indices."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a plan."""

    is_valid: bool
    """Whether the plan is in the language of the spec."""
    plan: list[Step] | None = None
    """The plan as it was read; None if it is not valid."""
    step: int | None = None
    """The first wrong step, from 0; the number of steps if only the end is missing; None if the plan is valid."""
    feasible: tuple[str, ...] = ()
    """The actions that the spec allows at that step; empty if the plan is valid."""
    may_end: bool = False
    """Whether the plan may end before that step; false if the plan is valid."""


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """The plan that a search found, and what the search cost."""

    plan: list[Step] | None
    """The plan; None if none was found."""
    score: float | None
    """The natural logarithm of the plan's probability; None if the policy gives no probabilities."""
    questions: int
    """The number of questions that the search asked."""
    backtracks: int
    """The number of steps that were undone."""


class Scores:
    """A policy made of a function that returns the score of each choice of a question: the natural logarithm of its
    probability. The strategies best-first, beam and a-star use the scores. The others get the best choice."""

    def __init__(self, score: Callable[[Question], Sequence[float]]) -> None:
        self.scores = score

    def __call__(self, question: Question, /) -> Sequence[int]:
        """The index of the best choice, in a list; for a set, as many indices of the best ones as its least number."""
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
    """The JSON Schema of the arguments; None if the action has none."""
    elements: tuple[str, ...]
    """The elements from which a set-valued action chooses; empty for other actions."""
    takes: tuple[int, int] | None
    """The least and the greatest number of elements of a set-valued action; None for other actions."""
    outcomes: tuple[str, ...]
    """The possible outcomes of the action; empty if it has none."""
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
"""Why a call or an answer is not allowed. `docs/procedures.md` explains the codes. `schema`: an argument is no value
of its JSON Schema."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a call or an answer is not allowed."""

    code: ObstacleCode
    """The kind of the obstacle, in one word."""
    text: str
    """The reason as a sentence, for a model or a log."""
    node: str | None = None
    """`precondition`: the name of what must come before. `stale`: the earlier call that had another value."""
    slot: str | None = None
    """The argument that is wrong or missing, or whose value nobody gave."""
    condition: str | None = None
    """`guard`: the condition that is false. `blocking`: the outcome after which the end may become unreachable."""
    values: str | None = None
    """`guard`: the values that the condition reads, as text."""
    limit: int | None = None
    """`limit`: the greatest number of calls of the API."""
    schema: Any = None
    """`schema`: the JSON Schema of the argument; false if the call has no such argument."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class OpenNode:
    """A call or an answer that may come next in a conversation under a procedure."""

    name: str
    """The name of the call or the answer in the procedure."""
    kind: Literal["api", "inform", "request", "courtesy", "out_of_workflow"]
    """`api` for a call; the kind of the answer otherwise."""
    description: str
    """The description of the call, or the text of the answer with `$slot` in the place of values."""
    arguments: dict[str, Any] | None
    """The JSON Schema of the arguments that the call may have now; None for an answer."""
    text: str
    """The text of the answer with the known values filled in."""
    asks: tuple[str, ...]
    """The slots for which a request asks."""
    decides: tuple[str, ...]
    """The slots that the user decides after the answer."""
    writes: bool
    """Whether the call has an effect."""
    is_closing: bool
    """Whether the procedure is complete after this answer."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A call or an answer of a trace that breaks the procedure."""

    event: int
    """The index of the event in the trace, from 0."""
    node: str
    """The name that was called or said."""
    obstacle: Obstacle
    """The first rule that the call or the answer breaks."""


@dataclass(frozen=True, slots=True)
class ProcedureVerdict:
    """The verdict on a trace."""

    is_valid: bool
    """Whether no call and no answer of the trace breaks the procedure."""
    steps: int
    """The number of judged calls and answers."""
    is_complete: bool
    """Whether the agent gave a closing answer at a point where it was allowed."""
    violations: tuple[Violation, ...]
    """The calls and answers that break a rule, in the order of the trace."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a document."""

    name: str
    """The name, unique among the tools that can be called."""
    description: str
    """The description: text from an untrusted source, never an instruction."""
    arguments: dict[str, Any] | bool
    """The JSON Schema of the arguments."""
    label: str
    """The label of the document that declares the tool."""
    place: str
    """Where the document declares the tool."""
    endpoint: tuple[str, str, str | None] | None
    """Method, path and server of an operation; None for a tool that the host executes."""
    refusal: Diagnostic | None
    """Why the tool cannot be called; None if it can."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool in a turn of a model."""

    name: str
    """The name of the tool."""
    arguments: dict[str, Any]
    """The arguments by name."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a model after parsing."""

    text: str
    """The text before the calls; without calls, all of it."""
    calls: tuple[ToolCall, ...]
    """The calls, in the order of the text."""
    after: str
    """The text after the calls; empty without calls."""


@dataclass(frozen=True, slots=True)
class Request:
    """The HTTP request that carries out a call of an OpenAPI operation. The package does not send it."""

    method: str
    """The method, in capitals."""
    url: str
    """The address, percent-encoded."""
    headers: dict[str, str]
    """The headers, in the order of the document."""
    body: str | None
    """The body; None if the request has none."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """How many plans continue from a point of a walk, and how long they are."""

    plans: int | float
    """The number of plans; `math.inf` if they have no maximum length."""
    fewest: int
    """The number of calls that the shortest plan still has."""
    most: int | None
    """The number of calls that the longest plan still has; None if there is no maximum."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that may come next in a flow."""

    call: str
    """The argument for `FlowWalk.take`: the API, with `=outcome` if it has outcomes."""
    api: str
    """The name of the API."""
    outcome: str | None
    """The outcome of this call; None for an API without outcomes."""
    description: str
    """The description of the API."""
    arguments: dict[str, tuple[str, ...]]
    """The sources of each available datum that the API takes: earlier calls, or "given"."""
    steps: tuple[str, ...]
    """The steps that the call may carry out."""
    flows: tuple[str, ...]
    """The flows that are still possible after the call."""
    ahead: Ahead
    """The plans that continue after the call."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of a domain."""

    id: str
    """The id of the flow in its domain."""
    intent: str
    """The intent of the customer."""
    steps: tuple[str, ...]
    """The texts of its steps, in order."""


@dataclass(frozen=True, slots=True)
class FlowVerdict:
    """The verdict on the calls of a conversation."""

    is_valid: bool
    """Whether the calls are a plan of the domain."""
    call: int | None
    """The first wrong call, from 0; the number of calls if only the end is missing; None if the calls are valid."""
    feasible: tuple[str, ...]
    """The calls that are allowed at that point; empty if the calls are valid."""
    may_end: bool
    """Whether the plan may end before that call; true if the calls are valid."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that a search in a `ToolIndex` found."""

    id: str
    """The id of the tool in the index."""
    name: str
    """The name of the tool."""
    function: str
    """The name by which models call it: letters, digits, `_` and `-`."""
    description: str
    """The description of the tool."""
    score: float
    """The score by which the index ranks; higher is better."""
    query: str
    """The query that found the tool."""
    rank: int
    """The rank of the tool for that query, from 1."""


def plain_plan(plan: Sequence[Any]) -> list[Any]:
    """A plan as a JSON value. A `Step` becomes an object; other elements, such as names, stay as they are."""
    return [plain_step(step) if isinstance(step, Step) else step for step in plan]


def plain_step(step: Step) -> dict[str, Any]:
    """A step as a JSON object: `action`, and `elements`, `outcome` and `arguments` where the step has them."""
    plain: dict[str, Any] = {"action": step.action}
    if step.elements:
        plain["elements"] = list(step.elements)
    if step.outcome is not None:
        plain["outcome"] = step.outcome
    if step.arguments is not None:
        plain["arguments"] = step.arguments
    return plain
