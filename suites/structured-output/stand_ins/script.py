"""What the stand-in servers answer: an allowed text for each constraint of the cases."""

import json

from structured_output.cases import lines, plain, schemas_of
from structured_output.validator import resolve
from structured_output.values import key, write


class NoAnswer(Exception):
    """The constraint is not in the script, and too rich for the generator."""


class Script:
    """Knows the first valid value of each schema and each grammar of the data."""

    def __init__(self):
        self.known = {}
        for entry in lines("schemas.jsonl"):
            for take in ("text", "call"):
                both = schemas_of(entry, take)
                for schema, valid in zip(both or (), ("valid", "control_valid")):
                    value = entry[valid][0]
                    self.known[key(plain(schema))] = write(value if entry.get("root") else {"value": value})
        for entry in lines("texts.jsonl"):
            for definition, valid in (("definition", "valid"), ("control", "control_valid")):
                self.known[key(entry[definition])] = entry[valid][0]

    def json(self, schema):
        """Returns an allowed JSON text."""
        return self.known.get(key(schema)) or json.dumps(generate(schema, schema), ensure_ascii=False)

    def text(self, definition):
        """Returns an allowed text of a grammar."""
        if key(definition) not in self.known:
            raise NoAnswer(definition)
        return self.known[key(definition)]


def generate(schema, root):
    """Returns a small value for the few keywords that the other data use."""
    if "$ref" in schema:
        return generate(resolve(root, schema["$ref"]), root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "array":
        return [generate(schema["items"], root) for _ in range(schema.get("minItems", 0))]
    if schema.get("type") == "object":
        return {name: generate(schema["properties"][name], root) for name in schema.get("required", [])}
    raise NoAnswer(json.dumps(schema))
