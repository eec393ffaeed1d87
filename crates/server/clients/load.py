"""Measures a server under load: tokens a second, time to the first token, and how many answers are complete and valid.

    python load.py URL MODEL --clients 4 --seconds 60 [--free] [--leave 0.1] [--bad 0.1] [--flood 400] [--short 1000]

Each client asks in turn for streams, under a schema unless `--free` is given. With `--leave P` a client closes a share P
of its streams after the first event, and reads others slowly; a share `--bad P` of the requests is malformed, and must be
refused by name. With `--flood N` one more client asks N times at once, every five seconds. `--short N` sends N requests
for one token in all, and nothing else.
"""

import argparse
import http.client
import json
import random
import statistics
import threading
import time
import urllib.parse

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "hobbies": {"type": "array", "items": {"type": "string"}, "maxItems": 4},
    },
    "required": ["name", "age", "hobbies"],
    "additionalProperties": False,
}
PROMPTS = [
    "Describe an imaginary sailor.",
    "Describe a teacher from Lisbon who collects stamps.",
    "Who plays the violin in this village? Describe her.",
    "Describe the youngest member of a chess club.",
]
# malformed requests, and the parameter that is at fault
BAD = [
    ({"messages": [{"role": "wizard", "content": "x"}]}, "messages.0.role"),
    ({"messages": [{"role": "user", "content": "x"}], "temperature": "hot"}, "temperature"),
    ({"messages": [{"role": "user", "content": "x"}], "grammar": "root ::= missing"}, "grammar"),
    ({"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function"}]}, "tools.0.function"),
    ({"messages": [{"role": "user", "content": "x"}], "unknown": 1}, "unknown"),
]


class Flood(threading.Thread):
    """Asks many times at once, every five seconds. Each request is answered, or refused because the server is busy."""

    def __init__(self, options: argparse.Namespace, end: float) -> None:
        super().__init__()
        self.options, self.end = options, end
        self.counts = {200: 0, 429: 0}
        self.wrong: list[str] = []

    def run(self) -> None:
        while time.monotonic() < self.end:
            threads = [threading.Thread(target=self.ask) for _ in range(self.options.flood)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            time.sleep(5)

    def ask(self) -> None:
        client = Client(self.options, 0, self.end)
        message = {"role": "user", "content": "Answer."}
        try:
            status, value = client.post({"model": self.options.model, "messages": [message], "max_tokens": 2})
        except (OSError, http.client.HTTPException) as error:
            self.wrong.append(repr(error))
            return
        if status in self.counts:
            self.counts[status] += 1
        else:
            self.wrong.append(f"{status}: {value}")


class Client(threading.Thread):
    def __init__(self, options: argparse.Namespace, number: int, end: float) -> None:
        super().__init__()
        self.options, self.end, self.random = options, end, random.Random(number)
        self.firsts: list[float] = []
        self.tokens = self.answers = self.good = self.left = self.busy = self.refused = 0
        self.wrong: list[str] = []

    def run(self) -> None:
        while time.monotonic() < self.end:
            try:
                if self.options.short:
                    return self.ask_shortly()
                if self.random.random() < self.options.bad:
                    self.ask_badly()
                self.ask()
            except (OSError, http.client.HTTPException) as error:
                self.wrong.append(repr(error))

    def ask_badly(self) -> None:
        """Sends a malformed request."""
        body, name = self.random.choice(BAD)
        status, value = self.post({"model": self.options.model, "messages": [], **body})
        if status == 429:
            self.busy += 1
            return
        if status != 400 or value["error"]["param"] != name:
            self.wrong.append(f"{body}: {status} {value}")
        self.refused += 1

    def post(self, body: dict) -> tuple[int, dict]:
        url = urllib.parse.urlsplit(self.options.url)
        connection = http.client.HTTPConnection(url.netloc, timeout=120)
        headers = {"Content-Type": "application/json"}
        connection.request("POST", url.path + "/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        value = json.loads(response.read())
        connection.close()
        return response.status, value

    def ask_shortly(self) -> None:
        """Asks for single tokens over one connection."""
        url = urllib.parse.urlsplit(self.options.url)
        connection = http.client.HTTPConnection(url.netloc, timeout=120)
        message = {"role": "user", "content": "Answer."}
        body = json.dumps({"model": self.options.model, "messages": [message], "max_tokens": 1, "logit_bias": {}})
        headers = {"Content-Type": "application/json"}
        for _ in range(self.options.short // self.options.clients):
            connection.request("POST", url.path + "/chat/completions", body, headers)
            response = connection.getresponse()
            value = json.loads(response.read())
            self.answers += 1
            if response.status == 200 and value["usage"]["completion_tokens"] == 1:
                self.good += 1
                self.tokens += 1
            else:
                self.wrong.append(f"{response.status}: {value}")

    def ask(self) -> None:
        body = {
            "model": self.options.model,
            "messages": [{"role": "user", "content": self.random.choice(PROMPTS)}],
            "max_tokens": 100,
            "temperature": 0.7,
            "seed": self.random.randrange(1 << 30),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if not self.options.free:
            schema = {"name": "person", "schema": SCHEMA}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        url = urllib.parse.urlsplit(self.options.url)
        connection = http.client.HTTPConnection(url.netloc, timeout=120)
        start = time.monotonic()
        headers = {"Content-Type": "application/json"}
        connection.request("POST", url.path + "/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        if response.status == 429:
            self.busy += 1
            time.sleep(float(response.headers.get("Retry-After", 1)))
            return
        if response.status != 200:
            self.wrong.append(f"{response.status}: {response.read(300)!r}")
            return
        leaves = self.random.random() < self.options.leave
        is_slow = self.random.random() < self.options.leave
        text, reason, is_first = "", None, True
        for line in response:
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            for choice in event.get("choices", []):
                piece = choice["delta"].get("content")
                if piece and is_first:
                    self.firsts.append(time.monotonic() - start)
                    is_first = False
                text += piece or ""
                reason = choice["finish_reason"] or reason
            if event.get("usage"):
                self.tokens += event["usage"]["completion_tokens"]
            if leaves and text:
                self.left += 1
                connection.close()
                return
            if is_slow:
                time.sleep(0.02)
        self.answers += 1
        if self.options.free or (reason == "stop" and is_valid(text)):
            self.good += 1
        else:
            self.wrong.append(f"{reason}: {text}")
        connection.close()


def is_valid(text: str) -> bool:
    """Returns whether a text is JSON by the schema."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return (
        isinstance(value, dict)
        and set(value) == {"name", "age", "hobbies"}
        and isinstance(value["name"], str)
        and isinstance(value["age"], (int, float))
        and value["age"] == int(value["age"])
        and 0 <= value["age"] <= 120
        and isinstance(value["hobbies"], list)
        and len(value["hobbies"]) <= 4
        and all(isinstance(hobby, str) for hobby in value["hobbies"])
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("model")
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--free", action="store_true")
    parser.add_argument("--leave", type=float, default=0)
    parser.add_argument("--bad", type=float, default=0)
    parser.add_argument("--flood", type=int, default=0)
    parser.add_argument("--short", type=int, default=0)
    options = parser.parse_args()
    start = time.monotonic()
    clients = [Client(options, number, start + options.seconds) for number in range(options.clients)]
    flood = Flood(options, start + options.seconds)
    if options.flood:
        flood.start()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if options.flood:
        flood.join()
    took = time.monotonic() - start
    firsts = sorted(first for client in clients for first in client.firsts) or [float("nan")]
    count = {name: sum(getattr(client, name) for client in clients) for name in ("tokens", "answers", "good", "left", "busy", "refused")}
    wrong = flood.wrong + [message for client in clients for message in client.wrong]
    print(
        f"{options.clients} clients, {'free' if options.free else 'schema'}: {count['tokens'] / took:.1f} tokens/s, "
        f"first token p50 {statistics.median(firsts) * 1000:.0f} ms, p99 {firsts[int(len(firsts) * 0.99)] * 1000:.0f} ms; "
        f"{count['good']} of {count['answers']} complete and valid, {count['left']} left, {count['busy']} refused as busy, "
        f"{len(wrong)} wrong"
    )
    if options.bad or options.flood:
        print(
            f"{count['refused']} malformed requests refused; of a flood {flood.counts[200]} answered, "
            f"{flood.counts[429]} refused as busy"
        )
    for message in wrong[:5]:
        print("  ", message[:300])
    if wrong:
        raise SystemExit(1)


main()
