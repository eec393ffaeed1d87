"""A validator for the keywords of JSON Schema (2020-12) that the cases use.

An unknown keyword is an error, so that no case relies on a keyword that is not checked. Patterns are those that mean
the same in ECMA-262 and in Python, except `$`, which is translated.
"""

import functools
import re
from fractions import Fraction
from urllib.parse import unquote

from .formats import FORMATS
from .values import key, short, write

ANNOTATIONS = {"$defs", "$schema", "title", "description", "default", "examples", "$comment", "deprecated"}
# these are read by the keyword that they belong to
HELPERS = {"then", "else", "minContains", "maxContains"}
TYPES = {"null", "boolean", "integer", "number", "string", "array", "object"}


class BadSchema(ValueError):
    """The schema is not one that this validator reads; `place` is a JSON Pointer."""

    def __init__(self, place, text):
        super().__init__(f"{place or '/'}: {text}")
        self.place = place


def is_number(value):
    return not isinstance(value, (bool, str, list, dict)) and value is not None


def has_type(value, name):
    if name == "null":
        return value is None
    if name == "boolean":
        return isinstance(value, bool)
    if name == "number":
        return is_number(value)
    if name == "integer":
        return is_number(value) and value == int(value)
    return isinstance(value, {"string": str, "array": list, "object": dict}[name])


@functools.cache
def pattern(text):
    """Compiles a pattern. `$` means the end of the text, not the end before a last newline."""
    return re.compile(re.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|\$", lambda at: at[1] or r"\Z", text))


def resolve(root, reference):
    if not reference.startswith("#"):
        raise BadSchema("$ref", f"{reference} is not in this document")
    found = root
    for part in unquote(reference[1:]).split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or part not in found:
            raise BadSchema("$ref", f"{reference} does not exist")
        found = found[part]
    return found


class Validator:
    """A schema, ready to validate values."""

    def __init__(self, schema):
        self.root = schema

    def error(self, value):
        """Returns what is wrong with a value, or None."""
        return self.check(self.root, value, "")

    def accepts(self, value):
        return self.error(value) is None

    def check(self, schema, value, place):
        if schema is True:
            return None
        if schema is False:
            return f"{place or 'the answer'}: no value is allowed here"
        for keyword, argument in schema.items():
            if keyword in ANNOTATIONS or keyword in HELPERS:
                continue
            method = getattr(self, "on_" + keyword.replace("$", "").lower(), None)
            if method is None:
                raise BadSchema(place, f"the keyword {keyword} is not known here")
            problem = method(argument, value, place, schema)
            if problem is True:
                return f"{place or 'the answer'}: {short(write(value), 40)} breaks `{keyword}`"
            if problem:
                return problem
        return None

    def fits(self, schema, value):
        return self.check(schema, value, "") is None

    # Any value. Each method returns True or a text if the value breaks the keyword.

    def on_type(self, names, value, place, schema):
        return not any(has_type(value, name) for name in ([names] if isinstance(names, str) else names))

    def on_enum(self, values, value, place, schema):
        return key(value) not in {key(one) for one in values}

    def on_const(self, constant, value, place, schema):
        return key(value) != key(constant)

    def on_ref(self, reference, value, place, schema):
        return self.check(resolve(self.root, reference), value, place)

    def on_allof(self, parts, value, place, schema):
        return next(filter(None, (self.check(part, value, place) for part in parts)), None)

    def on_anyof(self, parts, value, place, schema):
        return not any(self.fits(part, value) for part in parts)

    def on_oneof(self, parts, value, place, schema):
        return sum(self.fits(part, value) for part in parts) != 1

    def on_not(self, part, value, place, schema):
        return self.fits(part, value)

    def on_if(self, condition, value, place, schema):
        branch = schema.get("then" if self.fits(condition, value) else "else", True)
        return self.check(branch, value, place)

    # Numbers

    def on_minimum(self, bound, value, place, schema):
        return is_number(value) and value < bound

    def on_maximum(self, bound, value, place, schema):
        return is_number(value) and value > bound

    def on_exclusiveminimum(self, bound, value, place, schema):
        return is_number(value) and value <= bound

    def on_exclusivemaximum(self, bound, value, place, schema):
        return is_number(value) and value >= bound

    def on_multipleof(self, step, value, place, schema):
        return is_number(value) and (Fraction(str(value)) / Fraction(str(step))).denominator != 1

    # Strings

    def on_minlength(self, bound, value, place, schema):
        return isinstance(value, str) and len(value) < bound

    def on_maxlength(self, bound, value, place, schema):
        return isinstance(value, str) and len(value) > bound

    def on_pattern(self, text, value, place, schema):
        return isinstance(value, str) and not pattern(text).search(value)

    def on_format(self, name, value, place, schema):
        if name not in FORMATS:
            raise BadSchema(place, f"the format {name} is not known here")
        return isinstance(value, str) and not FORMATS[name](value)

    # Arrays

    def on_prefixitems(self, parts, value, place, schema):
        pairs = enumerate(zip(parts, value)) if isinstance(value, list) else ()
        return next(filter(None, (self.check(part, item, f"{place}/{at}") for at, (part, item) in pairs)), None)

    def on_items(self, part, value, place, schema):
        start = len(schema.get("prefixItems", []))
        items = enumerate(value[start:], start) if isinstance(value, list) else ()
        return next(filter(None, (self.check(part, item, f"{place}/{at}") for at, item in items)), None)

    def on_minitems(self, bound, value, place, schema):
        return isinstance(value, list) and len(value) < bound

    def on_maxitems(self, bound, value, place, schema):
        return isinstance(value, list) and len(value) > bound

    def on_uniqueitems(self, wanted, value, place, schema):
        return wanted and isinstance(value, list) and len({key(item) for item in value}) < len(value)

    def on_contains(self, part, value, place, schema):
        if not isinstance(value, list):
            return None
        count = sum(self.fits(part, item) for item in value)
        return not schema.get("minContains", 1) <= count <= schema.get("maxContains", count)

    # Objects

    def on_properties(self, parts, value, place, schema):
        names = [name for name in parts if name in value] if isinstance(value, dict) else ()
        problems = (self.check(parts[name], value[name], f"{place}/{name}") for name in names)
        return next(filter(None, problems), None)

    def on_patternproperties(self, parts, value, place, schema):
        if not isinstance(value, dict):
            return None
        for text, part in parts.items():
            for name in filter(pattern(text).search, value):
                problem = self.check(part, value[name], f"{place}/{name}")
                if problem:
                    return problem
        return None

    def on_additionalproperties(self, part, value, place, schema):
        if not isinstance(value, dict):
            return None
        patterns = [pattern(text) for text in schema.get("patternProperties", {})]
        for name in value:
            if name not in schema.get("properties", {}) and not any(one.search(name) for one in patterns):
                problem = self.check(part, value[name], f"{place}/{name}")
                if problem:
                    return problem
        return None

    def on_propertynames(self, part, value, place, schema):
        return isinstance(value, dict) and not all(self.fits(part, name) for name in value)

    def on_required(self, names, value, place, schema):
        return isinstance(value, dict) and not all(name in value for name in names)

    def on_minproperties(self, bound, value, place, schema):
        return isinstance(value, dict) and len(value) < bound

    def on_maxproperties(self, bound, value, place, schema):
        return isinstance(value, dict) and len(value) > bound

    def on_dependentrequired(self, needs, value, place, schema):
        if not isinstance(value, dict):
            return None
        return not all(other in value for name, others in needs.items() if name in value for other in others)

    def on_dependentschemas(self, needs, value, place, schema):
        parts = [part for name, part in needs.items() if isinstance(value, dict) and name in value]
        return next(filter(None, (self.check(part, value, place) for part in parts)), None)


# The keywords whose arguments hold schemas, by form.
ONE = {"not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"}
MANY = {"allOf", "anyOf", "oneOf", "prefixItems"}
NAMED = {"properties", "patternProperties", "dependentSchemas", "$defs"}


def subschemas(schema):
    """Yields the places and subschemas directly in a schema."""
    for keyword, argument in schema.items() if isinstance(schema, dict) else ():
        if keyword in ONE:
            yield f"/{keyword}", argument
        elif keyword in MANY:
            yield from ((f"/{keyword}/{at}", part) for at, part in enumerate(argument))
        elif keyword in NAMED:
            yield from ((f"/{keyword}/{name}", part) for name, part in argument.items())


def keywords(schema):
    """Returns the keywords of a schema and of its subschemas."""
    found = set(schema) if isinstance(schema, dict) else set()
    return found.union(*(keywords(part) for _, part in subschemas(schema)))


def without(schema, keyword):
    """Returns a schema in which neither it nor a subschema has a keyword. References keep their targets."""
    if not isinstance(schema, dict):
        return schema
    result = {}
    for name, argument in schema.items():
        if name == keyword:
            continue
        if name in ONE:
            argument = without(argument, keyword)
        elif name in MANY:
            argument = [without(part, keyword) for part in argument]
        elif name in NAMED:
            argument = {inner: without(part, keyword) for inner, part in argument.items()}
        result[name] = argument
    return result
