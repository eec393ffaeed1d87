"""Reads JSON exactly: big integers and decimals keep their value, and a member name may occur once."""

import json
from decimal import Decimal

# A number with a larger exponent cannot be checked in bounded memory.
LARGEST_EXPONENT = 400


class NotJson(ValueError):
    """The text is not JSON, or not JSON that can be checked."""


def _decimal(text):
    number = Decimal(text)
    if number and abs(number.adjusted()) > LARGEST_EXPONENT:
        raise NotJson(f"the number {text[:40]} is too large to check")
    return number


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotJson("an object has a member name twice")
    return members


def _constant(text):
    raise NotJson(f"{text} is not JSON")


def parse(text):
    """Returns the value of a JSON text. Raises `NotJson`."""
    try:
        return json.loads(text, parse_float=_decimal, parse_constant=_constant, object_pairs_hook=_members)
    except NotJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJson(f"not JSON: {error}") from error


def _plain(value):
    return float(value) if isinstance(value, Decimal) else str(value)


def write(value):
    """Returns the JSON text of a value that `parse` returned."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def key(value):
    """Returns a hashable key. Two values have equal keys if JSON Schema calls them equal."""
    if isinstance(value, bool) or value is None:
        return ("constant", value)
    if isinstance(value, (int, float, Decimal)):
        return ("number", Decimal(str(value)) if isinstance(value, float) else value)
    if isinstance(value, str):
        return ("string", value)
    if isinstance(value, list):
        return ("array", tuple(key(item) for item in value))
    return ("object", frozenset((name, key(member)) for name, member in value.items()))


def short(text, length=80):
    """Returns a text for one line of a report."""
    text = " ".join(str(text).split())
    return text if len(text) <= length else text[: length - 1] + "…"
