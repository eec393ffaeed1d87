"""JSON Schemas of Pydantic's types. Imported only if Pydantic is installed.

The core schema says what Pydantic reads; its own JSON Schema often allows more. Each part of the core schema becomes a
schema that allows only what the part reads, or a message that says why this is not possible.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import pydantic
from pydantic.json_schema import GenerateJsonSchema

from grammata import _formats, _names, _strings
from grammata._names import effective

_BOUNDS = ("gt", "ge", "lt", "le", "now_op")

_HARMLESS = {"path_validator", "defaultdict_validator", "deque_validator", "sequence_validator", "SecretStr", "SecretBytes", "Secret"}
"""Functions of Pydantic that take every value of the schema within. Those of `Secret` are lambdas in a method."""

_LARGEST = math.nextafter(math.inf, 0)


def json_schema(type_: Any) -> tuple[dict[str, Any], list[str]]:
    """The schema of a type, and a message for each part of the type that refuses values that the schema allows."""
    wider: list[str] = []

    class Generator(_Generator):
        found = wider

    return pydantic.TypeAdapter(type_).json_schema(schema_generator=Generator), wider


def _function(schema: Any) -> Any:
    """The function of a validator, without `functools.partial` around it."""
    function = schema["function"]["function"]
    return getattr(function, "func", function)


def _paths(given: Any) -> list[Any]:
    """The paths of an alias or a discriminator, which is a name, a path or a list of paths."""
    if isinstance(given, str):
        return [[given]]
    return given if given and isinstance(given[0], list) else [given]


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def _is_of_pydantic(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").partition(".")[0] == "pydantic"


def _networks_of(function: Any) -> dict[str, Any] | None:
    """The schema of a class of the module `ipaddress`; None for other functions."""
    if getattr(function, "__module__", None) != "ipaddress":
        return None
    name = re.sub("^IPv([46])", r"ip_v\1_", _name(function)).lower()
    return dict(_strings.NETWORKS[name]) if name in _strings.NETWORKS else None


class _Generator(GenerateJsonSchema):
    """Writes schemas that allow only what the type reads. Dataclasses and typed dictionaries have no further members."""

    found: list[str]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.definitions_of_core: dict[str, Any] = {}

    def option(self, name: str) -> Any:
        """An option of the configuration of the class that is read."""
        return getattr(self._config, name, None)

    def generate_inner(self, schema: Any) -> dict[str, Any]:
        step = self._read(schema)
        if step["type"].startswith("function-"):
            function = _function(step)
            known = self._known(step) if _is_of_pydantic(function) else _networks_of(function)
            if known is not None:
                # the JSON Schemas of Pydantic's own types would replace it
                return self._with_ref(schema, known)
            self._validator(step)
        return super().generate_inner(schema)

    def _read(self, schema: Any) -> Any:
        """The part of a core schema that reads JSON."""
        while True:
            match schema["type"]:
                case "json-or-python":
                    schema = schema["json_schema"]
                case "lax-or-strict":
                    strict = effective(schema.get("strict"), self.option("strict"), False)
                    schema = schema["strict_schema" if strict else "lax_schema"]
                case _:
                    return schema

    def _with_ref(self, schema: Any, known: dict[str, Any]) -> dict[str, Any]:
        metadata = schema.get("metadata", {})
        functions = {
            name: [one for one in metadata[name] if self._is_of_user(one)]
            for name in ("pydantic_js_functions", "pydantic_js_annotation_functions")
            if name in metadata
        }
        stand_in = {"type": "any", "metadata": {**metadata, **functions, "grammata": known}}
        return super().generate_inner({**stand_in, **({"ref": schema["ref"]} if "ref" in schema else {})})

    @staticmethod
    def _is_of_user(function: Any) -> bool:
        """Whether a function that changes a JSON Schema is not one of Pydantic's own types."""
        owner = type(getattr(function, "__self__", None))
        return not _is_of_pydantic(function) or owner.__module__ == "pydantic.json_schema"

    def any_schema(self, schema: Any) -> dict[str, Any]:
        return dict(schema.get("metadata", {}).get("grammata", {}))

    def _known(self, schema: Any) -> dict[str, Any] | None:
        """The schema of a type that Pydantic reads with a function of its own; None for other types."""
        function = _function(schema)
        name = _name(function)
        if name.endswith("_validator") and name.removesuffix("_validator") in _strings.NETWORKS:
            return dict(_strings.NETWORKS[name.removesuffix("_validator")])
        if name.endswith("validate_str_is_valid_iana_tz"):
            import zoneinfo

            return {"enum": sorted(zoneinfo.available_timezones())}
        match name:
            case "EmailStr._validate" | "NameEmail._validate":
                return _strings.email()
            case "IPvAnyAddress._validate" | "IPvAnyInterface._validate" | "IPvAnyNetwork._validate":
                return _strings.either(name.removeprefix("IPvAny").partition(".")[0].lower())
            case "ByteSize._validate":
                size = {"type": "integer", "minimum": 0, _formats.INTEGER: "digits", "maximum": 2**63 - 1}
                return {"anyOf": [_strings.matching("[0-9]{1,15}([KMGT]i?B|B)?"), size]}
            case "EncodedBytes.decode" | "EncodedStr.decode_str":
                encoder = function.__self__.encoder
                last = {"Base64Encoder": "+/", "Base64UrlEncoder": "-_"}.get(encoder.__name__)
                inner = schema["schema"]
                if last is None or not _is_of_pydantic(encoder) or inner.keys() & {"min_length", "max_length", "pattern"}:
                    return None
                return _strings.base64(last, name == "EncodedStr.decode_str")
        return None

    # numbers

    def int_schema(self, schema: Any) -> dict[str, Any]:
        # Pydantic reads `2.0`, but no integer with a point or an exponent from 2^63 on, and none if it is strict
        return {**super().int_schema(schema), _formats.INTEGER: "digits"}

    def float_schema(self, schema: Any) -> dict[str, Any]:
        result = super().float_schema(schema)
        # a number with many digits may be rounded to the bound
        for exclusive, name, towards in (("exclusiveMinimum", "minimum", math.inf), ("exclusiveMaximum", "maximum", -math.inf)):
            if exclusive in result:
                bound = math.nextafter(result.pop(exclusive), towards)
                closer = max if name == "minimum" else min
                result[name] = closer(result.get(name, bound), bound)
        if effective(schema.get("allow_inf_nan"), self.option("allow_inf_nan"), True) is False:
            result["minimum"] = max(result.get("minimum", -_LARGEST), -_LARGEST)
            result["maximum"] = min(result.get("maximum", _LARGEST), _LARGEST)
        return result

    def decimal_schema(self, schema: Any) -> dict[str, Any]:
        return _formats.decimal_schema(schema)

    def fraction_schema(self, schema: Any) -> dict[str, Any]:
        bounds = {name: schema[name] for name in ("gt", "ge", "lt", "le", "multiple_of") if schema.get(name) is not None}
        if not bounds:
            return _strings.matching("-?(0|[1-9][0-9]{0,99})(/[1-9][0-9]{0,99})?")
        if "multiple_of" in bounds:
            self.found.append("Fraction: multiple_of is not checked exactly")
        return _formats.decimal_schema({name: float(value) for name, value in bounds.items()} | {"decimal_places": 6})

    def complex_schema(self, schema: Any) -> dict[str, Any]:
        number = r"(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?"
        return _strings.matching(f"-?{number}([+-]{number}j)?|-?{number}j")

    # strings

    def str_schema(self, schema: Any) -> dict[str, Any]:
        result = super().str_schema(schema)
        for name, option, unset in (("minLength", "str_min_length", 0), ("maxLength", "str_max_length", None)):
            if name not in result and self.option(option) not in (None, unset):
                result[name] = self.option(option)
        pattern = result.pop("pattern", None)
        tests: list[dict[str, Any]] = [] if pattern is None else [self._pattern(schema, pattern)]
        if effective(schema.get("strip_whitespace"), self.option("str_strip_whitespace"), False) and (tests or len(result) > 1):
            # what is left after stripping must have the length and match the pattern
            tests.append({_strings.RUST_PATTERN: r"(?s)^(\S(.*\S)?)?$"})
        if schema.get("ascii_only"):
            tests.append({"pattern": _strings.ASCII})
        for test in tests:
            if result.keys() & test.keys():
                result.setdefault("allOf", []).append(test)
            else:
                result.update(test)
        return result

    def _pattern(self, schema: Any, pattern: str) -> dict[str, Any]:
        given = schema["pattern"]
        engine = effective(schema.get("regex_engine"), self.option("regex_engine"), "rust-regex")
        if engine == "rust-regex" and isinstance(given, str):
            return {"pattern" if _strings.means_the_same(pattern) else _strings.RUST_PATTERN: pattern}
        flags = given.flags & ~re.UNICODE if isinstance(given, re.Pattern) else 0
        if flags or not _strings.is_within_python(pattern):
            self.found.append(f"pattern {pattern!r}: read as ECMA-262, which differs from Python's `re`")
        return {"pattern": pattern}

    def bytes_schema(self, schema: Any) -> dict[str, Any]:
        least, most = schema.get("min_length", 0), schema.get("max_length")
        encoding = self.option("val_json_bytes") or "utf8"
        if encoding == "hex":
            return _strings.matching(f"([0-9a-f]{{2}}){{{least},{'' if most is None else most}}}")
        if encoding == "base64":
            groups = f"{-(-least // 3)},{'' if most is None else most // 3}"
            if most is not None and -(-least // 3) > most // 3:
                self.found.append("bytes: base64 of these lengths cannot be said in a JSON Schema")
                groups = "0,"
            return _strings.matching(f"([A-Za-z0-9_-]{{4}}){{{groups}}}")
        result: dict[str, Any] = {"type": "string"}
        if least:
            result["minLength"] = least
        if most is not None:
            # the length is that of UTF-8
            result.update(maxLength=most, pattern=_strings.ASCII)
        return result

    def url_schema(self, schema: Any) -> dict[str, Any]:
        return _strings.url(schema.get("allowed_schemes"), schema.get("max_length"))

    def multi_host_url_schema(self, schema: Any) -> dict[str, Any]:
        return self.url_schema(schema)

    def json_schema(self, schema: Any) -> dict[str, Any]:
        inner = schema.get("schema") or {"type": "any"}
        texts = _names.texts_of_json(inner)
        if texts is None:
            self.found.append("Json: the text of JSON within a string cannot be said in a JSON Schema")
            return super().json_schema(schema)
        return texts

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
        bounds = [name for name in (*_BOUNDS, "multiple_of") if schema.get(name) is not None]
        if bounds:
            self.found.append(f"{type_.__name__}: {', '.join(bounds)} cannot be said in a JSON Schema")
        zone = schema.get("tz_constraint")
        if zone in (None, "aware") or type_ not in _formats.LOCAL:
            return dict(_formats.FORMATS[type_])
        if zone == "naive":
            return _strings.matching(_formats.LOCAL[type_])
        sign, minutes = "-" if zone < 0 else r"\+", abs(zone) // 60
        return _strings.matching(f"{_formats.LOCAL[type_]}{sign}{minutes // 60:02}:{minutes % 60:02}")

    # listed values

    def literal_schema(self, schema: Any) -> dict[str, Any]:
        values = schema["expected"]
        readable = [value for value in values if isinstance(value, (str, int, float, type(None)))]
        if len(readable) < len(values):
            self._unreadable("Literal", [value for value in values if value not in readable], bool(readable))
        read: Any = {**schema, "expected": readable or values}
        return super().literal_schema(read)

    def enum_schema(self, schema: Any) -> dict[str, Any]:
        members = schema["members"]
        readable = [one for one in members if isinstance(one.value, (str, int, float, type(None)))]
        if len(readable) < len(members):
            self._unreadable(schema["cls"].__name__, [one for one in members if one not in readable], bool(readable))
        read: Any = {**schema, "members": readable or members}
        return super().enum_schema(read)

    def _unreadable(self, name: str, values: list[Any], are_left_out: bool) -> None:
        if not are_left_out:
            self.found.append(f"{name}: Pydantic reads no JSON value as {', '.join(map(repr, values))}")

    # arrays

    def tuple_schema(self, schema: Any) -> dict[str, Any]:
        place = schema.get("variadic_item_index")
        items = schema["items_schema"]
        if place is not None and place + 1 < len(items):
            # JSON Schema cannot describe items after a variable number of others: there are none of these
            fixed: Any = {name: value for name, value in schema.items() if name != "variadic_item_index"}
            fixed["items_schema"] = [*items[:place], *items[place + 1 :]]
            return super().tuple_schema(fixed)
        return super().tuple_schema(schema)

    def set_schema(self, schema: Any) -> dict[str, Any]:
        return self._set(schema, super().set_schema)

    def frozenset_schema(self, schema: Any) -> dict[str, Any]:
        return self._set(schema, super().frozenset_schema)

    def _set(self, schema: Any, read: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        item = _names.resolved(schema.get("items_schema") or {"type": "any"}, self.definitions_of_core)
        if not _names.is_hashable(item, self.definitions_of_core):
            self.found.append("set: the items may not be hashable")
        elif schema.get("min_length", 0) > 1 and not _names.has_one_spelling(item):
            self.found.append("set: min_length counts values after they are read")
        return read(schema)

    # objects

    def frozendict_schema(self, schema: Any) -> dict[str, Any]:
        return self.dict_schema(schema)

    def ordered_dict_schema(self, schema: Any) -> dict[str, Any]:
        return self.dict_schema(schema)

    def counter_schema(self, schema: Any) -> dict[str, Any]:
        return self.dict_schema(schema)

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        result: dict[str, Any] = {"type": "object"}
        names = self._names(schema.get("keys_schema"))
        if names is False:
            result["additionalProperties"] = False
        else:
            values = self.generate_inner(schema["values_schema"]).copy() if "values_schema" in schema else {}
            values.pop("title", None)
            result["additionalProperties"] = values or True
            if names != {"type": "string"}:
                result["propertyNames"] = names
        self.update_with_validations(result, schema, self.ValidationsMapping.object)
        return result

    def _names(self, keys: Any) -> dict[str, Any] | bool:
        """The schema of the names that are read as keys; false if none is."""
        if keys is None:
            return {"type": "string"}
        keys = _names.resolved(keys, self.definitions_of_core)
        names = _names.names(keys, self.definitions_of_core, self.found)
        if names is not None:
            return names
        inner = keys.get("schema", keys)
        if inner["type"] in ("url", "multi-host-url") and (inner.get("max_length") or 0) >= _strings.SHORT:
            # a long bound of the length of names costs too much
            return _strings.short_url(inner.get("allowed_schemes") or ["http", "https"])
        schema = self.generate_inner(keys).copy()
        schema.pop("title", None)
        if schema.get("type") != "string" and "anyOf" not in schema and "enum" not in schema:
            self.found.append(f"dict: names cannot be restricted to those of {keys['type']}")
            return {"type": "string"}
        return schema

    def tagged_union_schema(self, schema: Any) -> dict[str, Any]:
        discriminator = schema["discriminator"]
        if callable(discriminator):
            self.found.append(f"{_name(discriminator)}: the discriminator may refuse values that the schema allows")
        names = [] if callable(discriminator) else [path[0] for path in _paths(discriminator) if len(path) == 1]
        branches: list[dict[str, Any]] = []
        for choice in schema["choices"].values():
            branch = self.generate_inner(choice).copy()
            if not callable(discriminator):
                self._require_tag(branch, choice, names)
            if branch not in branches:
                branches.append(branch)
        return branches[0] if len(branches) == 1 else {"anyOf": branches}

    def _require_tag(self, branch: dict[str, Any], choice: Any, names: Iterable[str]) -> None:
        """Requires the member of a branch that has its tag, under the name that the branch reads."""
        read = [name for name in names if name in _names.members(choice, self.definitions_of_core, self._alias_of)]
        if read:
            branch["required"] = sorted({*branch.get("required", []), read[0]})
        else:
            self.found.append("discriminator: the member with the tag cannot be required in a JSON Schema")

    def _alias_of(self, field: Any, name: str) -> str:
        return self._get_alias_name(field, name) if self.by_alias else name

    def definitions_schema(self, schema: Any) -> dict[str, Any]:
        self.definitions_of_core.update({one["ref"]: one for one in schema["definitions"]})
        return super().definitions_schema(schema)

    def _get_alias_name(self, field: Any, name: str) -> str:
        return name if self.option("validate_by_alias") is False else super()._get_alias_name(field, name)

    def field_is_present(self, field: Any) -> bool:
        if not self._is_readable(field):
            if self.field_is_required(field, True):
                self.found.append("AliasPath: a member within another one cannot be said in a JSON Schema")
            else:
                return False
        # the constructor of a dataclass takes no member with `init=False`
        return field.get("init", True) is not False and super().field_is_present(field)

    @staticmethod
    def _is_readable(field: Any) -> bool:
        """Whether a member is read by one name."""
        alias = field.get("validation_alias")
        return alias is None or any(len(path) == 1 for path in _paths(alias))

    def model_schema(self, schema: Any) -> dict[str, Any]:
        class_ = schema["cls"]
        if schema.get("custom_init"):
            self._method(class_, "__init__")
        if schema.get("post_init"):
            self._method(class_, "model_post_init")
        return super().model_schema(schema)

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        if schema.get("post_init"):
            self._method(schema["cls"], "__post_init__")
        result = super().dataclass_schema(schema)
        # the schema of a dataclass of Pydantic already says whether further members are allowed
        if not hasattr(schema["cls"], "__pydantic_validator__"):
            result.setdefault("additionalProperties", False)
        return result

    def _method(self, class_: type, name: str) -> None:
        if any(name in one.__dict__ and not _is_of_pydantic(one.__dict__[name]) for one in class_.__mro__[:-1]):
            self.found.append(f"{class_.__name__}.{name} may refuse values that the schema allows")

    def typed_dict_schema(self, schema: Any) -> dict[str, Any]:
        result = super().typed_dict_schema(schema)
        result.setdefault("additionalProperties", False)
        return result

    # steps

    def lax_or_strict_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(self._read(schema))

    def chain_schema(self, schema: Any) -> dict[str, Any]:
        for step in schema["steps"][1:]:
            if step["type"].startswith("function-"):
                self._validator(step)
            else:
                self.found.append(f"{step['type']}: a later step of a chain may refuse values that the schema allows")
        return super().chain_schema(schema)

    def is_subclass_schema(self, schema: Any) -> dict[str, Any]:
        return self.handle_invalid_for_json_schema(schema, "core_schema.IsSubclassSchema")

    def _validator(self, schema: Any) -> None:
        function = _function(schema)
        name = _name(function)
        is_collection = isinstance(function, type) and function.__module__ == "collections"
        if is_collection or isinstance(function, operator.attrgetter):
            return
        if not _is_of_pydantic(function):
            self.found.append(f"{name}: a validator may refuse values that the schema allows")
        elif not (_HARMLESS & set(name.split(".")) or name.endswith(".wrap_val")):
            self.found.append(f"{name}: a check of Pydantic may refuse values that the schema allows")
