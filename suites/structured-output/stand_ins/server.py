"""An HTTP server for the stand-ins, and the one that does everything right."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import faults
from .script import Script

MODEL = "stand-in"
SCRIPT = Script()
# A token of the stand-ins has so many characters.
TOKEN = 4
PIECE = 3


class Written:
    """What the stand-in wrote: a text or calls (kind, name, text), how it ended, and how many tokens it took."""

    def __init__(self, text=None, calls=(), finish="stop", used=0):
        self.text, self.calls, self.finish, self.used = text, list(calls), finish, used


class Perfect:
    """Answers each constraint with an allowed text, and refuses what is wrong."""

    def reply(self, api, raw):
        """Returns a status, a content type, and the body as text."""
        try:
            body = json.loads(raw)
        except ValueError as error:
            return self.error(400, f"the body is not JSON: {error}", "body")
        try:
            self.check(api, body)
            written = self.write(api, body)
        except faults.Refusal as refusal:
            return self.error(refusal.status, str(refusal), refusal.param)
        if body.get("stream") is True:
            events = self.chat_events(body, written) if api == "chat" else self.responses_events(body, written)
            return 200, "text/event-stream", self.stream(events)
        reply = self.chat_reply(body, written) if api == "chat" else self.responses_reply(body, written)
        return 200, "application/json", json.dumps(reply)

    def error(self, status, message, param):
        error = {"message": message, "type": "invalid_request_error", "param": param, "code": None}
        return status, "application/json", json.dumps({"error": error})

    def check(self, api, body):
        faults.check(api, body, MODEL)

    def limit(self, body):
        names = ("max_tokens", "max_completion_tokens", "max_output_tokens")
        return next((body[name] for name in names if name in body), 10**6)

    def cut(self, text, limit):
        """Returns at most so many tokens of a text, and whether it was cut."""
        return text[: limit * TOKEN], len(text) > limit * TOKEN

    def write(self, api, body):
        limit, call = self.limit(body), self.call(api, body)
        text = call[2] if call else self.text(api, body)
        text, is_cut = self.cut(text, limit)
        used = min(-(-len(text) // TOKEN), limit)
        finish = self.finish(is_cut, call)
        return Written(None, [(*call[:2], text)], finish, used) if call else Written(text, (), finish, used)

    def finish(self, is_cut, call):
        return "length" if is_cut else "tool_calls" if call else "stop"

    def call(self, api, body):
        """Returns the call that the stand-in makes, or None."""
        tools, wanted = body.get("tools", []), body.get("tool_choice", "auto")
        if not tools or wanted in ("none", "auto"):
            return None
        inner = [tool.get(tool["type"], tool) if api == "chat" else tool for tool in tools]
        name = inner[0]["name"]
        if isinstance(wanted, dict):
            wanted = wanted.get("allowed_tools", wanted)
            wanted = wanted["tools"][0] if "tools" in wanted else wanted
            name = wanted.get("function", wanted)["name"]
        at = next(at for at, tool in enumerate(inner) if tool["name"] == name)
        if tools[at]["type"] == "custom":
            grammar = inner[at]["format"].get("grammar", inner[at]["format"])
            return "custom", name, SCRIPT.text(grammar["definition"])
        return "function", name, SCRIPT.json(inner[at]["parameters"])

    def text(self, api, body):
        form = body.get("response_format", {}) if api == "chat" else body.get("text", {}).get("format", {})
        outputs = body.get("structured_outputs", {})
        if "json" in outputs or "json_schema" in body:
            return SCRIPT.json(outputs.get("json", body.get("json_schema")))
        for definition in (*outputs.values(), *(body[name] for name in ("grammar", "regex", "ebnf") if name in body)):
            return SCRIPT.text(definition)
        if form.get("type") == "json_schema":
            return SCRIPT.json(form["json_schema"]["schema"] if api == "chat" else form["schema"])
        if form.get("type") == "structural_tag":
            return SCRIPT.text(form["format"])
        if form.get("type") == "json_object":
            return SCRIPT.json(form["schema"]) if "schema" in form else '{"sea": "blue"}'
        return "The sea is blue."

    # The forms of replies

    def usage(self, written, names=("prompt_tokens", "completion_tokens", "total_tokens")):
        return dict(zip(names, (7, written.used, 7 + written.used)))

    def chat_calls(self, written):
        calls = enumerate(written.calls)
        member = lambda kind: "input" if kind == "custom" else "arguments"
        return [
            {"id": f"call_{at}", "type": kind, kind: {"name": name, member(kind): text}}
            for at, (kind, name, text) in calls
        ]

    def chat_reply(self, body, written):
        message = {"role": "assistant", "content": written.text, "refusal": None}
        if written.calls:
            message["tool_calls"] = self.chat_calls(written)
        choice = lambda at: {"index": at, "message": message, "finish_reason": written.finish, "logprobs": None}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": MODEL}
        return {**head, "choices": [choice(at) for at in range(body.get("n", 1))], "usage": self.usage(written)}

    def pieces(self, text):
        return [text[at : at + PIECE] for at in range(0, len(text), PIECE)]

    def chat_events(self, body, written):
        """Returns the data of the events of a streamed chat completion."""
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        asked = body.get("stream_options", {}).get("include_usage")
        rest = {"usage": None} if asked else {}
        chunk = lambda delta, finish=None: {
            **head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **rest
        }  # fmt: skip
        events = [chunk({"role": "assistant", "content": "" if written.text is not None else None})]
        events += [chunk({"content": piece}) for piece in self.pieces(written.text or "")]
        for at, call in enumerate(self.chat_calls(written)):
            kind = call["type"]
            member = "input" if kind == "custom" else "arguments"
            text = call[kind][member]
            first = {**call, "index": at, kind: {**call[kind], member: ""}}
            events.append(chunk({"tool_calls": [first]}))
            events += [chunk({"tool_calls": [{"index": at, kind: {member: piece}}]}) for piece in self.pieces(text)]
        events.append(chunk({}, written.finish))
        if asked:
            events.append({**head, "choices": [], "usage": self.usage(written)})
        return [*events, "[DONE]"]

    def responses_reply(self, body, written):
        items = []
        if written.text is not None:
            part = {"type": "output_text", "text": written.text, "annotations": []}
            items = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}]
        for at, (kind, name, text) in enumerate(written.calls):
            kind, member = ("custom_tool_call", "input") if kind == "custom" else ("function_call", "arguments")
            items.append({"type": kind, "id": f"fc_{at}", "call_id": f"call_{at}", "name": name, member: text})
        cut = written.finish == "length"
        head = {"id": "resp_1", "object": "response", "created_at": 1, "model": MODEL, "output": items}
        usage = self.usage(written, ("input_tokens", "output_tokens", "total_tokens"))
        details = {"reason": "max_output_tokens"} if cut else None
        return {**head, "status": "incomplete" if cut else "completed", "incomplete_details": details, "usage": usage}

    def responses_events(self, body, written):
        """Returns the data of the events of a streamed response."""
        final = self.responses_reply(body, written)
        events = [{"type": "response.created", "response": {**final, "status": "in_progress", "output": []}}]
        for at, item in enumerate(final["output"]):
            place = {"output_index": at, "item_id": item["id"]}
            events.append({"type": "response.output_item.added", "output_index": at, "item": item})
            if item["type"] == "message":
                name, text, place = "response.output_text", item["content"][0]["text"], {**place, "content_index": 0}
                done = {"text": text}
            elif item["type"] == "function_call":
                name, text = "response.function_call_arguments", item["arguments"]
                done = {"arguments": text}
            else:
                name, text = "response.custom_tool_call_input", item["input"]
                done = {"input": text}
            events += [{"type": f"{name}.delta", **place, "delta": piece} for piece in self.pieces(text)]
            events.append({"type": f"{name}.done", **place, **done})
            events.append({"type": "response.output_item.done", "output_index": at, "item": item})
        events.append({"type": f"response.{final['status']}", "response": final})
        return [{**event, "sequence_number": number} for number, event in enumerate(events)]

    def stream(self, events):
        """Returns the text of a stream."""
        text = ""
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
            text += f"{name}data: {data}\n\n"
        return text


def handler(stand_in):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(200, "application/json", json.dumps({"object": "list", "data": [{"id": MODEL}]}))

        def do_POST(self):
            raw = self.rfile.read(int(self.headers["content-length"]))
            api = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}.get(self.path)
            if api is None:
                return self.answer(404, "text/plain", "not found")
            reply = stand_in.reply(api, raw)
            if reply is None:
                return self.connection.close()
            return self.answer(*reply)

        def answer(self, status, kind, body):
            body = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

        def finish(self):
            try:
                super().finish()
            except (OSError, ValueError):
                pass

    return Handler


class Served:
    """Serves a stand-in at a free port while a block runs; gives its address."""

    def __init__(self, stand_in):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(stand_in))
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
