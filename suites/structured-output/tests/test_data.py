"""The data of the cases: each case can tell a server that obeys the schema from one that does not."""

import json
import re
import unittest

from stand_ins.script import generate
from structured_output import cases, ways
from structured_output.validator import ANNOTATIONS, Validator, keywords, without
from structured_output.values import key, write

SCHEMAS = cases.lines("schemas.jsonl")
TEXTS = cases.lines("texts.jsonl")
# The keywords that the suite says it checks.
CHECKED = {
    "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "pattern", "format", "minItems", "maxItems", "items", "prefixItems", "uniqueItems", "contains",
    "maxContains", "properties", "required", "additionalProperties", "patternProperties", "propertyNames",
    "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "anyOf", "oneOf", "allOf", "not", "if",
    "$ref",
}  # fmt: skip


class Schemas(unittest.TestCase):
    def test_names_are_unique_and_every_keyword_has_a_case(self):
        self.assertEqual(len({entry["name"] for entry in SCHEMAS}), len(SCHEMAS))
        self.assertEqual({entry["keyword"] for entry in SCHEMAS}, CHECKED)

    def test_examples_are_valid_for_one_of_the_two_schemas(self):
        for entry in SCHEMAS:
            with self.subTest(entry["name"]):
                schema, control = Validator(entry["schema"]), Validator(entry["control"])
                for value in entry["valid"]:
                    self.assertIsNone(schema.error(value))
                    self.assertFalse(control.accepts(value), value)
                for value in entry["control_valid"]:
                    self.assertIsNone(control.error(value))
                    self.assertFalse(schema.accepts(value), value)

    def test_the_forbidden_value_breaks_both_schemas_and_only_by_the_keyword(self):
        for entry in SCHEMAS:
            with self.subTest(entry["name"]):
                value = entry["invalid"][0]
                self.assertFalse(Validator(entry["schema"]).accepts(value), value)
                self.assertFalse(Validator(entry["control"]).accepts(value), value)
                self.assertIsNone(Validator(without(entry["schema"], entry["keyword"])).error(value))
                for other in entry["invalid"]:
                    self.assertFalse(Validator(entry["schema"]).accepts(other), other)

    def test_schemas_are_written_as_they_are(self):
        for entry in SCHEMAS:
            with self.subTest(entry["name"]):
                self.assertEqual(key(cases.plain(entry["schema"])), key(entry["schema"]))

    def test_patterns_mean_the_same_in_python_and_in_javascript(self):
        found = set()

        def walk(value):
            if isinstance(value, dict):
                if isinstance(value.get("pattern"), str):
                    found.add(value["pattern"])
                found.update(value.get("patternProperties", {}))
                for member in value.values():
                    walk(member)
            for item in value if isinstance(value, list) else ():
                walk(item)

        walk(SCHEMAS)
        self.assertGreater(len(found), 15)
        for pattern in found:
            # no shorthand classes, which differ beyond ASCII, and no syntax of one of the two only
            self.assertIsNone(re.search(r"\\[a-zA-Z]|\(\?[^=!:]|\{,", pattern), pattern)

    def test_core_cases_cover_the_common_keywords(self):
        core = {entry["keyword"] for entry in SCHEMAS if entry.get("core")}
        self.assertLessEqual({"enum", "const", "pattern", "maxItems", "required", "anyOf", "$ref", "format"}, core)


class Texts(unittest.TestCase):
    def test_examples_match_one_of_the_two_grammars(self):
        for entry in TEXTS:
            with self.subTest(f"{entry['syntax']}-{entry['name']}"):
                for valid, own, other in (
                    ("valid", "match", "control_match"),
                    ("control_valid", "control_match", "match"),
                ):
                    for text in entry[valid]:
                        self.assertTrue(re.fullmatch(entry[own], text), text)
                        self.assertFalse(re.fullmatch(entry[other], text), text)
                first = entry["invalid"][0]
                self.assertFalse(re.fullmatch(entry["match"], first) or re.fullmatch(entry["control_match"], first))

    def test_regular_expressions_are_their_own_check(self):
        for entry in TEXTS:
            if entry["syntax"] == "regex":
                self.assertEqual(entry["definition"], entry["match"])
            if entry["syntax"] == "choice":
                self.assertTrue(all(re.fullmatch(entry["match"], text) for text in entry["definition"]))

    def test_each_way_has_a_case(self):
        groups = {case.group for case in cases.text_cases()}
        self.assertEqual(groups, {way.group for way in ways.TEXT_WAYS})


class All(unittest.TestCase):
    def test_ids_are_unique(self):
        ids = [case.id for case in cases.all_cases(True)]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertLess({case.id for case in cases.all_cases()}, set(ids))

    def test_dialects_select(self):
        for dialect in ways.DIALECTS:
            found = cases.all_cases(dialects=(dialect,))
            self.assertTrue(found and all(case.dialect == dialect for case in found), dialect)

    def test_answers_that_must_not_fit_do_not_fit(self):
        for entry in json.loads((cases.DATA / "truncation.json").read_text())["cases"]:
            shortest = len(write(generate(entry["schema"], entry["schema"])))
            if entry["fits"] is False:
                # no tokenizer has tokens of so many letters of nonsense
                self.assertGreater(shortest / max(entry["limits"]), 12, entry["name"])
            else:
                self.assertLess(shortest, max(entry["limits"]), entry["name"])

    def test_the_validator_reads_every_keyword(self):
        methods = {name.removeprefix("on_") for name in dir(Validator) if name.startswith("on_")}
        for entry in SCHEMAS:
            for keyword in keywords(entry["schema"]) - ANNOTATIONS - {"then", "else", "minContains", "maxContains"}:
                self.assertIn(keyword.replace("$", "").lower(), methods)


if __name__ == "__main__":
    unittest.main()
