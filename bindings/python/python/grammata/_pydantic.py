"""JSON Schemas made by Pydantic, with the additions of `_formats`. Imported only if Pydantic is installed."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import pydantic
from pydantic.json_schema import GenerateJsonSchema

from grammata import _formats

_BOUNDS = ("gt", "ge", "lt", "le", "now_op", "tz_constraint")


def json_schema(type_: Any) -> tuple[dict[str, Any], list[str]]:
    """The schema of a type, and a message for each part of the type that refuses values that the schema allows."""
    wider: list[str] = []

    class Generator(_Generator):
        found = wider

    return pydantic.TypeAdapter(type_).json_schema(schema_generator=Generator), wider


class _Generator(GenerateJsonSchema):
    """Writes decimals, dates, times and UUIDs as `_formats` does, and dataclasses and typed dictionaries without
    further members."""

    found: list[str]

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        return _formats.decimal_schema(schema)

    def date_schema(self, schema: Any) -> dict[str, Any]:
        return self._temporal(datetime.date, schema)

    def datetime_schema(self, schema: Any) -> dict[str, Any]:
        return self._temporal(datetime.datetime, schema)

    def time_schema(self, schema: Any) -> dict[str, Any]:
        return self._temporal(datetime.time, schema)

    def timedelta_schema(self, schema: Any) -> dict[str, Any]:
        return self._temporal(datetime.timedelta, schema)

    def uuid_schema(self, schema: Any) -> dict[str, Any]:
        if "version" in schema:
            # with a version, Pydantic writes a format that JSON Schema does not have, such as `uuid4`; the variant is
            # that of RFC 9562
            hex_ = "[0-9a-fA-F]"
            version = f"{schema['version']}{hex_}{{3}}-[89abAB]{hex_}{{3}}"
            return {"type": "string", "pattern": f"^{hex_}{{8}}-{hex_}{{4}}-{version}-{hex_}{{12}}$"}
        return dict(_formats.FORMATS[uuid.UUID])

    def _temporal(self, type_: type, schema: Any) -> dict[str, Any]:
        bounds = [name for name in _BOUNDS if schema.get(name) is not None]
        if bounds:
            self.found.append(f"{type_.__name__}: {', '.join(bounds)} cannot be said in a JSON Schema")
        return dict(_formats.FORMATS[type_])

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        result = super().dataclass_schema(schema)
        # the schema of a dataclass of Pydantic already says whether further members are allowed
        if not hasattr(schema["cls"], "__pydantic_validator__"):
            result.setdefault("additionalProperties", False)
        return result

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        result = super().typed_dict_schema(schema)
        result.setdefault("additionalProperties", False)
        return result

    def function_before_schema(self, schema: Any) -> dict[str, Any]:
        self._validator(schema)
        return super().function_before_schema(schema)

    def function_after_schema(self, schema: Any) -> dict[str, Any]:
        self._validator(schema)
        return super().function_after_schema(schema)

    def function_wrap_schema(self, schema: Any) -> dict[str, Any]:
        self._validator(schema)
        return super().function_wrap_schema(schema)

    def function_plain_schema(self, schema: Any) -> dict[str, Any]:
        self._validator(schema)
        return super().function_plain_schema(schema)

    def _validator(self, schema: Any) -> None:
        function = schema["function"]["function"]
        # Pydantic reads some types of the standard library with its own functions, which are no validators of the user
        if not (getattr(function, "__module__", None) or "").startswith("pydantic"):
            name = getattr(function, "__qualname__", None) or repr(function)
            self.found.append(f"{name}: a validator may refuse values that the schema allows")
