"""Reads replies of both APIs into one form, and checks their shape."""

from dataclasses import dataclass, field


class Malformed(Exception):
    """The reply does not have the form of the API."""


class Undecided(Exception):
    """The reply does not show whether a rule holds."""


@dataclass
class Call:
    """A call of a tool; `text` is its arguments, or the input of a custom tool."""

    kind: str
    name: str
    text: str


@dataclass
class Answer:
    """What the model wrote, and how it ended: `stop`, `calls`, `length`, or another word of the server."""

    text: str | None
    finish: str
    calls: list[Call] = field(default_factory=list)
    declined: bool = False
    # tokens that the server counts
    used: int | None = None

    def same(self, other):
        return (self.text, [(call.name, call.text) for call in self.calls]) == (
            other.text,
            [(call.name, call.text) for call in other.calls],
        )


def need(value, kinds, place):
    """Returns a value if it has one of the types; otherwise raises `Malformed`."""
    if not isinstance(value, kinds) or isinstance(value, bool):
        raise Malformed(f"`{place}` is missing or has the wrong type")
    return value


def chat_calls(calls):
    found = []
    for call in calls or []:
        kind = need(call, dict, "tool_calls[]").get("type", "function")
        inner = need(call.get(kind), dict, f"tool_calls[].{kind}")
        text = need(inner.get("input" if kind == "custom" else "arguments"), str, f"tool_calls[].{kind}.arguments")
        found.append(Call(kind, need(inner.get("name"), str, f"tool_calls[].{kind}.name"), text))
    return found


def chat_choice(choice, usage=None):
    """Reads one of the `choices` of a chat completion."""
    message = need(need(choice, dict, "choices[]").get("message"), dict, "choices[].message")
    content, finish = message.get("content"), need(choice.get("finish_reason"), str, "choices[].finish_reason")
    if content is not None:
        need(content, str, "choices[].message.content")
    calls = chat_calls(message.get("tool_calls"))
    # a call of a named tool may end with `stop`
    ended = {"tool_calls": "calls", "stop": "calls" if calls else "stop"}.get(finish, finish)
    return Answer(content, ended, calls, bool(message.get("refusal")), (usage or {}).get("completion_tokens"))


def chat(body):
    choices = need(need(body, dict, "the body").get("choices"), list, "choices")
    if not choices:
        raise Malformed("`choices` is empty")
    return chat_choice(choices[0], body.get("usage"))


def responses(body):
    """Reads a response of the Responses API."""
    status = need(need(body, dict, "the body").get("status"), str, "status")
    text, calls, declined = None, [], False
    for item in need(body.get("output"), list, "output"):
        kind = need(item, dict, "output[]").get("type")
        if kind == "message":
            for part in need(item.get("content"), list, "output[].content"):
                declined = declined or part.get("type") == "refusal"
                if part.get("type") == "output_text":
                    text = (text or "") + need(part.get("text"), str, "output[].content[].text")
        elif kind in ("function_call", "custom_tool_call"):
            name = need(item.get("name"), str, "output[].name")
            member = "input" if kind == "custom_tool_call" else "arguments"
            written = need(item.get(member), str, f"output[].{member}")
            calls.append(Call("custom" if kind == "custom_tool_call" else "function", name, written))
    why = (body.get("incomplete_details") or {}).get("reason")
    finish = {"completed": "calls" if calls else "stop"}.get(status, status)
    if status == "incomplete":
        finish = "length" if why == "max_output_tokens" else f"incomplete: {why}"
    return Answer(text, finish, calls, declined, (body.get("usage") or {}).get("output_tokens"))


READERS = {"chat": chat, "responses": responses}


def says(condition, text):
    return None if condition else text


def count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _message(body):
    return body["choices"][0]["message"]


def _usage(body, names):
    usage = body.get("usage") or {}
    numbers = [usage.get(name) for name in names]
    if not all(map(count, numbers)):
        return f"`usage` must have the numbers {', '.join(names)}"
    return says(numbers[0] + numbers[1] == numbers[2], f"{numbers[0]} + {numbers[1]} tokens are not {numbers[2]}")


def _calls(body):
    for call in _message(body).get("tool_calls") or [{}]:
        if not (isinstance(call.get("id"), str) and call["id"] and call.get("type") == "function"):
            return "a call has no `id`, or its `type` is not `function`"
    return None


CHAT_USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")
RESPONSES_USAGE = ("input_tokens", "output_tokens", "total_tokens")

# Rules for replies that do not stream, by name: the reply that each reads (`text` or `call`), and a function that
# returns what is wrong.
CHAT_SHAPE = {
    "id": ("text", lambda body: says(isinstance(body.get("id"), str) and body["id"], "`id` is not text")),
    "object": (
        "text",
        lambda body: says(body.get("object") == "chat.completion", f"`object` is {body.get('object')!r}"),
    ),
    "created": ("text", lambda body: says(count(body.get("created")), "`created` is not a number of seconds")),
    "model": ("text", lambda body: says(isinstance(body.get("model"), str), "`model` is not text")),
    "index": ("text", lambda body: says(body["choices"][0].get("index") == 0, "the first choice has not the index 0")),
    "role": ("text", lambda body: says(_message(body).get("role") == "assistant", "`role` is not `assistant`")),
    "finish-reason": (
        "text",
        lambda body: says(
            body["choices"][0].get("finish_reason") in ("stop", "length"), "`finish_reason` is not `stop` or `length`"
        ),
    ),
    "usage": ("text", lambda body: _usage(body, CHAT_USAGE)),
    "call-id-and-type": ("call", _calls),
    "call-finish-reason": (
        "call",
        lambda body: says(
            body["choices"][0].get("finish_reason") in ("tool_calls", "stop", "length"),
            "`finish_reason` is not `tool_calls`",
        ),
    ),
}


def _items(body, *kinds):
    return [item for item in body.get("output") or [] if item.get("type") in kinds]


RESPONSES_SHAPE = {
    "id": ("text", lambda body: says(isinstance(body.get("id"), str) and body["id"], "`id` is not text")),
    "object": ("text", lambda body: says(body.get("object") == "response", f"`object` is {body.get('object')!r}")),
    "created-at": ("text", lambda body: says(count(int(body.get("created_at") or -1)), "`created_at` is not a time")),
    "model": ("text", lambda body: says(isinstance(body.get("model"), str), "`model` is not text")),
    "message": (
        "text",
        lambda body: says(
            any(item.get("id") and item.get("role") == "assistant" for item in _items(body, "message")),
            "no message of the assistant with an `id`",
        ),
    ),
    "usage": ("text", lambda body: _usage(body, RESPONSES_USAGE)),
    "call-id": (
        "call",
        lambda body: says(
            _items(body, "function_call") and all(item.get("call_id") for item in _items(body, "function_call")),
            "a call has no `call_id`",
        ),
    ),
}
