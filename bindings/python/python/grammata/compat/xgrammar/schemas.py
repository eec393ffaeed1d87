"""JSON Schemas in strict mode: objects and arrays have only the members that their schema names.

XGrammar's strict mode closes each object with `properties` or `patternProperties` and each array with `prefixItems` that says nothing
about further members. Other objects and arrays stay open. This module writes that into a copy of the schema.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any] | bool

_OBJECT = ("properties", "patternProperties")
_ARRAY = ("prefixItems",)
_BRANCHES = ("anyOf", "oneOf", "allOf")
"""In-place applicators that hold lists."""
_CONDITIONS = ("if", "then", "else", "not", "dependentSchemas")
"""In-place applicators whose subschemas alone never close an object."""
_MAPS = ("properties", "patternProperties", "$defs", "definitions")
"""Keywords that hold subschemas by name."""
_CHILDREN = ("additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "contains")
"""Keywords that hold a subschema for members."""


def closed(schema: Any) -> Any:
    """A copy of a schema in which objects and arrays are closed."""
    opened = _Opened()
    opened.search(schema, is_root=True)
    return _Closer(opened.references).close(schema)


class _Opened:
    """The references whose target must stay open, since other keywords at the place of the reference add members."""

    def __init__(self) -> None:
        self.references: set[str] = set()

    def search(self, schema: Any, *, is_root: bool = False, is_open: bool = False) -> None:
        """Looks through a schema; `is_open` says that its parent adds members."""
        if not isinstance(schema, dict):
            return
        adds = is_open or _adds_members(schema)
        reference = schema.get("$ref")
        if isinstance(reference, str) and adds:
            self.references.add(reference)
        for keyword in _BRANCHES:
            for branch in _list(schema.get(keyword)):
                self.search(branch, is_open=adds)
        for keyword in _CONDITIONS:
            for branch in _values(keyword, schema.get(keyword)):
                self.search(branch, is_open=True)
        for child in _children(schema):
            self.search(child)


class _Closer:
    def __init__(self, opened: set[str]) -> None:
        self.opened = opened

    def close(self, schema: Any, *, is_open: bool = False) -> Any:
        """A copy of a schema with closed members; `is_open` leaves the schema's own members to its parent."""
        if not isinstance(schema, dict):
            return schema
        adds = is_open or _adds_members(schema)
        made = dict(schema)
        for keyword in _BRANCHES:
            if isinstance(schema.get(keyword), list):
                made[keyword] = [self.close(branch, is_open=adds) for branch in schema[keyword]]
        for keyword in _CONDITIONS:
            value = schema.get(keyword)
            if keyword == "dependentSchemas" and isinstance(value, dict):
                made[keyword] = {name: self.close(branch, is_open=True) for name, branch in value.items()}
            elif value is not None:
                made[keyword] = self.close(value, is_open=True)
        for keyword in _MAPS:
            value = schema.get(keyword)
            if isinstance(value, dict):
                is_definition = keyword in ("$defs", "definitions")
                made[keyword] = {
                    name: self.close(child, is_open=is_definition and f"#/{keyword}/{name}" in self.opened)
                    for name, child in value.items()
                }
        for keyword in _CHILDREN:
            if keyword in schema:
                made[keyword] = self.close(schema[keyword])
        if isinstance(schema.get("prefixItems"), list):
            made["prefixItems"] = [self.close(child) for child in schema["prefixItems"]]
        return made if is_open else self._finished(schema, made)

    def _finished(self, schema: dict[str, Any], made: dict[str, Any]) -> dict[str, Any]:
        if schema.get("$ref") in self.opened or _adds_members(schema):
            made.setdefault("unevaluatedProperties", False)
        elif _is(schema, "object", _OBJECT) and not _says(schema, "additionalProperties", "unevaluatedProperties"):
            made["additionalProperties"] = False
        if _is(schema, "array", _ARRAY) and not _says(schema, "items", "unevaluatedItems"):
            made["items"] = False
        return made


def _adds_members(schema: dict[str, Any]) -> bool:
    """Whether members of an object come from several places of a schema, so that none of them may close it alone."""
    if _says(schema, "additionalProperties", "unevaluatedProperties"):
        return False
    applied = [branch for keyword in _BRANCHES for branch in _list(schema.get(keyword))]
    if "$ref" in schema:
        applied.append(schema["$ref"])
    own = any(keyword in schema for keyword in _OBJECT)
    several = len(_list(schema.get("allOf"))) > 1 or sum(keyword in schema for keyword in (*_BRANCHES, "$ref")) > 1
    conditions = any(keyword in schema for keyword in ("if", "dependentSchemas"))
    return (bool(applied) and (own or several)) or (conditions and (own or bool(applied)))


def _is(schema: dict[str, Any], kind: str, keywords: tuple[str, ...]) -> bool:
    """Whether a schema allows objects (or arrays) and names members with one of the keywords."""
    type_ = schema.get("type", kind)
    return kind in (type_ if isinstance(type_, list) else [type_]) and _says(schema, *keywords)


def _says(schema: dict[str, Any], *keywords: str) -> bool:
    return any(keyword in schema for keyword in keywords)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _values(keyword: str, value: Any) -> list[Any]:
    if keyword == "dependentSchemas":
        return list(value.values()) if isinstance(value, dict) else []
    return [] if value is None else [value]


def _children(schema: dict[str, Any]) -> list[Any]:
    named = [child for keyword in _MAPS if isinstance(schema.get(keyword), dict) for child in schema[keyword].values()]
    single = [schema[keyword] for keyword in _CHILDREN if keyword in schema]
    return named + single + _list(schema.get("prefixItems"))
