"""Python types whose values are strings in JSON: the type accepts each text that the masks allow."""

import datetime
import json
import random
import uuid
import warnings
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import grammata
import pydantic
import pytest
from pydantic import Field
from typing_extensions import TypedDict

END = 256


@dataclass
class Sale:
    total: Decimal
    when: datetime.date
    count: int


@dataclass
class Bounded:
    total: Annotated[Decimal, Field(max_digits=4, decimal_places=2)]
    count: int


class Row(TypedDict):
    id: uuid.UUID
    price: Annotated[Decimal, Field(gt=0, decimal_places=2)]


class Invoice(pydantic.BaseModel):
    total: Decimal = Field(max_digits=6, decimal_places=2, ge=0)
    due: datetime.date


def accepts(grammar: grammata.CompiledGrammar, text: str) -> bool:
    matcher = grammar.matcher()
    return matcher.try_accept_bytes(text) and matcher.is_accepting()


def texts(grammar: grammata.CompiledGrammar, count: int) -> list[str]:
    """Texts of random tokens that the masks allow, ended where the grammar allows the end."""
    generator, found = random.Random(7), []
    while len(found) < count:
        matcher, text = grammar.matcher(), bytearray()
        while len(text) < 120:
            ids = matcher.mask().ids()
            if ids == [END] or END in ids and generator.random() < 0.4:
                found.append(text.decode())
                break
            token = generator.choice([token for token in ids if token != END])
            matcher.accept_token(token)
            text.append(token)
        else:
            # a run of digits without an end
            found.append("")
    return [text for text in found if text]


DECIMALS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({}, ['"0"', '"-12.50"', '"123456789012345678901234567890.1"'], ['"Luna"', '""', '"1e5"', "1.5", '"01"', '"."']),
    ({"max_digits": 5, "decimal_places": 2}, ['"123.45"', '"-0.1"'], ['"1234"', '"1.234"', '"0123"']),
    ({"max_digits": 2, "decimal_places": 2}, ['"0.12"', '"-0.5"'], ['"0"', '"1"', '"1.2"', '"0.123"']),
    ({"max_digits": 3, "decimal_places": 0}, ['"999"'], ['"1000"', '"1.0"']),
    ({"max_digits": 4}, ['"1234"', '"1.234"', '"-12.34"'], ['"12345"', '"1.2345"']),
    ({"decimal_places": 2}, ['"123456789.99"'], ['"0.001"']),
    ({"ge": 0}, ['"0"', '"0.5"'], ['"-1"', '"-0.5"']),
    ({"gt": 0, "decimal_places": 2}, ['"0.01"', '"10"'], ['"0"', '"0.00"', '"-1"']),
    ({"ge": 1, "le": Decimal("99.5")}, ["1", "99.5", "50.25"], ["0.5", "99.6", '"50"']),
    ({"lt": 10, "max_digits": 3, "decimal_places": 1}, ["9.9", "-99.9"], ["10", "9.99", "-100"]),
    ({"multiple_of": Decimal("0.05"), "gt": 0, "lt": 2}, ["0.05", "1.95"], ["0.01", "0", "2"]),
]


@pytest.mark.parametrize(("bounds", "valid", "invalid"), DECIMALS, ids=[str(case[0]) for case in DECIMALS])
def test_decimals(bytewise, bounds, valid, invalid):
    type_ = Annotated[Decimal, Field(**bounds)] if bounds else Decimal
    grammar = bytewise.compile_json_schema(type_, numbers="plain", max_digits=6)
    adapter = pydantic.TypeAdapter(type_)
    for text in valid:
        assert accepts(grammar, text) and adapter.validate_json(text) is not None
    assert not any(accepts(grammar, text) for text in invalid)
    for text in texts(grammar, 60):
        adapter.validate_json(text)


TYPES: list[tuple[Any, list[str], list[str]]] = [
    (datetime.date, ["2024-02-29", "0001-01-01"], ["2023-02-29", "0000-01-01", "2024-1-1", "Luna"]),
    (
        datetime.datetime,
        ["2024-02-29T10:00:00Z", "2024-02-29T10:00:00.123456+02:00"],
        ["2024-02-30T10:00:00Z", "0000-01-01T00:00:00Z", "2024-06-30T23:59:60Z", "2024-02-29T10:00:00.1234567Z"],
    ),
    (datetime.time, ["10:00:00Z", "23:59:59.5-01:30"], ["24:00:00Z", "23:59:60Z", "10:00:00.1234567Z"]),
    (datetime.timedelta, ["P1D", "PT1H30M", "P3W", "P1Y2M3DT4H5M6S"], ["P", "1D", "P1234567D"]),
    (
        uuid.UUID,
        ["12345678-1234-1234-1234-123456789abc"],
        ["12345678123412341234123456789abc", "12345678-1234-1234-1234-123456789abg"],
    ),
    (pydantic.UUID4, ["12345678-1234-4234-9234-123456789abc"], ["12345678-1234-1234-9234-123456789abc"]),
]


@pytest.mark.parametrize(("type_", "valid", "invalid"), TYPES, ids=[str(case[0]) for case in TYPES])
def test_times_and_ids(bytewise, type_, valid, invalid):
    grammar = bytewise.compile_json_schema(type_)
    adapter = pydantic.TypeAdapter(type_)
    for text in valid:
        assert accepts(grammar, json.dumps(text)) and adapter.validate_json(json.dumps(text)) is not None
    assert not any(accepts(grammar, json.dumps(text)) for text in invalid)
    for text in texts(grammar, 60):
        adapter.validate_json(text)


SALE = '{"total":"1.5","when":"2024-02-29","count":1'


def test_one_member_does_not_open_an_object(bytewise):
    """Objects stay closed, whether this package reads the type or Pydantic does because of one member."""
    for type_, text in (
        (Sale, SALE),
        (Bounded, '{"total":"1.5","count":1'),
        (Row, '{"id":"12345678-1234-1234-1234-123456789abc","price":"1.5"'),
        (list[Bounded], '[{"total":"1.5","count":1'),
    ):
        grammar = bytewise.compile_json_schema(type_, whitespace="compact")
        end = "}]" if text.startswith("[") else "}"
        assert accepts(grammar, text + end)
        assert not accepts(grammar, f'{text},"x":1{end}')
        assert not accepts(grammar, text.replace('"1.5"', '"Luna"') + end)
    # a model defines whether it has further members
    grammar = bytewise.compile_json_schema(Invoice, whitespace="compact")
    text = '{"total":"1.5","due":"2024-02-29"'
    assert accepts(grammar, text + "}") and accepts(grammar, text + ',"x":1}')
    assert not accepts(grammar, text.replace("1.5", "Luna") + "}")
    Invoice.model_validate_json(text + "}")


def test_types_mean_the_same_without_pydantic(monkeypatch):
    with_pydantic = grammata.json_schema_of(Sale)
    monkeypatch.setitem(__import__("sys").modules, "pydantic", None)
    assert grammata.json_schema_of(Sale) == with_pydantic


class Checked(pydantic.BaseModel):
    name: str
    when: Annotated[datetime.date, Field(ge=datetime.date(2020, 1, 1))]

    @pydantic.field_validator("name")
    @classmethod
    def is_short(cls, name: str) -> str:
        assert len(name) < 3
        return name


def test_a_schema_that_is_wider_than_its_type_is_said(bytewise):
    for call in (grammata.json_schema_of, bytewise.compile_json_schema, grammata.Source.json_schema):
        with pytest.warns(grammata.TypeWarning) as caught:
            call(Checked)
        (warning,) = caught
        assert warning.filename == __file__
        text = str(warning.message)
        assert text.startswith("[python/type-wider-than-schema]")
        assert "Checked.is_short: a validator" in text and "date: ge cannot be said" in text
    with pytest.warns(grammata.TypeWarning, match="object: any JSON value"):
        assert grammata.json_schema_of(list[object]) == {"type": "array", "items": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for type_ in (Sale, Invoice, Row, Any, list[Any], pydantic.AnyUrl):
            grammata.json_schema_of(type_)
