"""Core schemas of Pydantic: the names that are read as keys, members, and properties of items."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any

from grammata import _formats, _strings

_INNER = {"default", "nullable", "custom-error", "model", "dataclass", "function-after", "function-before", "function-wrap"}
"""The kinds of core schemas that have one other within, under `schema`."""

_UNHASHABLE = {"any", "list", "dict", "set", "deque", "typed-dict", "generator", "json", "counter", "ordered-dict", "frozendict"}
"""The kinds of core schemas of which some values cannot be hashed."""

_FLOAT = r"-?0\.[0-9]{0,15}[1-9]|-?[1-9][0-9]{0,14}(\.[0-9]{0,14}[1-9])?|0"


def effective(*given: Any) -> Any:
    """The first value that is not None."""
    return next((value for value in given if value is not None), None)


def resolved(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """The core schema that a reference refers to."""
    while schema["type"] == "definition-ref" and schema["schema_ref"] in definitions:
        schema = definitions[schema["schema_ref"]]
    return schema


def _choices(union: Any) -> list[Any]:
    """The alternatives of a union, with or without tags."""
    choices = union["choices"]
    all_ = choices.values() if isinstance(choices, dict) else choices
    return [one[0] if isinstance(one, tuple) else one for one in all_]


def names(keys: Any, definitions: Mapping[str, Any], found: list[str]) -> dict[str, Any] | bool | None:
    """The schema of the names that are read as keys; false if none is, None for types whose values are strings.

    A key has one spelling, so that the number of members is that of keys. `found` takes a message for each part that
    refuses names that the schema allows.
    """
    keys = resolved(keys, definitions)
    match keys["type"]:
        case "any":
            return {"type": "string"}
        case "int":
            return _integers(keys, found)
        case "bool":
            return {"enum": ["true", "false"]}
        case "float" | "decimal":
            bounds = [name for name in ("gt", "ge", "lt", "le", "multiple_of") if keys.get(name) is not None]
            if keys["type"] == "decimal" and set(bounds) <= {"gt", "ge"} and not any(keys[name] for name in bounds):
                return _formats.decimal_schema(keys)
            if bounds or keys.get("max_digits") is not None or keys.get("decimal_places") is not None:
                found.append(f"dict: bounds of keys of type {keys['type']} cannot be said in a JSON Schema")
            return _strings.matching(_FLOAT)
        case "enum":
            is_int = keys.get("sub_type") == "int"
            values = [one.value for one in keys["members"]]
            return _listed([str(one) for one in values if isinstance(one, str) or (is_int and isinstance(one, int))])
        case "literal":
            values = keys["expected"]
            spelt = {True: "true", False: "false"}
            return _listed(
                [one if isinstance(one, str) else spelt[one] if isinstance(one, bool) else str(int(one)) for one in values
                 if isinstance(one, (str, int)) and not isinstance(one, enum.Enum)]
            )
        case "nullable":
            return names(keys["schema"], definitions, found)
        case "none" | "list" | "tuple" | "set" | "frozenset" | "dict" | "model" | "dataclass" | "typed-dict" | "named-tuple":
            found.append(f"dict: no name is read as a key of type {keys['type']}; only an empty object is allowed")
            return False
        case "complex" | "fraction" if not keys.keys() & {"gt", "ge", "lt", "le", "multiple_of"}:
            return None
        case "union":
            branches = [names(one, definitions, found) for one in _choices(keys)]
            return _any_of(branches) if all(branch is not None for branch in branches) else None
    return None


def _any_of(branches: list[dict[str, Any] | bool | None]) -> dict[str, Any] | bool:
    kept = [branch for branch in branches if isinstance(branch, dict)]
    return {"anyOf": kept} if kept else False


def _listed(names_: list[str]) -> dict[str, Any] | bool:
    return {"enum": list(dict.fromkeys(names_))} if names_ else False


def _integers(keys: Any, found: list[str]) -> dict[str, Any]:
    least = effective(keys.get("ge"), None if keys.get("gt") is None else keys["gt"] + 1)
    most = effective(keys.get("le"), None if keys.get("lt") is None else keys["lt"] - 1)
    if least is not None and most is not None and 0 <= most - least < 1000:
        step = keys.get("multiple_of") or 1
        return {"enum": [str(one) for one in range(least, most + 1) if one % step == 0]}
    positive = "[1-9][0-9]{0,17}"
    if least is None and most in (-1, 0) and keys.get("multiple_of") is None:
        return _strings.matching(f"-{positive}" if most else f"0|-{positive}")
    if most is not None or keys.get("multiple_of") is not None or least not in (None, 0, 1):
        found.append("dict: bounds of keys of type int cannot be said in a JSON Schema")
    return _strings.matching(f"0|-?{positive}" if least is None else positive if least == 1 else f"0|{positive}")


def members(schema: Any, definitions: Mapping[str, Any], alias: Callable[[Any, str], str]) -> set[str]:
    """The names of the members that all values of a core schema may have, as they are read."""
    found: set[str] | None = None
    pending, seen = [schema], set()
    while pending:
        one = resolved(pending.pop(), definitions)
        if id(one) in seen:
            continue
        seen.add(id(one))
        if "choices" in one:
            pending += _choices(one)
        elif one["type"] in _INNER:
            pending.append(one["schema"])
        elif one["type"] == "definitions":
            pending.append(one["schema"])
        elif "fields" in one:
            fields = one["fields"]
            pairs = fields.items() if isinstance(fields, dict) else [(field["name"], field) for field in fields]
            read = {alias(field, name) for name, field in pairs}
            found = read if found is None else found & read
        else:
            return set()
    return found or set()


def is_hashable(item: Any, definitions: Mapping[str, Any]) -> bool:
    """Whether all values of a core schema can be hashed, as far as its form says."""
    pending, seen = [item], set()
    while pending:
        one = resolved(pending.pop(), definitions)
        if id(one) in seen:
            continue
        seen.add(id(one))
        if one["type"] in _UNHASHABLE:
            return False
        if one["type"] in ("model", "dataclass"):
            if one["cls"].__hash__ is None:
                return False
        elif one["type"] == "tuple":
            pending += one["items_schema"]
        elif one["type"] == "frozenset":
            pending.append(one.get("items_schema") or {"type": "any"})
        elif one["type"] == "json-or-python":
            pending.append(one["json_schema"])
        elif one["type"] == "lax-or-strict":
            pending.append(one["lax_schema"])
        elif one["type"] in _INNER:
            pending.append(one["schema"])
        elif "choices" in one:
            pending += _choices(one)
    return True


def has_one_spelling(item: Any) -> bool:
    """Whether different JSON values are read as different values of a core schema."""
    if item["type"] == "str":
        return not any(item.get(name) for name in ("strip_whitespace", "to_lower", "to_upper"))
    return item["type"] in ("int", "bool", "none", "enum", "literal")


def texts_of_json(inner: Any) -> dict[str, Any] | None:
    """The schema of strings whose text is JSON of a simple core schema; None for others."""
    if inner.keys() - {"type", "metadata", "strict"}:
        return None
    match inner["type"]:
        case "int":
            return _strings.matching("0|-?[1-9][0-9]{0,99}")
        case "float":
            return _strings.matching(r"-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?")
        case "bool":
            return {"enum": ["true", "false"]}
        case "none":
            return {"enum": ["null"]}
    return None
