"""Reads streams of server-sent events: puts the answer together, and checks the rules of the two APIs."""

import json
from dataclasses import dataclass

from .answers import Answer, Malformed, Undecided, chat_choice, count, need, responses, says

REPLACEMENT = "\ufffd"


@dataclass
class Event:
    """An event: its name, if it has one, its data, and the data as JSON (None for `[DONE]`)."""

    name: str | None
    data: str
    value: dict | None


class StreamError(Exception):
    """The server reported an error inside the stream."""


def events(body):
    """Splits a body into events. Raises `Malformed`."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed(f"the stream is not UTF-8: {error}") from error
    found, name, data = [], None, []
    for line in [*text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), ""]:
        member, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if member == "event":
            name = value
        elif member == "data":
            data.append(value)
        elif not line:
            if data:
                found.append(event(name, "\n".join(data)))
            name, data = None, []
        elif member and member not in ("id", "retry"):
            raise Malformed(f"the line {line[:40]!r} is not of an event")
    if not found:
        raise Malformed("the stream has no events")
    return found


def event(name, data):
    if data.strip() == "[DONE]":
        return Event(name, "[DONE]", None)
    try:
        value = json.loads(data)
    except ValueError as error:
        raise Malformed(f"the data of an event is not JSON: {data[:60]!r}") from error
    if not isinstance(value, dict):
        raise Malformed("the data of an event is not an object")
    if name == "error" or (value.get("error") and "choices" not in value and value.get("object") != "response"):
        raise StreamError(f"an error in a stream that began with 200: {data[:120]}")
    return Event(name, data, value)


def chunks(stream):
    return [one.value for one in stream if one.value is not None]


def deltas(stream):
    """Yields the choice 0 and its delta of each chunk that has one."""
    for chunk in chunks(stream):
        for choice in chunk.get("choices") or []:
            if choice.get("index", 0) == 0:
                yield choice, choice.get("delta") or {}


def chat_message(stream):
    """Puts the message of a streamed chat completion together."""
    message, finish, calls, usage = {"content": None}, None, {}, None
    for chunk in chunks(stream):
        usage = chunk.get("usage") or usage
    for choice, delta in deltas(stream):
        finish = choice.get("finish_reason") or finish
        for name in ("content", "refusal"):
            if delta.get(name) is not None:
                message[name] = (message.get(name) or "") + need(delta[name], str, f"delta.{name}")
        for part in delta.get("tool_calls") or []:
            at = need(part.get("index"), int, "delta.tool_calls[].index")
            kind = part.get("type") or calls.get(at, {}).get("type", "function")
            call = calls.setdefault(at, {"type": kind, kind: {"name": ""}})
            inner, member = part.get(kind) or {}, "input" if kind == "custom" else "arguments"
            call[kind]["name"] += inner.get("name") or ""
            call[kind][member] = call[kind].get(member, "") + (inner.get(member) or "")
    message["tool_calls"] = [calls[at] for at in sorted(calls)]
    return chat_choice({"message": message, "finish_reason": finish}, usage)


def last_response(stream):
    """Returns the response in the last event that has one, if it is final."""
    for value in reversed(chunks(stream)):
        if value.get("type") in ("response.completed", "response.incomplete", "response.failed"):
            return need(value.get("response"), dict, "response")
    raise Malformed("no event `response.completed`, `response.incomplete` or `response.failed`")


READERS = {"chat": chat_message, "responses": lambda stream: responses(last_response(stream))}


def read(api, body) -> Answer:
    return READERS[api](events(body))


# The rules of streamed chat completions


def role_first(stream):
    for _, delta in deltas(stream):
        if delta.get("role"):
            return says(delta["role"] == "assistant", f"the role is {delta['role']!r}")
        if delta.get("content") or delta.get("tool_calls"):
            return "text or a call comes before the role"
    return "no chunk has the role"


def one(stream, name, kind):
    values = {json.dumps(chunk.get(name)) for chunk in chunks(stream)}
    good = len(values) == 1 and isinstance(json.loads(next(iter(values))), kind)
    return says(good, f"`{name}` is missing or is not equal in all chunks")


def indexes(stream):
    good = all(choice.get("index") == 0 for chunk in chunks(stream) for choice in chunk.get("choices") or [])
    return says(good, "a choice has not the index 0, though `n` is 1")


def finish_once(stream):
    reasons = [choice["finish_reason"] for choice, _ in deltas(stream) if choice.get("finish_reason")]
    return says(len(reasons) == 1, f"{len(reasons)} chunks have a `finish_reason`")


def nothing_after_finish(stream):
    finished = False
    for choice, delta in deltas(stream):
        if finished and (delta.get("content") or delta.get("tool_calls")):
            return "text or a call after `finish_reason`"
        finished = finished or bool(choice.get("finish_reason"))
    return None


def done_last(stream):
    at = [number for number, one_event in enumerate(stream) if one_event.data == "[DONE]"]
    return says(at == [len(stream) - 1], "the last event is not `[DONE]`, or it occurs twice")


def usage_when_asked(stream):
    values = chunks(stream)
    usage = values[-1].get("usage") if values else None
    if not usage or values[-1].get("choices") != []:
        return "the last chunk before `[DONE]` does not have `usage` and empty `choices`"
    if any(value.get("usage") for value in values[:-1] if not value.get("choices")):
        return "two chunks have `usage` and no choices"
    numbers = [usage.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
    good = all(map(count, numbers)) and numbers[0] + numbers[1] == numbers[2]
    return says(good, f"the numbers of `usage` do not add up: {numbers}")


def no_usage_unless_asked(stream):
    unasked = any(chunk.get("usage") and not chunk.get("choices") for chunk in chunks(stream))
    return says(not unasked, "a chunk has only `usage`, though it was not asked for")


def whole_characters(stream):
    pieces = [delta.get("content") or "" for _, delta in deltas(stream)]
    pieces += [value.get("delta") for value in chunks(stream) if isinstance(value.get("delta"), str)]
    broken = any(REPLACEMENT in piece or any(0xD800 <= ord(c) < 0xE000 for c in piece) for piece in pieces)
    return says(any(pieces) and not broken, "no text, or a character was cut between two events")


def call_parts(stream):
    return [part for _, delta in deltas(stream) for part in delta.get("tool_calls") or []]


def call_begins_with_id(stream):
    seen = {}
    for part in call_parts(stream):
        at, inner = part.get("index"), part.get("function") or {}
        if at not in seen:
            if not part.get("id") or part.get("type") != "function" or not inner.get("name"):
                return "the first part of a call has no `id`, `type` and `function.name`"
            seen[at] = part["id"]
        elif part.get("id") not in (None, "", seen[at]):
            return "a call has two ids"
    return says(seen, "the stream has no call")


def call_indexes(stream):
    order = [part.get("index") for part in call_parts(stream)]
    firsts = list(dict.fromkeys(order))
    return says(firsts and firsts == list(range(len(firsts))), f"calls have the indexes {firsts}")


def call_is_json(stream):
    message = chat_message(stream)
    if message.finish == "length":
        raise Undecided("the call was cut")
    for call in message.calls:
        try:
            json.loads(call.text)
        except ValueError:
            return f"the parts of the arguments do not make JSON: {call.text[:60]!r}"
    return says(call_parts(stream), "the stream has no call")


def call_finish(stream):
    reasons = [choice["finish_reason"] for choice, _ in deltas(stream) if choice.get("finish_reason")]
    return says(reasons and reasons[-1] in ("tool_calls", "stop", "length"), f"`finish_reason` is {reasons}")


# By name: the stream that a rule reads (`text`, `text-with-usage` or `call`), and the rule.
CHAT_RULES = {
    "role-first": ("text", role_first),
    "one-id": ("text", lambda stream: one(stream, "id", str)),
    "one-created": ("text", lambda stream: one(stream, "created", int)),
    "one-model": ("text", lambda stream: one(stream, "model", str)),
    "object": (
        "text",
        lambda stream: says(chunks(stream)[0].get("object") == "chat.completion.chunk", "wrong `object`"),
    ),
    "index": ("text", indexes),
    "finish-once": ("text", finish_once),
    "nothing-after-finish": ("text", nothing_after_finish),
    "done-last": ("text", done_last),
    "whole-characters": ("text", whole_characters),
    "no-usage-unless-asked": ("text", no_usage_unless_asked),
    "usage-when-asked": ("text-with-usage", usage_when_asked),
    "done-after-usage": ("text-with-usage", done_last),
    "call-begins-with-id": ("call", call_begins_with_id),
    "call-indexes": ("call", call_indexes),
    "call-is-json": ("call", call_is_json),
    "call-finish": ("call", call_finish),
    "call-done-last": ("call", done_last),
}

# The rules of streams of the Responses API


def kinds(stream):
    return [value.get("type") for value in chunks(stream)]


def names_match(stream):
    good = all(one_event.name == one_event.value.get("type") for one_event in stream if one_event.value)
    return says(good, "the name of an event is not the `type` of its data")


def numbered(stream):
    numbers = [value.get("sequence_number") for value in chunks(stream)]
    good = all(map(count, numbers)) and all(a < b for a, b in zip(numbers, numbers[1:]))
    return says(good, "`sequence_number` does not rise with each event")


def completed_last(stream):
    ends = ("response.completed", "response.incomplete")
    return says(
        kinds(stream)[-1] in ends and sum(kind in ends for kind in kinds(stream)) == 1, "the end is not the last event"
    )


def items_close(stream):
    opened = [
        value.get("output_index") for value in chunks(stream) if value.get("type") == "response.output_item.added"
    ]
    closed = [value.get("output_index") for value in chunks(stream) if value.get("type") == "response.output_item.done"]
    return says(opened and sorted(opened) == sorted(closed), "not each item has one `added` and one `done`")


def parts_make(stream, prefix, member):
    """Checks that deltas make the text of the `done` event, and that the final response has this text."""
    values = chunks(stream)
    pieces = "".join(value.get("delta", "") for value in values if value.get("type") == f"{prefix}.delta")
    dones = [value.get(member) for value in values if value.get("type") == f"{prefix}.done"]
    if dones != [pieces]:
        return f"the deltas make {pieces[:40]!r}, and the events `{prefix}.done` have {dones}"
    final = responses(last_response(stream))
    text = final.text if member == "text" else "".join(call.text for call in final.calls)
    return says(text == pieces, f"the final response has {text!r}")


RESPONSES_RULES = {
    "names-match": ("text", names_match),
    "created-first": (
        "text",
        lambda stream: says(kinds(stream)[0] == "response.created", f"first is {kinds(stream)[0]}"),
    ),
    "numbered": ("text", numbered),
    "items-close": ("text", items_close),
    "text-is-whole": ("text", lambda stream: parts_make(stream, "response.output_text", "text")),
    "whole-characters": ("text", whole_characters),
    "completed-last": ("text", completed_last),
    "call-items-close": ("call", items_close),
    "call-is-whole": ("call", lambda stream: parts_make(stream, "response.function_call_arguments", "arguments")),
}
