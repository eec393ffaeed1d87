"""The package: examples in docstrings, exceptions, threads, and the end of the interpreter."""

import doctest
import inspect
import pickle
import random
import subprocess
import sys
import threading
from types import ModuleType

import grammata_agents
import grammata_agents._native
import grammata_agents._tool_session
import pytest

NATIVE = [item for item in vars(grammata_agents._native).values() if inspect.isclass(item) or inspect.isroutine(item)]
PYTHON = [grammata_agents, grammata_agents._tool_session]


@pytest.mark.parametrize("module", PYTHON, ids=lambda module: module.__name__)
def test_docstrings_of_python(module: ModuleType):
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


@pytest.mark.parametrize("item", NATIVE, ids=lambda item: item.__name__)
def test_docstrings_of_the_extension(item):
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    members = [(item.__name__, item)]
    if inspect.isclass(item):
        members += [(f"{item.__name__}.{name}", one) for name, one in vars(item).items()]
    for name, member in members:
        doc = inspect.getdoc(member) or ""
        if not name.split(".")[-1].startswith("__"):
            has_example = ">>>" in doc or "." in name or name.startswith("_")
            assert doc and has_example, f"{name} is not described, or has no example"
        runner.run(parser.get_doctest(doc, {}, name, None, 0))
    assert runner.failures == 0


def test_exceptions_travel_between_processes():
    with pytest.raises(grammata_agents.GrammarError) as caught:
        grammata_agents.Procedure("Name: a")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is grammata_agents.GrammarError
    assert (str(again), again.diagnostics) == (str(caught.value), caught.value.diagnostics)
    assert again.code.startswith("pdl/") and str(again).startswith("error[pdl/")


def test_threads_share_objects():
    procedure = grammata_agents.Procedure.from_file("grammars/procedures/library_loan.yaml")
    session, wrong = procedure.session(), []
    session.hear("I am R123.")

    def work() -> None:
        for _ in range(50):
            try:
                if session.call("check_reader", {"reader": "R123"}) is None:
                    session.result({"error": "busy"})
                procedure.session().open()
            except grammata_agents.UsageError:
                pass  # another thread's call waits
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong and procedure.verify(session.log).is_valid


ENDING = """
import threading, grammata_agents, sys
plans = grammata_agents.Plans({"kind": "cfg", "symbols": ["a", "b"], "start": "s", "rules": {"s": ["a b", "b"]}})
def plan():
    while True:
        plans.run(lambda question: len(question.choices) - 1)
def step():
    while True:
        planner = plans.planner()
        planner.take(planner.open()[0].name)
def fail():
    while True:
        try:
            plans.planner().take("c")
        except grammata_agents.RejectedError:
            pass
for work in (plan, plan, step, fail):
    threading.Thread(target=work, daemon=True).start()
sys.stdout.write("done")
"""


def test_the_interpreter_ends_while_threads_work():
    for _ in range(5):
        ended = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=120)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done", "")


TEXTS = ["", "\0", "a" * 5_000, "{" * 400, "[]" * 400, "\ud7ff", "name: &a [*a]", "kind='dfa'", '{"openapi":"3.1.0"}']
JUNK: list[object] = [*TEXTS, 0, -1, 1.5, None, True, [], {}, [[]], {"a": {"b": [1] * 50}}, 2**70, ["user", 1]]


def test_junk_raises_exceptions_only():
    """Random values at each function raise only the expected exceptions: no panic and no other exception."""
    random_, judged = random.Random(5), 0
    procedure = grammata_agents.Procedure.from_file("grammars/procedures/library_loan.yaml")
    tools = grammata_agents.Tools([{"name": "add", "parameters": {"type": "object", "properties": {}}}])
    domain = grammata_agents.FlowDomain.from_file("grammars/flows/trip-booking.toml")
    plans = grammata_agents.Plans({"kind": "cfg", "symbols": ["a"], "start": "s", "rules": {"s": ["a"]}})
    index, turns = grammata_agents.ToolIndex(tools), tools.turns("hermes")
    classes = [type(one) for one in (plans, procedure, tools, domain, index)]
    for _ in range(500):
        objects = [procedure, procedure.session(), tools, turns, domain, domain.walk(), plans, plans.planner(), index]
        chosen = random_.choice([*objects, *classes])
        names = [name for name in dir(chosen) if name[0] != "_" and callable(getattr(chosen, name))]
        called = chosen if isinstance(chosen, type) else getattr(chosen, random_.choice(names))
        try:
            called(*random_.choices(JUNK, k=random_.randint(0, 2)))
        except grammata_agents.AgentsError as error:
            assert error.code and error.help
            judged += 1
        except (TypeError, OverflowError, AttributeError):
            pass
    assert judged > 30
