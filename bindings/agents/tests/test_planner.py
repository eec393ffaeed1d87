"""Plans step by step: what is open, why other actions are not, arguments, outcomes, and undoing steps."""

import random

import grammata_agents
import pytest
from grammata_agents import Plans, RejectedError, Scores

SHOP = {
    "kind": "dfa",
    "start": "s",
    "accepting": ["end"],
    "symbols": {
        "ask": {"text": "Ask", "outcomes": {"yes": {"set": "agreed"}, "no": {}}},
        "buy": {
            "text": "Buy {}",
            "requires": "agreed",
            "arguments": {
                "type": "object",
                "properties": {"count": {"type": "integer", "minimum": 1}},
                "required": ["count"],
                "additionalProperties": False,
            },
        },
        "leave": {},
    },
    "transitions": [
        {"from": "s", "input": "ask", "to": "asked"},
        {"from": "asked", "input": ["buy", "leave"], "to": "end"},
    ],
}


def names(planner: grammata_agents.Planner) -> list[str]:
    return [action.name for action in planner.open()]


def test_outcomes_decide_what_is_open():
    planner = Plans(SHOP).planner()
    (ask,) = planner.open()
    assert (ask.name, ask.label, ask.outcomes, ask.arguments, ask.steps_left) == ("ask", "Ask", ("yes", "no"), None, 1)
    assert not planner.may_end() and planner.reasons("ask") is None
    planner.take("ask", outcome="no")
    assert names(planner) == ["leave"] and planner.reasons("buy") == ["`buy` requires agreed"]
    assert planner.reasons("ask") == []
    assert planner.back() == 1 and planner.plan == []
    planner.take("ask", outcome="yes", data={"seen": 1})
    assert names(planner) == ["buy", "leave"]
    step = planner.take("buy", arguments={"count": 2})
    assert (step.action, step.arguments, step.text) == ("buy", {"count": 2}, 'Buy {"count":2}')
    assert planner.is_finished() and planner.may_end() and planner.open() == []
    assert Plans(SHOP).verify(planner.plan).is_valid
    assert planner.back(9) == 2 and planner.back() == 0


def test_tools_of_open_actions():
    planner = Plans(SHOP).planner()
    assert planner.tools() == [
        {
            "type": "function",
            "function": {
                "name": "ask",
                "description": "Ask",
                "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
            },
        }
    ]
    planner.take("ask", outcome="yes")
    buy, _ = planner.tools()
    assert buy["function"]["parameters"] == SHOP["symbols"]["buy"]["arguments"]


WRONG = [
    ("leave", {}, "plan/step-not-allowed"),
    ("fly", {}, "plan/step-not-allowed"),
    ("ask", {}, "environment/forbidden"),
    ("ask", {"outcome": "maybe"}, "environment/forbidden"),
    ("ask", {"outcome": "yes", "facts": {"tired": True}}, "environment/forbidden"),
    ("ask", {"outcome": "yes", "facts": [1]}, "python/not-an-object"),
    ("ask", {"outcome": "yes", "data": {1, 2}}, "python/not-json"),
]


@pytest.mark.parametrize(("action", "keywords", "code"), WRONG, ids=[f"{one[0]}-{n}" for n, one in enumerate(WRONG)])
def test_wrong_steps_change_nothing(action, keywords, code):
    planner = Plans(SHOP).planner()
    with pytest.raises(grammata_agents.AgentsError) as caught:
        planner.take(action, **keywords)
    assert caught.value.code == code and caught.value.help
    assert planner.plan == [] and names(planner) == ["ask"]


def test_wrong_arguments_have_their_place():
    planner = Plans(SHOP).planner()
    planner.take("ask", outcome="yes")
    for arguments in ({"count": 0}, {"count": "two"}, {}, {"count": 1, "more": 1}, None):
        with pytest.raises(RejectedError) as caught:
            planner.take("buy", arguments=arguments)
        assert caught.value.code == "plan/wrong-arguments"


def test_sets_are_taken_by_their_elements():
    spec = {
        "kind": "cfg",
        "symbols": {"pack": {"text": "Pack {}", "set": {"of": ["socks", "book", "map"], "min": 1, "max": 2}}},
        "start": "s",
        "rules": {"s": ["pack"]},
    }
    planner = Plans(spec).planner()
    (pack,) = planner.open()
    assert (pack.elements, pack.takes) == (("socks", "book", "map"), (1, 2))
    (tool,) = planner.tools()
    assert tool["function"]["parameters"]["properties"]["elements"]["maxItems"] == 2
    with pytest.raises(grammata_agents.AgentsError):
        planner.take("pack", elements=["socks", "book", "map"])
    assert planner.take("pack", elements=["map", "socks"]).elements == ("socks", "map")


def test_random_walks_end_in_valid_plans(root):
    """Each open action can be taken, each other action is refused, and every walk ends."""
    spec = (root / "grammars/risk-management/spec.toml").read_text()
    plans = Plans(spec)
    for seed in range(3):
        random_, planner = random.Random(seed), plans.planner(max_free_steps=6)
        while not planner.is_finished():
            open_ = planner.open()
            if planner.may_end() and random_.random() < 0.3:
                break
            action = random_.choice(open_)
            closed = next(name for name in plans.actions if name not in {one.name for one in open_})
            with pytest.raises(RejectedError):
                planner.take(closed)
            elements = action.elements[: action.takes[0]] if action.takes else None
            planner.take(action.name, elements=elements, outcome=random_.choice(action.outcomes or (None,)))
        assert plans.verify(planner.plan).is_valid


def test_a_search_with_scores():
    spec = {
        "kind": "cfg",
        "symbols": {"walk": {"cost": 0}, "bus": {"cost": 3}, "rest": {}},
        "start": "s",
        "rules": {"s": ["walk rest", "bus"]},
    }
    scores = Scores(lambda question: [-float(choice.cost) - 0.1 for choice in question.choices])
    for strategy in ("greedy", "beam", "best-first", "a-star"):
        outcome = Plans(spec).run(scores, strategy=strategy)
        assert [step.action for step in outcome.plan or []] == ["walk", "rest"]


def test_specs_are_read_from_files(root, tmp_path):
    trip, same = (Plans.from_file(root / "grammars" / name) for name in ("travel", "travel/spec.toml"))
    assert len(trip.planner().open()) > 3 and trip.actions == same.actions
    path = tmp_path / "spec.json"
    path.write_text('{"kind": "cfg", "symbols": ["a"], "start": "s", "rules": {"s": ["b"]}}')
    with pytest.raises(grammata_agents.GrammarError) as caught:
        Plans.from_file(tmp_path)
    assert caught.value.file == str(path) and caught.value.place and caught.value.help
    with pytest.raises(grammata_agents.FileError):
        Plans.from_file(tmp_path / "none")


def test_backward_specs_have_no_planner(root):
    spec = (root / "grammars/openagi/spec.toml").read_text()
    plans = Plans(spec, parameters={"output": "text", "inputs": ["image", "text"]})
    with pytest.raises(grammata_agents.AgentsError) as caught:
        plans.planner()
    assert caught.value.code == "plan/backward"
