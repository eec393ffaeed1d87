"""JSON Schemas of Python's types.

This module reads dataclasses, typed dictionaries, enumerations, `Literal`, unions, lists, tuples, dictionaries, the
types of JSON, decimals, dates, times, durations and UUIDs. If a type contains anything else (Pydantic models,
`Annotated`), Pydantic reads the whole type, if it is installed, and writes the same schemas for the types above. So the
schema of a member depends neither on whether Pydantic is installed nor on the other members.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import types
import typing
import warnings
from typing import Any

from grammata import _formats
from grammata._errors import TypeWarning, usage_error

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", None: "null"}


class _Other(Exception):
    """Raised for a type that this module cannot read."""


def json_schema_of(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type.

    Dataclasses and typed dictionaries have no further members, since their constructors take none. Raises `UsageError`
    for a type without a JSON Schema. Warns with `TypeWarning` if the schema allows values that the type refuses, for
    instance because of validators of Pydantic or bounds of dates.

    >>> from typing import Literal
    >>> json_schema_of(Literal["yes", "no"])
    {'enum': ['yes', 'no']}
    >>> @dataclasses.dataclass
    ... class Person:
    ...     name: str
    ...     age: int | None = None
    >>> json_schema_of(Person)["$defs"]["Person"]["properties"]["age"]
    {'anyOf': [{'type': 'integer', 'x-grammata-integer': 'digits'}, {'type': 'null'}]}
    """
    schema, wider = _schema_and_what_is_wider(type_)
    _warn(wider, stacklevel=3)
    return schema


def _schema_and_what_is_wider(type_: Any) -> tuple[dict[str, Any], list[str]]:
    """The schema of a type, and a message for each part of the type that refuses values that the schema allows."""
    reader = _Reader()
    try:
        root = reader.schema(type_)
    except _Other as other:
        return _by_pydantic(type_, str(other))
    return ({**root, "$defs": reader.definitions} if reader.definitions else root), reader.wider


def _warn(wider: list[str], stacklevel: int) -> None:
    if wider:
        what = "\n  ".join(dict.fromkeys(wider))
        warnings.warn(
            f"[python/type-wider-than-schema] the schema allows values that the type refuses\n  {what}", TypeWarning, stacklevel
        )


def text_of(schema: Any) -> str:
    """The JSON text of a schema: a text as it is, a dict or a bool as JSON, a type as its JSON Schema."""
    if isinstance(schema, str):
        return schema
    if schema is None:
        # None is more likely the result of a function without `return` than the type of None
        raise usage_error(
            "python/type",
            "no schema is given",
            found="None",
            allowed="a text, a dict or a type",
            help='the schema of null is {"type": "null"} or type(None)',
        )
    if not isinstance(schema, (dict, bool)):
        schema, wider = _schema_and_what_is_wider(schema)
        _warn(wider, stacklevel=3)
    try:
        return json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise usage_error(
            "python/not-json",
            "the schema cannot be written as JSON",
            found=str(error),
            allowed="None, bool, int, float, str, list and dict with names that are str",
            help="convert other values first",
        ) from error


def _by_pydantic(type_: Any, other: str) -> tuple[dict[str, Any], list[str]]:
    try:
        import pydantic
    except ImportError:
        pydantic = None  # type: ignore[assignment]
    cause: Exception | None = None
    if pydantic is not None:
        from grammata import _pydantic

        try:
            return _pydantic.json_schema(type_)
        except pydantic.errors.PydanticUserError as error:
            cause = error
    raise usage_error(
        "python/type",
        "this type has no JSON Schema",
        found=other,
        allowed="a text, a dict, a dataclass, a TypedDict, an Enum, Literal, unions, list, tuple, dict, the types of JSON, Decimal, "
        "date, datetime, time, timedelta and UUID; "
        "with Pydantic, whatever its TypeAdapter takes",
        help=f"Pydantic says: {str(cause).splitlines()[0]}" if cause else "install pydantic, or write the schema as a dict",
    ) from cause


class _Reader:
    """Reads one type. Classes become definitions, so that a class may refer to itself."""

    def __init__(self) -> None:
        self.definitions: dict[str, dict[str, Any]] = {}
        self.names: dict[type, str] = {}
        self.wider: list[str] = []

    def schema(self, type_: Any) -> dict[str, Any]:
        if type_ is Any:
            return {}
        try:
            if type_ in _PLAIN:
                return {"type": _PLAIN[type_], **({_formats.INTEGER: "digits"} if type_ is int else {})}
        except TypeError as error:  # types can be hashed
            raise _Other(repr(type_)) from error
        if (known := _formats.schema_of(type_)) is not None:
            return known
        if type_ is object:
            self.wider.append("object: any JSON value; write typing.Any if that is meant")
            return {}
        origin, arguments = typing.get_origin(type_), typing.get_args(type_)
        if origin is typing.Literal:
            if any(isinstance(one, enum.Enum) and not isinstance(one, (str, int)) for one in arguments):
                self.wider.append("Literal: Pydantic reads no JSON value as a member of an enumeration")
            return self.values([one.value if isinstance(one, enum.Enum) else one for one in arguments])
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.schema(one) for one in arguments]}
        if type_ is list or origin is list:
            return {"type": "array", **({"items": self.schema(arguments[0])} if arguments else {})}
        if type_ is dict or (origin is dict and arguments[0] is str):
            return {"type": "object", **({"additionalProperties": self.schema(arguments[1])} if arguments else {})}
        if origin is tuple and arguments:
            return self.tuple(arguments)
        if isinstance(type_, type):
            if issubclass(type_, enum.Enum):
                return self.values([one.value for one in type_])
            # Pydantic reads what it has configured itself
            is_own = not hasattr(type_, "__pydantic_validator__") and not hasattr(type_, "__pydantic_config__")
            if is_own and (typing.is_typeddict(type_) or dataclasses.is_dataclass(type_)):
                return self.reference(type_)
        raise _Other(repr(type_))

    def values(self, values: list[Any]) -> dict[str, Any]:
        if not all(isinstance(value, (str, int, float, bool, type(None))) for value in values):
            raise _Other(repr(values))
        return {"enum": values}

    def tuple(self, arguments: tuple[Any, ...]) -> dict[str, Any]:
        if arguments[-1] is Ellipsis:
            return {"type": "array", "items": self.schema(arguments[0])}
        items = [self.schema(one) for one in arguments]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}

    def reference(self, class_: type) -> dict[str, Any]:
        if class_ not in self.names:
            taken = sum(known.__name__ == class_.__name__ for known in self.names)
            name = class_.__name__ if taken == 0 else f"{class_.__name__}-{taken}"
            self.names[class_] = name
            self.definitions[name] = {}
            self.definitions[name] = self.members(class_)
        return {"$ref": f"#/$defs/{self.names[class_]}"}

    def members(self, class_: type) -> dict[str, Any]:
        try:
            hints = typing.get_type_hints(class_, include_extras=True)
        except NameError as error:
            raise _Other(f"{class_.__name__}: {error}") from error
        if dataclasses.is_dataclass(class_):
            # what the constructor takes: also members of the type `InitVar`, which `dataclasses.fields` leaves out
            parameters = inspect.signature(class_).parameters
            fields = [field for name, field in class_.__dataclass_fields__.items() if name in parameters and field.init]
            missing = dataclasses.MISSING
            required = [one.name for one in fields if one.default is missing and one.default_factory is missing]
            types_ = {one.name: _without_init_var(hints[one.name]) for one in fields}
            if hasattr(class_, "__post_init__"):
                self.wider.append(f"{class_.__name__}.__post_init__ may refuse values that the schema allows")
        else:
            required = [name for name in hints if name in class_.__required_keys__]  # type: ignore[attr-defined]
            types_ = {name: _without_marks(hint) for name, hint in hints.items()}
        return {
            "type": "object",
            "properties": {name: self.schema(hint) for name, hint in types_.items()},
            "required": required,
            "additionalProperties": False,
        }


def _without_init_var(hint: Any) -> Any:
    """The type of a member that is only passed to the constructor."""
    return hint.type if isinstance(hint, dataclasses.InitVar) else hint


def _without_marks(hint: Any) -> Any:
    """The type of a member without the marks `Required` and `NotRequired` around it."""
    if typing.get_origin(hint) in (typing.Required, typing.NotRequired):
        return _without_marks(typing.get_args(hint)[0])
    return hint
