"""A stand-in for a chat server: it answers with a random value of the JSON Schema or a random call of the tools.

    python3 examples/endpoint/stand_in.py PORT [SEED]

It listens on 127.0.0.1. Equal seeds give equal answers. It refuses a request that has neither a schema nor tools, like
a server that supports no other form.
"""

import json
import random
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


def value(schema):
    """Draws a value of a schema; only the keywords that are named here are known, and strings are always the same."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return value(draw.choice(schema["anyOf"]))
    kind = schema.get("type", "string")
    kind = draw.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        return {name: value(schema["properties"][name]) for name in schema.get("required", [])}
    if kind == "array":
        return [value(schema["items"]) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number"):
        return draw.randint(schema.get("minimum", 0), schema.get("maximum", 9))
    return {"boolean": draw.random() < 0.5, "null": None}.get(kind, "Find what the request needs.")


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        schema = request.get("response_format", {}).get("json_schema", {}).get("schema")
        if "tools" in request:
            function = draw.choice(request["tools"])["function"]
            call = {"name": function["name"], "arguments": json.dumps(value(function["parameters"]))}
            message = {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": call}]}
        elif schema:
            message = {"content": json.dumps(value(schema))}
        else:
            return self.answer(400, {"error": {"message": "a request needs a schema"}})
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
        words = sum(len(message["content"].split()) for message in request["messages"])
        self.answer(200, {"choices": [choice], "usage": {"prompt_tokens": words, "completion_tokens": 1}})

    def answer(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
HTTPServer(("127.0.0.1", int(sys.argv[1])), Server).serve_forever()
