"""The validator, truncated JSON, places of errors, and lists of expected classes."""

import json
import unittest

from structured_output import formats, partial, report
from structured_output.cases import Case
from structured_output.client import Reply
from structured_output.judge import CLASSES, Outcome, error_place, places
from structured_output.validator import BadSchema, Validator, keywords
from structured_output.values import NotJson, key, parse

# By format: strings that have it, and strings that do not.
FORMATS = {
    "date": (["2024-02-29", "0000-01-01"], ["2023-02-29", "2023-13-01", "2023-1-1", "20230101", "2023-01-01 "]),
    "time": (["23:59:60Z", "07:03:13.5+02:00", "22:59:60-01:00"], ["24:00:00Z", "07:03:13", "22:59:60Z", "7:03:13Z"]),
    "date-time": (["2031-07-19t17:03:13z"], ["2031-07-19 17:03:13Z", "2031-07-19T17:03:13", "2031-02-30T17:03:13Z"]),
    "duration": (["P1Y2M3DT4H5M6S", "P2W", "PT36H"], ["P", "PT", "P1Y2D", "P1D2W", "1D", "P1YT"]),
    "uuid": (["0F1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"], ["0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f", "{}"]),
    "ipv4": (["0.0.0.0", "255.255.255.255"], ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4/8"]),
    "ipv6": (["::", "fe80::1", "::ffff:1.2.3.4"], [":::", "1::2::3", "fe80::1%eth0", "12345::"]),
    "hostname": (["a", "zq-7.example"], ["-a", "a-", "a..b", "", "a_b", "a." + "b" * 64]),
    "email": (["zq@wk.example", '"z q"@wk', "zq@[127.0.0.1]"], ["zq", "@wk", "z q@wk", "zq..@wk", "zq@-wk"]),
}
# Schemas with a value that they accept and one that they do not, where a wrong validator is likely.
PAIRS = [
    ({"type": "integer"}, "1.0", "1.5"),
    ({"type": "number"}, "1e3", "true"),
    ({"type": "boolean"}, "false", "0"),
    ({"enum": [1]}, "1.0", "true"),
    ({"const": [0, {"a": None}]}, '[0.0, {"a": null}]', '[false, {"a": null}]'),
    ({"const": 170319044217031904421703190442}, "170319044217031904421703190442", "170319044217031900000000000000"),
    ({"multipleOf": 0.01}, "19.99", "0.075"),
    ({"minimum": 9007199254740993}, "9007199254740993", "9007199254740992"),
    ({"maxLength": 2}, '"🜁🜂"', '"🜁🜂z"'),
    ({"pattern": "^z$"}, '"z"', '"z\\n"'),
    ({"pattern": "[$]"}, '"$"', '"z"'),
    ({"uniqueItems": True}, '[1, true, "1"]', "[1, 1.0]"),
    ({"contains": {"const": 1}, "minContains": 2, "maxContains": 2}, "[1, 2, 1]", "[1, 1, 1]"),
    ({"prefixItems": [{"const": 1}], "items": False}, "[]", "[1, 2]"),
    ({"oneOf": [{"minimum": 1}, {"maximum": 2}]}, "3", "1"),
    ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, "{}", '{"a": 1}'),
    ({"additionalProperties": False, "patternProperties": {"^a": {}}}, '{"ab": 1}', '{"ba": 1}'),
    ({"$ref": "#/$defs/a", "minimum": 2, "$defs": {"a": {"maximum": 3}}}, "2", "1"),
]


class Values(unittest.TestCase):
    def test_formats(self):
        self.assertEqual(set(FORMATS), set(formats.FORMATS))
        for name, (good, bad) in FORMATS.items():
            for text, expected in [*((text, True) for text in good), *((text, False) for text in bad)]:
                with self.subTest(format=name, text=text):
                    self.assertIs(formats.FORMATS[name](text), expected)

    def test_schemas(self):
        for schema, good, bad in PAIRS:
            with self.subTest(schema):
                self.assertTrue(Validator(schema).accepts(parse(good)))
                self.assertFalse(Validator(schema).accepts(parse(bad)))

    def test_what_is_not_json(self):
        for text in (
            "",
            "NaN",
            "{'a': 1}",
            '{"a": 1} x',
            '{"a": 1, "a": 2}',
            "```json\n{}\n```",
            "1e9999",
            '"\n"',
            "01",
        ):
            with self.subTest(text), self.assertRaises(NotJson):
                parse(text)
        with self.assertRaises(NotJson):
            parse("[" * 100000)

    def test_unknown_keywords_are_errors(self):
        with self.assertRaises(BadSchema):
            Validator({"minimumm": 1}).error(1)
        self.assertEqual(keywords({"not": {"items": {"enum": [1]}}}), {"not", "items", "enum"})

    def test_equality(self):
        self.assertEqual(key(parse("1.50")), key(parse("15e-1")))
        self.assertNotEqual(key([1]), key({"0": 1}))


class Truncated(unittest.TestCase):
    SCHEMA = {
        "type": "object",
        "properties": {
            "word": {"enum": ["zqxv", "zqjp"]},
            "list": {"type": "array", "items": {"type": "integer", "maximum": 9}, "maxItems": 2},
            "more": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        },
        "additionalProperties": False,
    }

    def test_beginnings_of_answers(self):
        validator = Validator(self.SCHEMA)
        text = '{"word": "zq\\u0078v", "list": [1, -2e0], "more": {"more": {"word":"zqjp"}}} '
        for at in range(len(text) + 1):
            with self.subTest(text[:at]):
                self.assertIsNone(partial.problem(validator, text[:at]))

    def test_texts_that_no_answer_begins_with(self):
        validator = Validator(self.SCHEMA)
        for text in (
            "The", "[", "7", '"', '{"word": "b', '{"word": 1', '{"blue": ', '{"list": [1, 2, 3', '{"list": [10,', "{'",
            '{"list": ["', '{"list": [1 2', '{"more": t', '{"word": "zqxv", "word"', '{} x', '{"more": {"more": "',
            '{"word": "zq\\x', "{,", '{"list": [01', '{"word" "', '{"list": {',
        ):  # fmt: skip
            with self.subTest(text):
                self.assertIsNotNone(partial.problem(validator, text))


class Places(unittest.TestCase):
    BODY = {"response_format": {"json_schema": {"schema": {"multipleOf": 3, "format": "idn-email", "type": "object"}}}}

    def place(self, error, names=None, status=400, exact=True):
        body = error if isinstance(error, str) else json.dumps(error)
        names = places(self.BODY) if names is None else names
        return error_place(Reply(status, "application/json", body.encode()), names, exact)[0]

    def test_places(self):
        error = lambda message, **members: {"error": {"message": message, "type": "invalid", **members}}
        self.assertEqual(self.place(error("no", param="response_format.json_schema")), "response_format")
        self.assertEqual(self.place(error("the keyword multipleOf is not supported")), "multipleOf")
        self.assertEqual(self.place(error("unknown format: idn-email")), "idn-email")
        for bad in (
            error("this is not supported"), error("wrong type"), error(""), error("no", param="elsewhere"), "<html>",
            {"message": "multipleOf"}, {"error": "multipleOf"}, {"error": {"message": "multipleOf"}}, [], "null",
        ):  # fmt: skip
            with self.subTest(bad):
                self.assertIsNone(self.place(bad))

    def test_short_names_are_whole_words(self):
        error = {"error": {"message": "n must be positive", "type": "invalid"}}
        self.assertEqual(self.place(error, ["n"]), "n")
        self.assertIsNone(self.place({"error": {"message": "nothing", "type": "invalid"}}, ["n"]))
        self.assertEqual(self.place({"error": {"message": "cannot parse", "type": "x"}}, ["pars"], exact=False), "pars")


class Expected(unittest.TestCase):
    def results(self, *kinds):
        cases = [Case("group", f"case-{at}", "openai", "chat", None) for at in range(len(kinds))]
        return [(case, Outcome(kind, "reason")) for case, kind in zip(cases, kinds)]

    def test_lists(self):
        results = self.results(*CLASSES)
        text = report.write_expected(results)
        self.assertEqual(len(text.splitlines()), len(CLASSES) - 2)
        self.assertEqual(report.surprises(results, report.read_expected(text)), [])
        self.assertEqual(len(report.surprises(results, {})), len(CLASSES) - 2)

    def test_a_case_that_became_better_is_a_surprise(self):
        expected = report.read_expected("# a comment\ngroup/case-0 ignored|wrong # and another\n")
        self.assertEqual(len(report.surprises(self.results("pass"), expected)), 1)
        self.assertEqual(report.surprises(self.results("wrong"), expected), [])

    def test_bad_lists(self):
        for text in ("group/case", "group/case fine", "group/case pass more", "a pass\na pass"):
            with self.subTest(text), self.assertRaises(report.BadList):
                report.read_expected(text)

    def test_table(self):
        lines = report.table(self.results("pass", "pass", "wrong"))
        self.assertEqual(lines[1].split(), ["group", "2", ".", ".", ".", "1", ".", ".", "."])
        self.assertEqual(lines[2].split()[:2], ["all", "2"])


if __name__ == "__main__":
    unittest.main()
