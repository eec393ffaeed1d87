"""Sessions under a procedure: what is open, why other steps are not, results, decisions, provenance, traces."""

import json
import random

import grammata_agents
import pytest
from grammata_agents import Obstacle, Procedure, RejectedError, UsageError

LOAN = "grammars/procedures/library_loan.yaml"


@pytest.fixture
def procedure() -> Procedure:
    return Procedure.from_file(LOAN)


@pytest.fixture
def session(procedure) -> grammata_agents.Session:
    session = procedure.session()
    session.hear("I am R123 and I want to borrow Emma.")
    return session


def open_names(session: grammata_agents.Session) -> set[str]:
    return {node.name for node in session.open()}


def test_what_a_procedure_declares(procedure):
    assert procedure.name == "library_loan" and procedure.is_supervised
    assert procedure.apis == ["check_reader", "find_title", "lend", "reserve"]
    assert "lent" in procedure.answers and procedure.description == "Lends or reserves a book."
    assert repr(procedure) == "<grammata_agents.Procedure \"library_loan\">"


def test_a_session_to_its_end(procedure, session):
    assert session.call("find_title", {"title": "Emma"}) == Obstacle(
        "precondition", "`check_reader` must come before", node="check_reader"
    )
    assert session.call("check_reader", {"reader": "R123"}) is None
    assert session.waiting == "check_reader"
    session.result({"fines": 0})
    assert session.waiting is None and session.known["fines"] == 0
    assert session.call("find_title", {"title": "Emma"}) is None
    session.result({"copies": 2})
    lend = next(node for node in session.open() if node.name == "lend")
    assert lend.writes and lend.arguments["properties"] == {"reader": {"const": "R123"}, "title": {"const": "Emma"}}
    assert session.call("lend", {"reader": "R123", "title": "Emma"}) is None
    session.result({"due": "Monday"})
    lent = next(node for node in session.open() if node.name == "lent")
    assert lent.text == "Emma is yours until Monday." and lent.is_closing
    assert session.say("lent") is None and session.is_complete
    verdict = procedure.verify(session.log)
    assert verdict == grammata_agents.ProcedureVerdict(True, 4, True, ())
    lines = "\n".join(json.dumps(event) for event in session.log)
    assert procedure.verify(lines) == verdict


def test_what_is_refused_changes_nothing(session):
    before = session.log
    cases = [
        (("check_reader", {"reader": "R999"}), "unsaid", "reader"),
        (("check_reader", {}), "argument", "reader"),
        (("check_reader", {"reader": "R123", "more": 1}), "schema", "more"),
        (("lend", {"reader": "R123", "title": "Emma"}), "precondition", None),
        (("lent", {}), "unknown", None),
        (("nothing", {}), "unknown", None),
    ]
    for call, code, slot in cases:
        obstacle = session.call(*call)
        assert obstacle is not None and (obstacle.code, obstacle.slot) == (code, slot), call
        assert str(obstacle) == obstacle.text
    assert session.log == before and session.waiting is None
    assert session.say("lent").code == "precondition" and session.say("lend").code == "unknown"
    blocked = session.blocked()
    assert blocked["lend"].node == "check_reader" and not blocked.keys() & open_names(session)
    assert "blocked:" in session.feedback()


def test_conditions_and_decisions(session):
    session.call("check_reader", {"reader": "R123"})
    session.result({"fines": 0})
    session.call("find_title", {"title": "Emma"})
    session.result({"copies": 0})
    guard = session.call("lend", {"reader": "R123", "title": "Emma"})
    assert (guard.code, guard.condition, guard.values) == ("guard", "copies > 0", "find_title.copies = 0")
    with pytest.raises(RejectedError) as caught:
        session.decide("wants_queue", True)
    assert (caught.value.code, caught.value.allowed) == ("procedure/decision", "nothing")
    assert session.say("offer_queue") is None
    assert session.decisions() == ["wants_queue"]
    with pytest.raises(RejectedError) as caught:
        session.decide("wants_queue", "maybe")
    assert caught.value.allowed == '{"type":"boolean"}'
    session.decide("wants_queue", True)
    assert "reserve" in open_names(session)


def test_results_are_held_to_what_the_procedure_knows(session):
    with pytest.raises(UsageError) as caught:
        session.result({"fines": 0})
    assert caught.value.code == "python/no-call"
    session.call("check_reader", {"reader": "R123"})
    for other in (lambda: session.call("check_reader", {"reader": "R123"}), lambda: session.say("goodbye")):
        with pytest.raises(UsageError) as caught:
            other()
        assert caught.value.code == "python/call-waits" and caught.value.found == "check_reader"
    with pytest.raises(RejectedError) as caught:
        session.result({"fines": "many"})
    assert caught.value.code == "procedure/foreign-result" and session.waiting == "check_reader"
    session.result({"error": "no such reader"})
    assert session.blocked()["find_title"].code in ("precondition", "guard")
    session.hear("Please try again.")
    session.call("check_reader", {"reader": "R123"})
    session.result(12)  # the only slot of the response
    assert session.known["fines"] == 12 and session.say("has_fines") is None and session.is_complete


def test_calls_are_not_repeated(session):
    session.call("check_reader", {"reader": "R123"})
    session.result({"fines": 0})
    assert session.call("check_reader", {"reader": "R123"}).code == "again"
    session.cancel()
    assert session.blocked()["lend"].code in ("cancelled", "precondition")


def test_tools_show_what_is_open(session):
    (check,) = session.tools()
    assert check["function"]["name"] == "check_reader"
    parameters = check["function"]["parameters"]
    assert parameters["required"] == ["reader"] and parameters["additionalProperties"] is False
    assert "R123" in parameters["properties"]["reader"]["enum"]
    *_, say = session.tools(answers=True)
    assert say["function"]["name"] == "say"
    assert "request_information" in say["function"]["parameters"]["properties"]["answer"]["enum"]
    assert session.offer("say", {"answer": "request_information", "text": "Which book?"}) is None
    assert session.offer("check_reader", {"reader": "R123"}) is None
    call = ["call", "check_reader", {"reader": "R123"}]
    assert session.log[-2:] == [["say", "request_information", "Which book?"], call]
    session.result({"fines": 0})
    assert session.offer("answer_out_of_workflow", {"text": "It is sunny."}) is None
    assert session.offer("goodbye").code == "guard"


def test_a_call_may_be_named_as_the_tool_for_answers():
    answers = "[{name: done, desc: Done., precondition: [say]}]"
    session = Procedure(f"{{Name: a, APIs: [{{name: say}}], ANSWERs: {answers}, Procedure: API.say()}}").session()
    assert [one["function"]["name"] for one in session.tools(answers=True)] == ["say"]
    assert session.offer("say", {}) is None
    session.result({})
    assert [one["function"]["name"] for one in session.tools(answers=True)] == ["say_answer"]
    assert session.offer("say_answer", {"answer": "done"}) is None and session.log[-1] == ["say", "done", "Done."]


def test_without_the_users_words():
    silent = Procedure.from_file(LOAN, hears_user=False).session()
    assert silent.call("check_reader", {"reader": "R7"}).code == "schema"
    assert silent.call("check_reader", {"reader": "R777"}) is None
    heard = Procedure.from_file(LOAN).session()
    assert heard.call("check_reader", {"reader": "R7"}).code == "schema"  # nobody has said anything yet
    heard.hear("Hello.")
    assert heard.blocked()["check_reader"].code == "argument"


def test_traces_are_judged_and_resumed(procedure, session):
    session.call("check_reader", {"reader": "R123"})
    resumed = procedure.session(session.log)
    assert resumed.waiting == "check_reader" and resumed.log == session.log
    wrong = [["user", "I am R123"], ["call", "lend", {"reader": "R123", "title": "Emma"}], ["result", {"due": "now"}]]
    verdict = procedure.verify(wrong)
    assert not verdict.is_valid and verdict.violations[0].event == 1
    assert verdict.violations[0].node == "lend" and verdict.violations[0].obstacle.code == "precondition"
    with pytest.raises(RejectedError) as caught:
        procedure.session(wrong)
    assert caught.value.code == "procedure/wrong-trace" and "event 2" in caught.value.found
    for bad in ("nonsense", [["jump"]], [3], {"a": 1}, '["call", "x"]'):
        with pytest.raises(UsageError) as caught:
            procedure.verify(bad)
        assert caught.value.code == "pdl/trace" and caught.value.place == "line 1, column 1"


def test_errors_have_code_file_and_place(tmp_path):
    path = tmp_path / "broken.yaml"
    path.write_text("Name: broken\nAPIs:\n  - {name: a, precondition: [b]}\nProcedure: API.a()\n")
    with pytest.raises(grammata_agents.GrammarError) as caught:
        Procedure.from_file(path)
    error = caught.value
    assert error.code.startswith("pdl/") and error.file == str(path) and error.place.startswith("line 3") and error.help
    with pytest.raises(grammata_agents.FileError):
        Procedure.from_file(tmp_path / "none.yaml")
    path.write_bytes(b"Name: \xff")
    with pytest.raises(grammata_agents.FileError) as caught:
        Procedure.from_file(path)
    assert caught.value.code == "python/not-utf8"
    with pytest.raises(UsageError) as caught:
        Procedure("Name: a", mode="loose")
    assert caught.value.allowed == "graph, guarded, strict"
    with pytest.raises(grammata_agents.LimitError):
        Procedure.from_file(LOAN, limits={"source_bytes": 10})


def test_random_sessions_are_valid(root):
    """For all shipped procedures: each open step can be taken, and the log is a valid trace."""
    for path in sorted((root / "grammars/procedures").glob("*.yaml")):
        procedure = Procedure.from_file(path, hears_user=False)
        for seed in range(2):
            random_, session = random.Random(seed), procedure.session()
            for _ in range(12):
                nodes = session.open()
                if not nodes:
                    break
                node = random_.choice(nodes)
                if node.kind == "api":
                    schemas = node.arguments["properties"]
                    arguments = {slot: value_of(schema, random_) for slot, schema in schemas.items()}
                    if session.call(node.name, arguments) is None:
                        session.result({"error": "out of order"})
                else:
                    assert session.say(node.name) is None
            assert procedure.verify(session.log).is_valid


def value_of(schema: dict, random_: random.Random) -> object:
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random_.choice(schema["enum"])
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    return {"integer": 3, "number": 2, "boolean": True}.get(kind, "R123")


HOSTILE = [
    ("call", ("check_reader", "R123")),
    ("call", ("check_reader", [1])),
    ("call", ("check_reader", {"reader": object()})),
    ("call", ("check_reader", {"reader": float("nan")})),
    ("result", (object(),)),
    ("decide", ("wants_queue", object())),
]


@pytest.mark.parametrize(("method", "arguments"), HOSTILE, ids=[f"{one[0]}-{n}" for n, one in enumerate(HOSTILE)])
def test_what_is_no_json_is_refused(session, method, arguments):
    with pytest.raises(UsageError) as caught:
        getattr(session, method)(*arguments)
    assert caught.value.code in ("python/not-json", "python/not-an-object")


def test_long_messages(procedure, session):
    for text in ("a-" * 9_000, "a " * 9_000, "\u00e9" * 9_000):
        long = procedure.session()
        long.hear(text)
        assert long.blocked()["lend"].code == "precondition" and long.tools() is not None
    log = session.log
    for hear in (lambda: session.hear("a" * 20_001), lambda: procedure.session([["user", "a" * 20_001]])):
        with pytest.raises(RejectedError) as caught:
            hear()
        assert caught.value.code == "procedure/heard"
    assert session.log == log


def test_deep_and_long_values(session):
    deep: object = "R123"
    for _ in range(500):
        deep = [deep]
    with pytest.raises(grammata_agents.AgentsError):
        session.call("check_reader", {"reader": deep})
    assert session.call("check_reader", {"reader": "R" * 1_000_000}).code == "schema"
    assert session.call("\0" * 100, {}).code == "unknown"


def test_the_table_of_owners_comes_out_as_stated(root):
    """The cases of the library's own tests, with the parts of each obstacle."""
    table = json.loads((root / "tests/cases/procedures/owners.json").read_text())
    procedure = Procedure(table["text"])
    judged = 0
    for case in table["cases"]:
        violations = procedure.verify(case["events"]).violations
        parts = [(one.event, one.node, one.obstacle.code, one.obstacle.slot) for one in violations]
        words = [line.split(" ") for line in case["wrong"]]
        # the schema follows the slot
        slots = [(rest[:1] if code == "schema" else rest[-1:]) or [None] for _, _, code, *rest in words]
        stated = [(int(event), node, code, *slot) for (event, node, code, *_), slot in zip(words, slots, strict=True)]
        assert parts == stated, case["name"]
        judged += len(stated)
    assert judged > 10


def test_a_session_refuses_what_verification_finds(root):
    """A session refuses the first wrong step of a trace for the same reason as `verify`. It may also refuse an earlier
    call: one whose arguments have no known value, or none that the schema allows."""
    table = json.loads((root / "tests/cases/procedures/owners.json").read_text())
    procedure = Procedure(table["text"])
    refused = followed = 0
    for case in table["cases"]:
        session, first = procedure.session(), next(iter(procedure.verify(case["events"]).violations), None)
        step = {"user": session.hear, "result": session.result, "slot": session.decide, "free": session.free}
        for number, (kind, *rest) in enumerate(case["events"]):
            if kind == "guide":
                continue  # a remark that changes nothing, for which sessions have no call
            if kind in step:
                step[kind](*rest)
                continue
            if kind == "call":
                obstacle = session.call(*rest)
            else:
                name, text, asks, *_ = [*rest, None, None]
                obstacle = session.say(name, text=text, asks=asks)
            if first is not None and number == first.event:
                # a session knows the values that were told: its schema of the slot lists them alone
                codes = obstacle.code, first.obstacle.code
                is_narrower = codes == ("schema", "unsaid") and obstacle.slot == first.obstacle.slot
                assert obstacle == first.obstacle or is_narrower, case["name"]
                refused += 1
            elif obstacle is not None:
                assert obstacle.code in ("argument", "schema"), (case["name"], number)
            else:
                followed += 1
                continue
            break
    assert refused > 5 and followed > 10


def test_sessions_are_judged_as_verify_and_the_guard_judge_them(root):
    """The last call of each session is its only wrong step."""
    procedures: dict[str, Procedure] = {}
    refused = passed = 0
    for line in (root / "tests/cases/procedures/sessions.jsonl").read_text().splitlines():
        case = json.loads(line)
        name, events = case["procedure"], case["events"]
        procedure = procedures.setdefault(name, Procedure.from_file(f"grammars/procedures/{name}.yaml"))
        last = len(events) - 1
        assert [wrong.event for wrong in procedure.verify(events).violations] == [last], case
        for at, event in enumerate(events):
            if event[0] == "call":
                obstacle = procedure.session(events[:at]).call(event[1], event[2])
                assert (obstacle is not None) == (at == last), (case, at, obstacle)
                refused += obstacle is not None
                passed += obstacle is None
    assert len(procedures) == 12 and refused > 100 and passed > 100
