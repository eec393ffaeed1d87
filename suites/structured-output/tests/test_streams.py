"""Each rule of streams is broken by a stand-in, and only then fails."""

import unittest

from stand_ins.faulty import BrokenStream
from structured_output import sse
from structured_output.answers import Malformed
from structured_output.cases import all_cases
from tests.servers import outcomes


def delta(event):
    choices = event.get("choices") if isinstance(event, dict) else None
    return choices[0]["delta"] if choices else {}


def has_finish(event):
    return isinstance(event, dict) and any(choice.get("finish_reason") for choice in event.get("choices", []))


def each(change):
    """Returns a change of a list of events, from a function that changes one event if it is an object."""

    def changed(events):
        for number, event in enumerate(events):
            if isinstance(event, dict):
                change(number, event)
        return events

    return changed


def parts(change):
    """The same for the parts of calls; the function gets the number of the part."""

    def changed(events):
        found = [part for event in events for part in delta(event).get("tool_calls", [])]
        for number, part in enumerate(found):
            change(number, part)
        return events

    return changed


def cut_character(events):
    """Replaces a character that is not ASCII, as a server does that decodes each token on its own."""
    for event in events:
        text = delta(event).get("content") or (event.get("delta") if isinstance(event, dict) else None)
        at = next((at for at, letter in enumerate(text) if ord(letter) > 127), None) if isinstance(text, str) else None
        if at is not None:
            text = text[:at] + "\ufffd\ufffd" + text[at + 1 :]
            (delta(event) if "content" in delta(event) else event).update(
                {"content" if "content" in delta(event) else "delta": text}
            )
            break
    return events


def text_after_finish(events):
    at = next(at for at, event in enumerate(events) if has_finish(event))
    late = {**events[at], "choices": [{"index": 0, "delta": {"content": " "}, "finish_reason": None}]}
    return events[: at + 1] + [late] + events[at + 1 :]


def finish_twice(events):
    at = next(at for at, event in enumerate(events) if has_finish(event))
    return events[: at + 1] + events[at:]


def change_finish(events):
    for event in filter(has_finish, events):
        choice = event["choices"][0]
        choice["finish_reason"] = (
            "function_call" if choice["finish_reason"] == "tool_calls" else choice["finish_reason"]
        )
    return events


def usage_never_asked(events):
    """Sends the usage in each stream."""
    if any("usage" in event for event in events):
        return events
    at = next(at for at, event in enumerate(events) if has_finish(event))
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return events[: at + 1] + [{**events[0], "choices": [], "usage": usage}] + events[at + 1 :]


def without_done(which):
    def changed(events):
        has_usage = any(isinstance(event, dict) and event.get("usage") for event in events)
        is_call = any(delta(event).get("tool_calls") for event in events)
        kind = "call" if is_call else "usage" if has_usage else "text"
        return [event for event in events if event != "[DONE]" or kind != which]

    return changed


# By rule: a change that breaks it, and the other rules that this change breaks.
CHAT = {
    "role-first": (each(lambda number, event: delta(event).pop("role", None)), ()),
    "one-id": (each(lambda number, event: event.update(id=f"chatcmpl-{number}")), ()),
    "one-created": (each(lambda number, event: event.update(created=number)), ()),
    "one-model": (each(lambda number, event: event.pop("model")), ()),
    "object": (each(lambda number, event: event.update(object="chat.completion")), ()),
    "index": (each(lambda number, event: [choice.pop("index") for choice in event["choices"]]), ()),
    "finish-once": (finish_twice, ()),
    "nothing-after-finish": (text_after_finish, ()),
    "done-last": (without_done("text"), ()),
    "whole-characters": (cut_character, ()),
    "no-usage-unless-asked": (usage_never_asked, ()),
    "usage-when-asked": (lambda events: [event for event in events if event == "[DONE]" or event["choices"]], ()),
    "done-after-usage": (without_done("usage"), ()),
    "call-begins-with-id": (parts(lambda number, part: part.update(id=f"call_{number}")), ()),
    "call-indexes": (parts(lambda number, part: part.update(index=1)), ()),
    "call-is-json": (parts(lambda number, part: number == 3 and part["function"].update(arguments="")), ()),
    "call-finish": (change_finish, ()),
    "call-done-last": (without_done("call"), ()),
}


def is_kind(event, end):
    return isinstance(event, dict) and event.get("type", "").endswith(end)


RESPONSES = {
    "created-first": (lambda events: events[1:], ()),
    "numbered": (each(lambda number, event: event.update(sequence_number=7)), ()),
    "items-close": (lambda events: [e for e in events if not is_kind(e, "item.done")], ("call-items-close",)),
    "text-is-whole": (
        each(lambda number, event: is_kind(event, "output_text.delta") and number == 3 and event.update(delta="zq")), ()
    ),
    "whole-characters": (cut_character, ("text-is-whole", "call-is-whole")),
    "completed-last": (lambda events: events + [{"type": "response.ping", "sequence_number": 999}], ()),
    "call-items-close": (lambda events: [e for e in events if not is_kind(e, "item.added")], ("items-close",)),
    "call-is-whole": (
        each(lambda number, event: is_kind(event, "arguments.delta") and number == 3 and event.update(delta="zq")), ()
    ),
}  # fmt: skip


class OtherNames(BrokenStream):
    """Names all events alike."""

    def __init__(self):
        super().__init__(lambda events: events)

    def stream(self, events):
        return super().stream(events).replace("event: response.", "event: answer.")


class Rules(unittest.TestCase):
    def check(self, api, stand_in, name, also=()):
        cases = [case for case in all_cases() if case.group == f"{api}-stream-rules"]
        found = outcomes(stand_in, cases)
        bad = {id_.split("/")[1] for id_, outcome in found.items() if outcome.kind != "pass"}
        self.assertEqual(bad, {name, *also})
        self.assertEqual(found[f"{api}-stream-rules/{name}"].kind, "wrong")

    def test_each_rule_of_chat_completions(self):
        self.assertEqual(set(CHAT), set(sse.CHAT_RULES))
        for name, (change, also) in CHAT.items():
            with self.subTest(name):
                self.check("chat", BrokenStream(change), name, also)

    def test_each_rule_of_responses(self):
        self.assertEqual({*RESPONSES, "names-match"}, set(sse.RESPONSES_RULES))
        for name, (change, also) in RESPONSES.items():
            with self.subTest(name):
                self.check("responses", BrokenStream(change), name, also)
        self.check("responses", OtherNames(), "names-match")


class Events(unittest.TestCase):
    def test_lines(self):
        stream = sse.events(b': comment\r\nevent: a\r\ndata: {"b":\r\ndata: 1}\r\nid: 7\r\n\r\ndata:[DONE]\n\n')
        self.assertEqual([(event.name, event.value) for event in stream], [("a", {"b": 1}), (None, None)])

    def test_what_is_no_stream(self):
        for body in (b"", b"data: {\n\n", b"data: [1]\n\n", b"<html>\n\n", b'data: "\xff"\n\n', b"{}"):
            with self.subTest(body), self.assertRaises(Malformed):
                sse.events(body)

    def test_broken_streams_fail_the_cases_that_read_them(self):
        cases = [case for case in all_cases() if case.id in ("chat-schema-stream/enum", "chat-tool-stream/enum")]
        drop = lambda events: [event for number, event in enumerate(events) if number != 3]
        found = outcomes(BrokenStream(drop), cases)
        self.assertNotIn("pass", {outcome.kind for outcome in found.values()})


if __name__ == "__main__":
    unittest.main()
