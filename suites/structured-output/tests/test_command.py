"""The command line: exit codes, files, and what is sent."""

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path

import run
from stand_ins.faulty import Perfect, Prose
from stand_ins.server import Served


class Records(Perfect):
    """Keeps the bodies of requests."""

    def __init__(self):
        self.bodies = []

    def check(self, api, body):
        self.bodies.append(dict(body))
        body.pop("chat_template_kwargs", None)
        super().check(api, body)


class Busy(Perfect):
    """Is busy at each first request for a prompt."""

    def __init__(self):
        self.seen = set()

    def reply(self, api, raw):
        if raw in self.seen:
            return super().reply(api, raw)
        self.seen.add(raw)
        return self.error(429, "slow down", None)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_it(self, *words):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = run.main([str(word) for word in words])
            except SystemExit as error:
                code = error.code
        return code, out.getvalue(), err.getvalue()

    def test_exit_codes(self):
        with Served(Perfect()) as url:
            self.assertEqual(self.run_it("--url", url, "--only", "chat-schema/enum*")[0], 0)
        with Served(Prose()) as url:
            code, out, _ = self.run_it("--url", url, "--only", "chat-schema/enum*")
            self.assertEqual(code, 1)
            self.assertIn("ignored   chat-schema/enum: ", out)
        code, _, err = self.run_it("--url", "http://127.0.0.1:9/v1", "--model", "m", "--timeout", "5")
        self.assertEqual(code, 2)
        self.assertIn("no answer from", err)

    def test_wrong_options(self):
        for words in (
            [], ["--url", "127.0.0.1:8000"], ["--url", "http://a", "--dialect", "zq"],
            ["--url", "http://a", "--only", "zq"],
            ["--url", "http://a", "--extra", "[]"], ["--url", "http://a", "--key-env", "NO_SUCH_VARIABLE_ZQ"],
            ["--url", "http://a", "--expect", self.folder / "missing"],
        ):  # fmt: skip
            with self.subTest(words):
                self.assertEqual(self.run_it(*words)[0], 2)

    def test_expected_classes(self):
        expected = self.folder / "expected"
        with Served(Prose()) as url:
            words = ["--url", url, "--only", "chat-schema/*", "--quiet"]
            self.assertEqual(self.run_it(*words, "--write-expect", expected)[0], 1)
            self.assertEqual(self.run_it(*words, "--expect", expected)[0], 0)
        with Served(Perfect()) as url:
            code, out, _ = self.run_it("--url", url, "--only", "chat-schema/*", "--expect", expected)
            self.assertEqual(code, 1)
            self.assertIn("chat-schema/enum: expected ignored, found pass", out)
        expected.write_text("chat-schema/no-such-case ignored\n")
        self.assertEqual(self.run_it("--url", "http://a", "--expect", expected)[0], 2)

    def test_report(self):
        report = self.folder / "report.json"
        with Served(Prose()) as url:
            self.run_it("--url", url, "--only", "chat-schema/enum", "--report", report)
        found = json.loads(report.read_text())
        self.assertEqual(found["counts"]["ignored"], 1)
        self.assertEqual([case["class"] for case in found["cases"]], ["ignored"])
        self.assertEqual(found["model"], "stand-in")

    def test_options_of_requests(self):
        stand_in = Records()
        with Served(stand_in) as url:
            extra = json.dumps({"chat_template_kwargs": {"enable_thinking": False}})
            words = [
                "--extra",
                extra,
                "--omit",
                "temperature",
                "--limit-name",
                "max_completion_tokens",
                "--max-tokens",
                99,
            ]
            self.assertEqual(self.run_it("--url", url, "--only", "chat-schema/enum", *words)[0], 0)
        body = stand_in.bodies[-1]
        self.assertEqual(body["max_completion_tokens"], 99)
        self.assertEqual(body["chat_template_kwargs"], {"enable_thinking": False})
        self.assertTrue({"temperature", "max_tokens"}.isdisjoint(body))

    def test_case_and_control_differ_only_in_the_constraint(self):
        stand_in = Records()
        with Served(stand_in) as url:
            self.run_it("--url", url, "--only", "chat-schema/enum")
        one, other = (body for body in stand_in.bodies if "messages" in body)
        self.assertNotEqual(one.pop("response_format"), other.pop("response_format"))
        self.assertEqual(one, other)

    def test_busy_servers_are_asked_again(self):
        with Served(Busy()) as url:
            code, out, _ = self.run_it("--url", url, "--only", "chat-schema/enum")
        self.assertEqual(code, 0, out)

    def test_keys_are_not_shown(self):
        os.environ["SUITE_TEST_KEY"] = "secret-zq"
        with Served(Perfect()) as url:
            _, out, err = self.run_it("--url", url, "--key-env", "SUITE_TEST_KEY", "--only", "chat-schema/enum")
        self.assertNotIn("secret-zq", out + err)

    def test_cases_are_listed(self):
        code, out, _ = self.run_it("--list", "--dialect", "vllm", "--skip", "vllm-json")
        self.assertEqual(code, 0)
        self.assertIn("vllm-regex/alternatives\n", out)
        self.assertNotIn("vllm-json", out)


if __name__ == "__main__":
    unittest.main()
