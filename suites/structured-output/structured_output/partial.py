"""Truncated JSON: says whether a text is the beginning of a JSON text that a schema allows.

The check is one-sided. It finds text that no valid answer begins with; a few keywords are only checked in values that
are complete.
"""

import re
from dataclasses import dataclass, field

from .validator import has_type, resolve
from .values import NotJson, key, parse, write

SPACE = re.compile(r"[ \t\n\r]*")
SCALAR = re.compile(r"[-+0-9.eEtrufalsn]*")
NUMBER_START = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:(?<=[0-9])\.[0-9]*)?(?:(?<=[0-9])[eE][-+]?[0-9]*)?")
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
ESCAPE_START = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")


@dataclass
class Open:
    """A value that is not complete."""

    kind: str
    # of a string, its characters; of a number or word, its text
    text: str = ""
    # the complete items or members
    items: list = field(default_factory=list)
    members: dict = field(default_factory=dict)
    # the name or index at which `last` is, and the item or member that is not complete
    name: str | None = None
    last: object = None


class Reader:
    """Reads one value from the start of a text."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def space(self):
        self.at = SPACE.match(self.text, self.at).end()
        return self.text[self.at : self.at + 1]

    def fail(self):
        raise NotJson(f"not the beginning of JSON at {self.text[self.at : self.at + 20]!r}")

    def value(self):
        """Returns (True, value), (False, Open), or (False, None) at the end of the text."""
        letter = self.space()
        if not letter:
            return False, None
        if letter == '"':
            return self.string()
        if letter == "[":
            return self.array()
        if letter == "{":
            return self.object()
        return self.scalar()

    def string(self):
        found = STRING.match(self.text, self.at)
        start, self.at = self.at, found.end()
        if self.text[self.at : self.at + 1] == '"':
            self.at += 1
            return True, parse(self.text[start : self.at])
        rest = self.text[self.at :]
        if rest and not ESCAPE_START.fullmatch(rest):
            self.fail()
        text = parse(found[0] + '"')
        # half of a surrogate pair is not yet a character
        return False, Open("string", text[:-1] if text and 0xD800 <= ord(text[-1]) < 0xDC00 else text)

    def scalar(self):
        found = SCALAR.match(self.text, self.at)
        if not found[0]:
            self.fail()
        self.at = found.end()
        word = found[0]
        if self.at < len(self.text) or word in ("true", "false", "null"):
            return True, parse(word)
        if any(name.startswith(word) for name in ("true", "false", "null")):
            return False, Open("word", word)
        if not NUMBER_START.fullmatch(word):
            self.fail()
        return False, Open("number", word)

    def array(self):
        self.at += 1
        result = Open("array")
        if self.space() == "]":
            self.at += 1
            return True, []
        while True:
            done, item = self.value()
            if not done:
                result.last = item
                return False, result
            result.items.append(item)
            letter = self.space()
            self.at += 1
            if letter == "]":
                return True, result.items
            if not letter:
                return False, result
            if letter != ",":
                self.fail()

    def object(self):
        self.at += 1
        result = Open("object")
        if self.space() == "}":
            self.at += 1
            return True, {}
        while True:
            letter = self.space()
            if not letter:
                return False, result
            if letter != '"':
                self.fail()
            done, name = self.string()
            if not done:
                return False, result
            if name in result.members:
                raise NotJson("an object has a member name twice")
            result.name = name
            letter = self.space()
            if letter and letter != ":":
                self.fail()
            self.at += 1
            done, item = self.value() if letter else (False, None)
            if not done:
                result.last = item
                return False, result
            result.members[name], result.name = item, None
            letter = self.space()
            self.at += 1
            if letter == "}":
                return True, result.members
            if not letter:
                return False, result
            if letter != ",":
                self.fail()


def problem(validator, text):
    """Returns why a text is not the beginning of an answer that a schema allows, or None."""
    reader = Reader(text)
    try:
        done, value = reader.value()
        if done and reader.space():
            reader.fail()
    except (NotJson, RecursionError) as error:
        return str(error)
    if done:
        return validator.error(value)
    if value is not None and not viable(validator, validator.root, value):
        return "no answer that the schema allows begins like this"
    return None


def types_of(value):
    if value.kind == "number":
        return {"integer", "number"}
    return {"null"} if value.text.startswith("n") else {"boolean"} if value.kind == "word" else {value.kind}


def may_become(value, constant):
    """Returns whether an open value may become a constant."""
    if value.kind == "string":
        return isinstance(constant, str) and constant.startswith(value.text)
    if value.kind == "word":
        return constant in (True, False, None) and write(constant).startswith(value.text)
    if value.kind == "number":
        # 1 may also be written as 1.0 or 10e-1
        return has_type(constant, "number")
    if value.kind == "array":
        start = value.items
        return isinstance(constant, list) and key(constant[: len(start)]) == key(start)
    members = value.members.items()
    return isinstance(constant, dict) and all(n in constant and key(constant[n]) == key(m) for n, m in members)


def viable(validator, schema, value):
    """Returns whether a complete value could begin with an open one."""
    if isinstance(schema, bool):
        return schema
    here = lambda part: viable(validator, part, value)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not types_of(value) & set(names):
        return False
    constants = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if constants is not None and not any(may_become(value, one) for one in constants):
        return False
    if "$ref" in schema and not here(resolve(validator.root, schema["$ref"])):
        return False
    if not all(here(part) for part in schema.get("allOf", [])):
        return False
    if any(name in schema and not any(map(here, schema[name])) for name in ("anyOf", "oneOf")):
        return False
    if value.kind == "string":
        return len(value.text) <= schema.get("maxLength", len(value.text))
    if value.kind == "array":
        return array_is_viable(validator, schema, value)
    return value.kind != "object" or object_is_viable(validator, schema, value)


def array_is_viable(validator, schema, value):
    parts = schema.get("prefixItems", [])
    part = lambda at: parts[at] if at < len(parts) else schema.get("items", True)
    count = len(value.items) + (value.last is not None)
    if count > schema.get("maxItems", count):
        return False
    if not all(validator.fits(part(at), item) for at, item in enumerate(value.items)):
        return False
    return value.last is None or viable(validator, part(len(value.items)), value.last)


def object_is_viable(validator, schema, value):
    rest = True if "patternProperties" in schema else schema.get("additionalProperties", True)
    part = lambda name: schema.get("properties", {}).get(name, rest)
    if not all(validator.fits(part(name), member) for name, member in value.members.items()):
        return False
    if value.name is None:
        return True
    return part(value.name) is not False and (value.last is None or viable(validator, part(value.name), value.last))
