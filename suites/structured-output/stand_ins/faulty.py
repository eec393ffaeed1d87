"""Stand-ins that do one thing wrong each."""

import json

from .faults import Refusal
from .server import Perfect


class Careless(Perfect):
    """Accepts every request."""

    def check(self, api, body):
        pass

    def reply(self, api, raw):
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        body = body if isinstance(body, dict) else {}
        # members of the wrong type count as absent
        if not isinstance(self.limit(body), int) or self.limit(body) < 0:
            body = {name: value for name, value in body.items() if not name.startswith("max_")}
        return super().reply(api, json.dumps(body))


class Prose(Careless):
    """Ignores every constraint and writes a sentence."""

    def call(self, api, body):
        return None

    def text(self, api, body):
        return "The sea is blue and quite calm today, as it was yesterday."


def asked_for(api, body):
    """Returns the last line of the prompt, which is the text that the prompt asks for."""
    turns = body.get("messages" if api == "chat" else "input")
    content = turns[0].get("content") if isinstance(turns, list) and turns else turns
    return content.split("told to use:\n")[-1] if isinstance(content, str) else "blue"


class Obeys(Prose):
    """Ignores every constraint and writes what the prompt asks for, also as the arguments of a call."""

    def text(self, api, body):
        return asked_for(api, body)

    def call(self, api, body):
        tools, wanted = body.get("tools") or [{}], body.get("tool_choice")
        if wanted in (None, "none", "auto") or not isinstance(tools[0], dict):
            return None
        kind = tools[0].get("type", "function")
        inner = tools[0].get(kind, tools[0]) if api == "chat" else tools[0]
        return ("custom" if kind == "custom" else "function"), inner.get("name", "zq"), asked_for(api, body)


class AnyObject(Obeys):
    """Answers each constraint with some JSON object."""

    def text(self, api, body):
        return '{"answer": "blue"}' if "response_format" in body or "text" in body else "blue"


class Remembers(Perfect):
    """Keeps its answer to a prompt, and gives it again for another constraint."""

    def __init__(self):
        self.kept = {}

    def write(self, api, body):
        members = ("messages", "input", "stream", "max_tokens", "max_output_tokens")
        form = [sorted(set(body) - {"stream_options"}), [body.get(name) for name in members]]
        return self.kept.setdefault(json.dumps(form), super().write(api, body))


class FirstTool(Perfect):
    """Calls the first tool, whatever `tool_choice` says."""

    def call(self, api, body):
        return super().call(api, {**body, "tool_choice": "required"})


class SaysStop(Perfect):
    """Truncates answers and says that they are complete."""

    def finish(self, is_cut, call):
        return "tool_calls" if call else "stop"


class TooLong(Perfect):
    """Writes on beyond the limit, and counts what it wrote."""

    def cut(self, text, limit):
        return text, False

    def write(self, api, body):
        written = super().write(api, body)
        written.used = len(written.text or written.calls[0][2])
        return written


class AlwaysCut(Perfect):
    """Truncates each answer after three characters, and says so."""

    def cut(self, text, limit):
        return text[:3], True


class Fails(Perfect):
    """Answers each request with the status 500."""

    def reply(self, api, raw):
        return self.error(500, "out of memory", None)


class Refuses(Perfect):
    """Supports no constraint and says so, with the place."""

    def check(self, api, body):
        super().check(api, body)
        for name in (
            "response_format",
            "text",
            "tools",
            "structured_outputs",
            "grammar",
            "regex",
            "ebnf",
            "json_schema",
        ):
            if name in body:
                raise Refusal(f"`{name}` is not supported", name)


class RefusesSilently(Refuses):
    """Supports no constraint, and does not say which part of the request it refuses."""

    def error(self, status, message, param):
        return super().error(status, "bad request", None)


class Details(Refuses):
    """Refuses in a form of its own, as web frameworks do."""

    def error(self, status, message, param):
        return 422, "application/json", json.dumps({"detail": [{"loc": ["body", param], "msg": message}]})


class HangsUp(Perfect):
    """Closes the connection when a request has messages."""

    def reply(self, api, raw):
        return None if b"messages" in raw or b"input" in raw else super().reply(api, raw)


class WebPage(Perfect):
    """Answers everything with a page, as a wrong address does."""

    def reply(self, api, raw):
        return 200, "text/html", "<html><body>Welcome!</body></html>"


class ErrorInStream(Perfect):
    """Begins each stream with 200 and then reports an error."""

    def stream(self, events):
        return 'data: {"error": {"message": "out of memory", "type": "server_error"}}\n\n'


class BrokenStream(Perfect):
    """Breaks one rule of streams: `change` takes the list of events and returns another."""

    def __init__(self, change):
        self.change = change

    def stream(self, events):
        return super().stream(self.change(events))


class BrokenReply(Perfect):
    """Breaks one rule of replies: `change` takes the body and changes it."""

    def __init__(self, change):
        self.change = change

    def chat_reply(self, body, written):
        reply = super().chat_reply(body, written)
        self.change(reply)
        return reply

    def responses_reply(self, body, written):
        reply = super().responses_reply(body, written)
        self.change(reply)
        return reply
