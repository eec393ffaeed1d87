"""The judgement of single answers: each class, from answers that a server with a model could give."""

import http.server
import json
import threading
import unittest

from structured_output import judge
from structured_output.answers import Answer, Call, Malformed
from structured_output.client import Client, Reply, Transport
from structured_output.judge import Early, Outcome
from structured_output.runner import absent_paths

ONE, OTHER = {"enum": ["zq", "zqzq"]}, {"enum": ["wk"]}


class Given:
    """Answers with given answers, in order; an `Early` is raised."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def answer(self, request):
        found = self.answers.pop(0)
        if isinstance(found, Early):
            raise found
        return found

    raw = answer

    def send(self, request):
        return Reply(*self.answer(request))


def text(value, finish="stop", **members):
    return Answer(value, finish, **members)


class Pairs(unittest.TestCase):
    def check(self, kind, first, second, take="text"):
        sides = (None, judge.json_check(ONE, take)), (None, judge.json_check(OTHER, take))
        self.assertEqual(judge.pair(Given(first, second), *sides).kind, kind)

    def test_right_answers(self):
        self.check("pass", text('"zq"'), text(' "wk"\n'))
        calls = [Answer(None, "calls", [Call("function", "f", value)]) for value in ('"zq"', '"wk"')]
        self.check("pass", *calls, take="call")

    def test_two_wrong_answers_or_equal_ones_are_ignored(self):
        self.check("ignored", text("The sea"), text("Blue is the sea"))
        self.check("ignored", text('"zq"'), text('"zq"'))
        self.check("ignored", text('"wk"'), text('"wk"'))

    def test_one_wrong_answer_is_wrong(self):
        self.check("wrong", text('"zqz"'), text('"wk"'))
        self.check("wrong", text('"zq"'), text('"w'))
        self.check("wrong", text('"zq"'), text('"wk"', "eos"))
        self.check("wrong", text('```json\n"zq"\n```'), text('"wk"'))
        self.check("wrong", Malformed("no choices"), Malformed("no choices"))
        self.check("wrong", text("blue"), Early("refused", ""))

    def test_each_call_counts(self):
        first = Answer(None, "calls", [Call("function", "f", '"zq"'), Call("function", "f", '"blue"')])
        self.check("wrong", first, Answer(None, "calls", [Call("function", "f", '"wk"')]), take="call")
        self.check("ignored", text('"zq"'), text('"wk"'), take="call")
        self.check("wrong", Answer(None, "calls", [Call("function", "f", '"zq"')]), text('"wk"'))

    def test_cut_answers(self):
        self.check("undecided", text('"z', "length"), text('"wk"'))
        self.check("undecided", text('"zq"'), text("", "length"))
        call = Answer(None, "calls", [Call("function", "f", '"wk"')])
        self.check("undecided", text(None, "length"), call, take="call")
        self.check("wrong", text('"b', "length"), text('"wk"'))
        self.check("ignored", text("The", "length"), text("Sea", "length"))

    def test_a_model_that_declines(self):
        self.check("undecided", text(None, declined=True), text('"wk"'))

    def test_replies_without_an_answer(self):
        for kind in ("refused", "unplaced", "error", "transport"):
            self.check(kind, Early(kind, ""), text('"wk"'))
            self.check(kind, text('"zq"'), Early(kind, ""))

    def test_texts(self):
        check = judge.text_check(r"\[*zq\]*", "[]", "text")
        self.assertEqual(check(text("[zq]"))[0], "ok")
        for wrong in ("[zq", "[zq]!", "zq\n", "blue", None):
            self.assertEqual(check(text(wrong))[0], "bad", wrong)
        self.assertEqual(check(text("zq", "eos"))[0], "bad")
        self.assertEqual(check(text("[[", "length"))[0], "cut")


class Calls(unittest.TestCase):
    TOOLS = {name: {"parameters": {"const": {}}} for name in ("a", "b")}

    def check(self, state, expect, answer):
        self.assertEqual(judge.calls_check(expect, self.TOOLS, {"s": ONE})(answer)[0], state)

    def test_numbers_and_names(self):
        a, b = Call("function", "a", "{}"), Call("function", "b", "{}")
        self.check("ok", {"calls": [1, None]}, Answer(None, "calls", [a, b]))
        self.check("bad", {"calls": [1, 1]}, Answer(None, "calls", [a, b]))
        self.check("bad", {"calls": [1, None]}, text("a"))
        self.check("bad", {"calls": [0, 0]}, Answer(None, "calls", [a]))
        self.check("bad", {"calls": [1, None], "names": ["a"]}, Answer(None, "calls", [a, b]))
        self.check("bad", {"calls": [1, None]}, Answer(None, "calls", [Call("function", "c", "{}")]))
        self.check("bad", {"calls": [1, None]}, Answer(None, "calls", [Call("function", "a", '{"zq": 1}')]))
        self.check("bad", {"calls": [1, None]}, Answer(None, "calls", [Call("function", "a", "{")]))
        self.check("cut", {"calls": [1, None]}, Answer(None, "length", [Call("function", "a", "{")]))

    def test_the_reason_fits_the_calls(self):
        self.check("bad", {"calls": [0, None]}, Answer(None, "stop", [Call("function", "a", "{}")]))
        self.check("bad", {"calls": [0, None]}, text("hello", "calls"))
        self.check("ok", {"calls": [0, None]}, text("hello"))

    def test_an_answer_by_a_schema(self):
        self.check("ok", {"calls": [0, None], "schema": "s"}, text('"zq"'))
        self.check("bad", {"calls": [0, None], "schema": "s"}, text("hello"))


class Limits(unittest.TestCase):
    def check(self, kind, bounded, free='"zq"', fits=None):
        free = text(free) if isinstance(free, str) else free
        outcome = judge.truncation(Given(bounded, free), None, None, ONE, "text", 5, fits)
        self.assertEqual(outcome.kind, kind, outcome)

    def test_limits(self):
        self.check("pass", text('"z', "length", used=5))
        self.check("pass", text('"zq"', used=5))
        self.check("wrong", text('"z'))
        self.check("wrong", text('"zq"', used=6))
        self.check("wrong", text('"z', "length", used=6))
        self.check("wrong", text('"zq"'), fits=False)
        self.check("pass", text('"z', "length"), fits=False)
        self.check("wrong", text('"z', "length"), free="blue")
        self.check("undecided", text('"z', "length"), free=text('"zq', "length"))
        self.check("ignored", text("The", "length"), free="The sea")
        self.check("refused", Early("refused", ""))


class Others(unittest.TestCase):
    def test_json_object(self):
        for kind, one, plain in (
            ("pass", "{}", "The sea"),
            ("ignored", "The sea", "A sea"),
            ("ignored", "[1]", "[1]"),
            ("wrong", "[1]", "{}"),
            ("undecided", "{}", '{"a": 1}'),
        ):
            self.assertEqual(judge.json_object(Given(text(one), text(plain)), None, None).kind, kind, one)

    def test_faults(self):
        good = b'{"error": {"message": "bad model", "type": "x"}}'
        for kind, reply, mended in (
            ("pass", (404, "", good), None),
            ("ignored", (200, "", b"{}"), None),
            ("unplaced", (400, "", b'{"error": {"message": "bad", "type": "x"}}'), None),
            ("refused", (404, "", good), Early("refused", "")),
            ("error", Early("error", ""), None),
        ):
            self.assertEqual(judge.refusal(Given(reply, mended), None, None, ["model"]).kind, kind)

    def test_rules(self):
        def fails():
            raise Early("refused", "")

        self.assertEqual(judge.rule(lambda subject: None, lambda: {}), Outcome("pass", ""))
        self.assertEqual(judge.rule(lambda subject: "bad", lambda: {}), Outcome("wrong", "bad"))
        self.assertEqual(judge.rule(lambda subject: subject["id"], lambda: {}).kind, "wrong")
        self.assertEqual(judge.rule(lambda subject: None, fails).kind, "refused")


class Once(http.server.BaseHTTPRequestHandler):
    """Answers with the bytes of `reply`."""

    reply = b""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.wfile.write(self.reply)

    def log_message(self, *_):
        pass


class Http(unittest.TestCase):
    def client(self, reply):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Given", (Once,), {"reply": reply}))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return Client(f"http://127.0.0.1:{server.server_address[1]}/v1", deadline=5)

    def test_bodies_that_end_early(self):
        for reply in (
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzq\r\n{}\r\n",
            b"not http\r\n\r\n",
            b"",
        ):
            with self.subTest(reply), self.assertRaises(Transport):
                self.client(reply).send("POST", "/responses", {})

    def test_whole_bodies(self):
        reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
        self.assertEqual(self.client(reply).send("POST", "/responses", {}).json(), {})

    def test_absent_paths(self):
        reply = lambda body: b"HTTP/1.1 404 Not Found\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        self.assertEqual(absent_paths(self.client(reply(b"not found")), ["responses"]), {"responses": 404})
        error = json.dumps({"error": {"message": "no model"}}).encode()
        self.assertEqual(absent_paths(self.client(reply(error)), ["responses"]), {})


if __name__ == "__main__":
    unittest.main()
