"""JSON Schemas of values that JSON writes as strings: decimals, dates, times, durations, UUIDs.

Each schema allows only strings that Pydantic reads as a value of the type. A JSON Schema format without a pattern
allows more: leap seconds, the year 0, fractions of any length. Pydantic reads further spellings, which the schemas do
not allow.
"""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

INTEGER = "x-grammata-integer"
"""The keyword whose value `digits` makes integers of digits only, without a point and an exponent."""

_YEAR = "^(?!0000)"
_SECOND = r"[0-5][0-9](\.[0-9]{1,6})?[Zz+-]"

_LARGEST = Decimal(10) ** 15
"""Greatest absolute value of a decimal that is written as a number. Floats up to it are exact enough for bounds."""

FORMATS: dict[type, dict[str, Any]] = {
    datetime.date: {"type": "string", "format": "date", "pattern": _YEAR},
    datetime.datetime: {"type": "string", "format": "date-time", "pattern": f"{_YEAR}.{{17}}{_SECOND}"},
    datetime.time: {"type": "string", "format": "time", "pattern": f"^.{{6}}{_SECOND}"},
    datetime.timedelta: {"type": "string", "format": "duration", "pattern": "^([^0-9]+[0-9]{1,6})+[^0-9]$"},
    uuid.UUID: {"type": "string", "format": "uuid"},
}
"""The schema of each type of this module except `decimal.Decimal`."""


_LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
_DAY = "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
_DATE = f"((?!0000)[0-9]{{4}}-{_DAY}|{_LEAP}-02-29)"
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"

LOCAL = {datetime.datetime: f"{_DATE}T{_TIME}", datetime.time: _TIME}
"""Patterns of times without an offset."""


def decimal_schema(bounds: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a `decimal.Decimal` with Pydantic's bounds.

    The bounds are `max_digits`, `decimal_places`, `gt`, `ge`, `lt`, `le` and `multiple_of`. The schema describes
    strings, since many decimals are not exact as floats. With bounds on the value other than `gt` 0 and `ge` 0, it
    describes numbers.

    >>> decimal_schema({"max_digits": 5, "decimal_places": 2, "ge": 0})
    {'type': 'string', 'pattern': '^(0|[1-9][0-9]{0,2})(\\\\.[0-9]{1,2})?$'}
    """
    given = {name: Decimal(str(bounds[name])) for name in ("gt", "ge", "lt", "le", "multiple_of") if bounds.get(name) is not None}
    digits, places = bounds.get("max_digits"), bounds.get("decimal_places")
    if given.keys() <= {"gt", "ge"} and all(bound == 0 for bound in given.values()):
        return {"type": "string", "pattern": _pattern(digits, places, "ge" in given or "gt" in given, "gt" in given)}
    return _number(digits, places, given)


def _pattern(digits: int | None, places: int | None, not_negative: bool, positive: bool) -> str:
    before = "^" if not_negative else "^-?"
    if positive:
        before += "(?=.*[1-9])"
    whole = "(0|[1-9][0-9]*)"
    if digits is not None and places is not None:
        most = digits - places
        if most < 1:
            # Pydantic counts the zero of "0", but not that of "0.5"
            return rf"{before}0\.[0-9]{{1,{places}}}$"
        whole = f"(0|[1-9][0-9]{{0,{most - 1}}})" if most > 1 else "[0-9]"
    elif digits is not None:
        before += rf"(?=([0-9]\.?){{1,{digits}}}$)"
    if places == 0:
        return f"{before}{whole}$"
    fraction = "+" if places is None else f"{{1,{places}}}"
    return rf"{before}{whole}(\.[0-9]{fraction})?$"


def _number(digits: int | None, places: int | None, given: Mapping[str, Decimal]) -> dict[str, Any]:
    far = max(given.get("ge", _LARGEST), given.get("gt", _LARGEST), -given.get("le", -_LARGEST), -given.get("lt", -_LARGEST))
    # bounds beyond need larger numbers
    largest = _LARGEST if far <= _LARGEST else Decimal(10) ** 300
    schema: dict[str, Any] = {"type": "number"}
    steps = [given["multiple_of"]] if "multiple_of" in given else []
    if places is not None or digits is not None:
        # without `decimal_places`, `digits` does not say how many digits are after the point: half of them is our
        # choice
        after = places if places is not None else (digits or 0) // 2
        if digits is not None:
            largest = min(largest, Decimal(10) ** (digits - after) - Decimal(10) ** -after)
        steps.append(Decimal(10) ** -after)
    # Pydantic reads the number as a float first, which may be rounded to an exclusive bound
    least, most = max(-largest, given.get("ge", -largest)), min(largest, given.get("le", largest))
    if "gt" in given:
        least = max(least, Decimal(repr(math.nextafter(float(given["gt"]), math.inf))))
    if "lt" in given:
        most = min(most, Decimal(repr(math.nextafter(float(given["lt"]), -math.inf))))
    schema["minimum"], schema["maximum"] = _json(least), _json(most)
    if len(steps) == 1:
        schema["multipleOf"] = _json(steps[0])
    elif steps:
        schema["allOf"] = [{"multipleOf": _json(step)} for step in steps]
    return schema


def _json(number: Decimal) -> int | float:
    return int(number) if number == number.to_integral_value() else float(number)


def schema_of(type_: Any) -> dict[str, Any] | None:
    """The schema of a type of this module without bounds; None for other types."""
    if type_ is decimal.Decimal:
        return decimal_schema({})
    known = FORMATS.get(type_)
    return None if known is None else dict(known)
