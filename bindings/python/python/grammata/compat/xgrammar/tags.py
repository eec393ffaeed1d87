"""Translates the forms of structural tags that XGrammar takes to the dicts that the engine reads.

Values of JSON texts have `_json.Number`s, which keep the text of a number; `_json.dumps` writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grammata import _json
from grammata._errors import GrammataError
from grammata._schemas import text_of
from grammata.compat.xgrammar.exception import GrammarCompileError, InvalidJSONError, InvalidStructuralTagError
from grammata.compat.xgrammar.structural_tag import StructuralTag

MAX_DEPTH = 128
"""Maximum number of nested levels of JSON, as in the engine's reader."""


def parse_json(text: str) -> Any:
    """The value of a JSON text. Raises InvalidJSONError, also for more than `MAX_DEPTH` levels."""
    try:
        value = _json.loads(text)
    except ValueError as cause:
        raise InvalidJSONError(f"not JSON: {cause}") from cause
    check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raises InvalidJSONError if values are nested more than `MAX_DEPTH` levels deep."""
    level = [value]
    for _ in range(MAX_DEPTH):
        children: list[Any] = []
        for item in level:
            if isinstance(item, Mapping):
                children.extend(item.values())
            elif isinstance(item, (list, tuple)):
                children.extend(item)
        if not children:
            return
        level = children
    raise InvalidJSONError(f"JSON is nested more than {MAX_DEPTH} levels deep")


def schema_text(schema: Any) -> str:
    """The JSON Schema of a text, a dict, a bool or a type, such as a Pydantic model, as a text. A text stays as it is.

    Raises InvalidJSONError for a text that is not JSON, GrammarCompileError for a type without a schema and for a dict that
    is not JSON, ValueError for other arguments.
    """
    if isinstance(schema, str):
        parse_json(schema)
        return schema
    if isinstance(schema, (dict, bool)):
        check_depth(schema)
        return json_text(schema)
    if isinstance(schema, type):
        try:
            return text_of(schema)
        except GrammataError as cause:
            raise GrammarCompileError(str(cause)) from cause
    raise ValueError(f"a schema is a JSON text, a dict or a Pydantic model, not {type(schema).__name__}")


def schema_value(schema: Any) -> Any:
    """The value of `schema_text`."""
    return parse_json(schema_text(schema))


def json_text(value: Any) -> str:
    """The JSON text of a value. Raises GrammarCompileError for values that JSON does not have."""
    try:
        return _json.dumps(value)
    except (ValueError, TypeError) as cause:
        raise GrammarCompileError(f"not JSON: {cause}") from cause


def triggered_tags(tags: Sequence[Any], triggers: Sequence[str]) -> dict[str, Any]:
    """The format for the older form: items with `begin`, `schema` and `end`, and triggers."""
    made = []
    for item in tags:
        begin, schema, end = (_field(item, name) for name in ("begin", "schema", "end"))
        content = {"type": "json_schema", "json_schema": schema_value(schema)}
        made.append({"type": "tag", "begin": begin, "content": content, "end": end})
    return {"type": "triggered_tags", "triggers": list(triggers), "tags": made}


def _field(item: Any, name: str) -> Any:
    """A field of an item. In Pydantic models, `schema` is named `schema_`, since their base class has a `schema`."""
    if isinstance(item, Mapping):
        return item[name]
    return getattr(item, f"{name}_", None) if name == "schema" and hasattr(item, f"{name}_") else getattr(item, name)


def tag_of(arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The JSON value of a structural tag from the arguments of `from_structural_tag`.

    The arguments are the tag, or, in the older form, the items and the triggers. Raises InvalidJSONError, TypeError.
    """
    given = dict(zip(("structural_tag",) if len(arguments) == 1 else ("tags", "triggers"), arguments, strict=False))
    if len(arguments) > 2 or given.keys() & named.keys():
        raise TypeError("from_structural_tag takes a structural tag, or a list of items and a list of triggers")
    given.update(named)
    if given.keys() == {"tags", "triggers"} and all(isinstance(part, (list, tuple)) for part in given.values()):
        return {"type": "structural_tag", "format": triggered_tags(given["tags"], given["triggers"])}
    if given.keys() != {"structural_tag"}:
        found = ", ".join(sorted(given)) or "nothing"
        raise TypeError(f"from_structural_tag takes a structural tag, or a list of items and a list of triggers, not {found}")
    tag = given["structural_tag"]
    if isinstance(tag, StructuralTag):
        # it may have the text that it was read from
        tag = tag.model_dump_json()
    if isinstance(tag, str):
        return parse_json(tag)
    if not isinstance(tag, Mapping):
        dump = getattr(tag, "model_dump", None)
        if dump is None:
            raise TypeError(f"a structural tag is a JSON text, a dict or a StructuralTag, not {type(tag).__name__}")
        tag = dump()
    check_depth(tag)
    return tag


def prepared(tag: Any, grammar_of: Callable[[str], Any]) -> Any:
    """A tag as the engine reads it: schemas are values, and formats replace the handles of grammars.

    `grammar_of` returns the format of a handle, None for other texts. A value that is no tag is returned as it is: the
    engine refuses it.
    """
    if not isinstance(tag, Mapping):
        return tag
    if "structures" in tag:
        items = tag["structures"]
        made = [_older_item(item) for item in items] if isinstance(items, list) else items
        return {**tag, "structures": made}
    if "format" not in tag:
        return tag
    return {**tag, "format": _format(tag["format"], grammar_of)}


def _older_item(item: Any) -> Any:
    if not isinstance(item, Mapping) or "schema" not in item:
        return item
    schema = item["schema"]
    return {**item, "schema": parse_json(schema) if isinstance(schema, str) else schema}


def _format(value: Any, grammar_of: Callable[[str], Any]) -> Any:
    if not isinstance(value, Mapping):
        return value
    made = dict(value)
    if value.get("type") == "grammar" and isinstance(value.get("grammar"), str):
        return grammar_of(value["grammar"]) or made
    if "content" in value:
        made["content"] = _format(value["content"], grammar_of)
    for field in ("elements", "tags"):
        if isinstance(value.get(field), (list, tuple)):
            made[field] = [_format(part, grammar_of) for part in value[field]]
    if isinstance(value.get("rules"), (list, tuple)):
        made["rules"] = [
            [rule[0], _format(rule[1], grammar_of)] if isinstance(rule, (list, tuple)) and len(rule) == 2 else rule
            for rule in value["rules"]
        ]
    return made


def checked_mapping(value: Any) -> dict[str, Any]:
    """A copy of an object of JSON. Raises InvalidStructuralTagError for other values."""
    if not isinstance(value, Mapping):
        raise InvalidStructuralTagError("a structural tag is a JSON object")
    return dict(value)
