"""Plans: counts, lists, verification, and policies in Python."""

import math

import grammata_agents
import pytest

SPEC = {
    "kind": "cfg",
    "symbols": {"walk": {"cost": 0}, "bus": {"cost": 3}, "rest": {}},
    "start": "s",
    "rules": {"s": ["walk rest", "bus", "walk bus rest"]},
}


@pytest.fixture
def plans() -> grammata_agents.Plans:
    return grammata_agents.Plans(SPEC)


def names(plan: list[grammata_agents.Step] | None) -> list[str]:
    return [step.action for step in plan or []]


def test_counts_and_lists(plans, root):
    assert plans.actions == ["walk", "bus", "rest"] and plans.warnings == []
    assert plans.count() == 3
    listed = [names(plan) for plan in plans.enumerate(10)]
    assert sorted(listed) == [["bus"], ["walk", "bus", "rest"], ["walk", "rest"]]
    assert [names(plan) for plan in plans.enumerate(1)] == listed[:1]
    assert all(names(plan) in listed for plan in plans.sample(20, seed=3))
    assert plans.sample(5, seed=1) == plans.sample(5, seed=1)
    endless = grammata_agents.Plans({"kind": "cfg", "symbols": ["a"], "start": "s", "rules": {"s": ["a s", "a"]}})
    assert endless.count() == math.inf
    assert [len(plan) for plan in endless.enumerate(3)] == [1, 2, 3]
    spec = (root / "grammars/openagi/spec.toml").read_text()
    tasks = grammata_agents.Plans(spec, parameters={"output": "text", "inputs": ["image", "text"]})
    assert tasks.count() == 8_543_019_637


def test_verdicts(plans):
    verdict = plans.verify(["walk", "rest"])
    assert verdict.is_valid and names(verdict.plan) == ["walk", "rest"]
    assert plans.verify(verdict.plan).is_valid and plans.verify("walk\nrest").is_valid
    wrong = plans.verify(["walk", "walk"])
    assert (wrong.is_valid, wrong.step, wrong.feasible, wrong.may_end) == (False, 1, ("bus", "rest"), False)
    nearest, edits = plans.nearest(["walk", "walk", "rest"])
    assert edits == 1 and plans.verify(nearest).is_valid


def test_policies(plans):
    asked: list[grammata_agents.Question] = []

    def last(question: grammata_agents.Question) -> int:
        asked.append(question)
        return len(question.choices) - 1

    outcome = plans.run(last, task="Go home.")
    assert plans.verify(outcome.plan).is_valid and outcome.questions == len(asked) > 0
    assert "Go home." in asked[0].text and {choice.label for choice in asked[0].choices} == {"walk", "bus"}
    assert names(plans.run(lambda question: "bus").plan) == ["bus"]

    class Scored:
        """A policy with scores, which can also choose."""

        def choose(self, question: grammata_agents.Question) -> str:
            return question.choices[0].label

        def scores(self, question: grammata_agents.Question) -> list[float]:
            return [-float(choice.cost) - 0.1 for choice in question.choices]

    for strategy in ("greedy", "backtracking", "best-first", "beam", "a-star"):
        outcome = plans.run(Scored(), strategy=strategy, lookahead=True)
        assert plans.verify(outcome.plan).is_valid
    assert names(plans.run(Scored(), strategy="a-star").plan) == ["walk", "rest"]


def test_a_policy_may_ask_the_plans(plans):
    def choose(question: grammata_agents.Question) -> int:
        assert plans.count() == 3
        return 0

    assert plans.run(choose).plan


def test_arguments_of_actions():
    spec = {
        "kind": "dfa",
        "start": "0",
        "accepting": ["1"],
        "symbols": {"pay": {"arguments": {"type": "object", "properties": {"cents": {"type": "integer"}}, "required": ["cents"], "additionalProperties": False}}},
        "transitions": [{"from": "0", "input": "pay", "to": "1"}],
    }

    plans = grammata_agents.Plans(spec)
    verdict = plans.verify([{"action": "pay", "arguments": {"cents": 5}}])
    assert verdict.is_valid and [step.arguments for step in verdict.plan] == [{"cents": 5}]
    assert plans.verify(verdict.plan) == verdict
    assert not plans.verify([grammata_agents.Step("pay", arguments={"cents": "x"})]).is_valid


def test_policies_that_fail(plans):
    class Broken(Exception):
        pass

    def broken(question: grammata_agents.Question) -> int:
        raise Broken("no")

    with pytest.raises(Broken, match="no"):
        plans.run(broken)
    def interrupted(question: grammata_agents.Question) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plans.run(interrupted)

    class BrokenScores:
        def choose(self, question: grammata_agents.Question) -> int:
            return 0

        def scores(self, question: grammata_agents.Question) -> list[float]:
            raise Broken("no scores")

    with pytest.raises(Broken, match="no scores"):
        plans.run(BrokenScores(), strategy="beam")
    assert plans.run(lambda question: 0).plan
    for answer in (9, -1, "fly", 1.5, None, [7]):
        with pytest.raises(grammata_agents.UsageError) as caught:
            plans.run(lambda question, answer=answer: answer)
        assert caught.value.code == "python/answer"
    with pytest.raises(grammata_agents.AgentsError):
        plans.run(lambda question: [0, 1])
    with pytest.raises(AttributeError):
        plans.run(lambda question: 0, strategy="beam")
    with pytest.raises(TypeError):
        plans.run(3)
    with pytest.raises(grammata_agents.UsageError) as caught:
        plans.run(broken, strategy="none")
    assert "greedy" in caught.value.allowed
    with pytest.raises(grammata_agents.GrammarError):
        grammata_agents.Plans({"kind": "cfg"})
