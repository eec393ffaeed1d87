"""Each stand-in server gets the classes that its behaviour deserves."""

import unittest
from collections import Counter

from stand_ins.faulty import BrokenReply, Perfect
from structured_output.answers import CHAT_SHAPE, RESPONSES_SHAPE
from structured_output.cases import all_cases
from tests.servers import group, of, outcomes

# Groups about the form of replies. All others are about constraints and faults.
FORM = {"chat-stream-rules", "responses-stream-rules", "chat-shape", "responses-shape"}


class StandIns(unittest.TestCase):
    def kinds(self, name, ids=lambda id_: True):
        return Counter(outcome.kind for id_, outcome in of(name).items() if ids(id_))

    def ids(self, name, *kinds):
        return {id_ for id_, outcome in of(name).items() if outcome.kind in kinds}

    def test_the_perfect_server_passes_every_case_with_every_way(self):
        bad = {id_: outcome for id_, outcome in of("Perfect").items() if outcome.kind != "pass"}
        self.assertEqual(bad, {})
        self.assertGreater(len(of("Perfect")), 1000)

    def test_servers_that_ignore_constraints_pass_none_of_them(self):
        for name in ("Prose", "Obeys", "AnyObject"):
            with self.subTest(name):
                passed = {id_ for id_ in self.ids(name, "pass", "refused", "undecided") if group(id_) not in FORM}
                # a server that always writes some object does what `json_object` asks for
                allowed = {f"{api}-json-object/object-instead-of-prose" for api in ("chat", "responses")}
                self.assertEqual(passed, allowed if name == "AnyObject" else set())

    def test_ignoring_is_called_ignored(self):
        self.assertEqual(set(self.kinds("Prose", lambda id_: group(id_) not in FORM)), {"ignored"})
        for name in ("Obeys", "AnyObject"):
            with self.subTest(name):
                kinds = self.kinds(name, lambda id_: group(id_) not in FORM)
                self.assertGreater(kinds["ignored"], 20 * kinds["wrong"])

    def test_an_answer_kept_for_another_constraint_is_ignored(self):
        for id_, outcome in of("Remembers").items():
            if "schema" in group(id_) and group(id_) not in FORM and "json-object" not in id_:
                self.assertEqual(outcome.kind, "ignored", id_)

    def test_tool_choice_that_is_ignored(self):
        bad = self.ids("FirstTool", "ignored", "wrong")
        self.assertEqual({group(id_) for id_ in bad}, {"chat-tool-choice", "responses-tool-choice"})
        for name in ("none", "named", "allowed-tools", "answer-schema-with-none"):
            self.assertLessEqual({f"chat-tool-choice/{name}", f"responses-tool-choice/{name}"}, bad)

    def test_truncation_that_says_stop(self):
        bad = self.ids("SaysStop", "wrong")
        self.assertEqual({group(id_) for id_ in bad}, {"truncation"})
        fits = {id_ for id_ in of("SaysStop") if group(id_) == "truncation" and "around" not in id_}
        self.assertLessEqual(fits, bad)
        # the shortest answer has 23 characters, and a token of the stand-ins has 4
        self.assertIn("truncation/chat-schema-around-the-length-of-the-answer-4", bad)
        self.assertNotIn("truncation/chat-schema-around-the-length-of-the-answer-32", bad)

    def test_a_limit_that_is_passed(self):
        self.assertEqual({group(id_) for id_ in self.ids("TooLong", "wrong")}, {"truncation"})

    def test_answers_that_are_always_cut_show_nothing(self):
        for id_, outcome in of("AlwaysCut").items():
            if group(id_) not in FORM and not group(id_).endswith("-faults"):
                self.assertEqual(outcome.kind, "undecided", id_)

    def test_refusals_with_and_without_places(self):
        constrained = lambda id_: group(id_) not in FORM and not group(id_).endswith("-faults")
        self.assertEqual(set(self.kinds("Refuses", constrained)), {"refused"})
        self.assertEqual(set(self.kinds("Refuses")), {"refused", "pass"})
        self.assertEqual(set(self.kinds("RefusesSilently")), {"unplaced"})
        self.assertEqual(set(self.kinds("Details")), {"unplaced"})

    def test_errors_and_broken_connections(self):
        self.assertEqual(set(self.kinds("Fails")), {"error"})
        self.assertEqual(set(self.kinds("HangsUp")), {"transport"})

    def test_a_page_is_no_reply(self):
        self.assertEqual(self.kinds("WebPage")["pass"], 0)
        self.assertEqual(set(self.kinds("WebPage", lambda id_: not group(id_).endswith("-faults"))), {"wrong"})

    def test_an_error_inside_a_stream(self):
        for id_ in self.ids("ErrorInStream", "error"):
            self.assertIn("stream", id_)
        self.assertEqual(self.ids("ErrorInStream", "wrong", "ignored"), set())
        self.assertEqual(of("ErrorInStream")["chat-schema-stream/enum"].kind, "error")


class NoResponses(Perfect):
    """Has no Responses API."""

    def reply(self, api, raw):
        return super().reply(api, raw) if api == "chat" else (404, "text/plain", "not found")


class Absent(unittest.TestCase):
    def test_a_path_that_the_server_does_not_have_is_refused(self):
        found = outcomes(NoResponses())
        for id_, outcome in found.items():
            expected = "refused" if "responses-" in id_ else "pass"
            self.assertEqual(outcome.kind, expected, id_)


def first(body):
    return body["choices"][0]


def items(body, kind):
    return [item for item in body["output"] if item["type"] == kind]


def change_calls(change):
    def changed(body):
        for call in first(body)["message"].get("tool_calls", []):
            change(call)

    return changed


def change_items(kind, change):
    def changed(body):
        for item in items(body, kind):
            change(item)

    return changed


# By rule: a change of the reply that breaks this rule alone.
CHAT_CHANGES = {
    "id": lambda body: body.pop("id"),
    "object": lambda body: body.update(object="completion"),
    "created": lambda body: body.update(created="now"),
    "model": lambda body: body.pop("model"),
    "index": lambda body: [choice.update(index=choice["index"] + 1) for choice in body["choices"]],
    "role": lambda body: first(body)["message"].update(role="model"),
    "finish-reason": lambda body: first(body).update(
        finish_reason="eos" if first(body)["finish_reason"] == "stop" else first(body)["finish_reason"]
    ),
    "usage": lambda body: body["usage"].update(total_tokens=1),
    "call-id-and-type": change_calls(lambda call: call.pop("id")),
    "call-finish-reason": lambda body: first(body).update(
        finish_reason={"tool_calls": "function_call"}.get(first(body)["finish_reason"], first(body)["finish_reason"])
    ),
    "two-choices": lambda body: body.update(choices=body["choices"][:1]),
}
RESPONSES_CHANGES = {
    "id": lambda body: body.pop("id"),
    "object": lambda body: body.update(object="chat.completion"),
    "created-at": lambda body: body.pop("created_at"),
    "model": lambda body: body.pop("model"),
    "message": change_items("message", lambda item: item.pop("id")),
    "usage": lambda body: body["usage"].pop("input_tokens"),
    "call-id": change_items("function_call", lambda item: item.pop("call_id")),
}


class Shapes(unittest.TestCase):
    def check(self, api, changes):
        cases = [case for case in all_cases() if case.group == f"{api}-shape"]
        # two choices have indexes and reasons, too
        also = {"chat-shape/two-choices"}
        self.assertEqual({case.name for case in cases}, set(changes))
        for name, change in changes.items():
            with self.subTest(name):
                found = outcomes(BrokenReply(change), cases)
                bad = {id_ for id_, outcome in found.items() if outcome.kind != "pass"}
                self.assertEqual(bad - also, {f"{api}-shape/{name}"} - also)
                self.assertEqual(found[f"{api}-shape/{name}"].kind, "wrong")

    def test_chat(self):
        self.assertLess(set(CHAT_SHAPE), set(CHAT_CHANGES))
        self.check("chat", CHAT_CHANGES)

    def test_responses(self):
        self.assertEqual(set(RESPONSES_SHAPE), set(RESPONSES_CHANGES))
        self.check("responses", RESPONSES_CHANGES)


if __name__ == "__main__":
    unittest.main()
