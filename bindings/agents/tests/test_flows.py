"""Flows: walks, lookahead, verification."""

import random

import grammata_agents
import pytest
from grammata_agents import FlowDomain, RejectedError, UsageError

TRIP = "grammars/flows/trip-booking.toml"


@pytest.fixture
def domain() -> FlowDomain:
    return FlowDomain.from_file(TRIP)


def test_what_a_domain_declares(domain):
    assert domain.name == "trip-booking" and len(domain.apis) == 13
    assert domain.flows == ["book_car", "book_flight", "book_hotel"] and domain.prelude == ["InitSystem", "Start"]
    flow = domain.flow("book_flight")
    assert flow.id == "book_flight" and flow.intent and len(flow.steps) >= 5
    with pytest.raises(UsageError) as caught:
        domain.flow("book_train")
    assert caught.value.allowed == "book_car, book_flight, book_hotel"


def test_random_walks_are_plans(domain):
    for seed in range(5):
        random_, walk = random.Random(seed), domain.walk()
        while open_ := walk.open():
            call = random_.choice(open_)
            assert call.api in domain.apis and call.ahead.plans >= 1
            walk.take(call.call)
        assert walk.may_end() and domain.verify(walk.calls).is_valid
        assert not domain.verify(walk.calls[:-1]).is_valid
        calls = len(walk.calls)
        assert walk.back(99) == calls and walk.calls == [] and walk.open()


def test_arguments_name_what_gives_them(domain):
    walk = domain.walk(flow="book_flight")
    while walk.open()[0].api != "FindFlight":
        walk.take(walk.open()[0].call)
    find = walk.open()[0]
    assert find.arguments["airport_code"] == ("GetAirports",)
    assert walk.flows() == ["book_flight"] and find.flows == ("book_flight",)
    assert walk.ahead().plans >= find.ahead.plans and walk.ahead().fewest > find.ahead.fewest


def test_wrong_calls_change_nothing(domain):
    walk = domain.walk(flow="book_flight")
    before = [one.call for one in walk.open()]
    for call in ("Finish", "Nothing", "", "GetAirports=yes", "=", "\0"):
        with pytest.raises(RejectedError) as caught:
            walk.take(call)
        assert caught.value.code == "flow/call-not-allowed" and caught.value.allowed == ", ".join(before)
    assert walk.calls == [] and [one.call for one in walk.open()] == before and not walk.may_end()
    verdict = domain.verify([*before[:1], "Finish"], flow="book_flight")
    assert (verdict.is_valid, verdict.call) == (False, 1) and "Finish" not in verdict.feasible
    with pytest.raises(grammata_agents.AgentsError):
        domain.walk(level=9)
    with pytest.raises(UsageError):
        domain.walk(api_order="random")
    with pytest.raises(grammata_agents.AgentsError):
        domain.walk(intents=7)
    with pytest.raises(grammata_agents.GrammarError) as caught:
        FlowDomain("kind = 'flows'")
    assert caught.value.code.startswith("flow/")


def test_levels_and_intents(domain):
    strict, loose = domain.walk(level=6).ahead(), domain.walk(level=5).ahead()
    assert strict.plans <= loose.plans and domain.walk(level=2).ahead().most is None
    assert domain.walk(intents=2).ahead().fewest > strict.fewest


def test_forced_calls(domain):
    walk = domain.walk(flow="book_flight", api_order="declared")
    forced = walk.forced()
    assert forced and forced[-1] == "Finish" or walk.ahead().plans > 1
