"""`grammata.integrations.outlines` with Outlines' own generators."""

import json
import re
from typing import Any, Literal

import grammata
import jsonschema
import outlines
import pydantic
import pytest
from grammata.integrations.outlines import processor
from outlines.types import JsonSchema


class Person(pydantic.BaseModel):
    """An output type; its strings have no bound."""

    name: str
    age: int
    notes: list[str]


@pytest.fixture(scope="module")
def steerable(model: Any, tokenizer: Any) -> Any:
    return outlines.from_transformers(model, tokenizer)


@pytest.mark.parametrize("limit", [16, 24, 60])
def test_outputs_are_complete_within_the_budget(steerable: Any, limit: int) -> None:
    generator = outlines.Generator(steerable, processor=processor(steerable, Person, budget=limit))
    prompts = ["A person as JSON: ", "Ada, 36, as JSON: "]
    for text in [*map(lambda prompt: generator(prompt, max_new_tokens=limit), prompts), *generator.batch(prompts, max_new_tokens=limit)]:
        Person.model_validate_json(text)


def test_outlines_own_backend_is_cut(steerable: Any) -> None:
    text = outlines.Generator(steerable, Person)("A person as JSON: ", max_new_tokens=16)
    with pytest.raises(pydantic.ValidationError):
        Person.model_validate_json(text)


@pytest.mark.parametrize(
    ("output_type", "pattern"),
    [
        (Literal["red", "green or blue"], "red|green or blue"),
        (int, r"[+-]?(0|[1-9][0-9]*)"),
        (outlines.regex(r"[0-9]{3}-[0-9]{4}"), r"[0-9]{3}-[0-9]{4}"),
        (outlines.cfg('start: "yes" | "no"'), "yes|no"),
        (outlines.cfg('root ::= "yes" | "no"'), "yes|no"),
        (JsonSchema({"type": "array", "items": {"type": "integer"}}, whitespace_pattern="[ ]"), r"\[ (-?\d+( , -?\d+)* )?\]"),
    ],
)
def test_output_types(steerable: Any, compiler: grammata.Compiler, output_type: Any, pattern: str) -> None:
    one = processor(steerable, output_type, budget=12, compiler=compiler)
    text = outlines.Generator(steerable, processor=one)("Answer: ", max_new_tokens=12)
    assert re.fullmatch(pattern, text), text


def test_any_object(steerable: Any, compiler: grammata.Compiler) -> None:
    one = processor(steerable, dict, budget=20, compiler=compiler)
    jsonschema.validate(json.loads(outlines.Generator(steerable, processor=one)("JSON: ", max_new_tokens=20)), {})


def test_errors(steerable: Any, compiler: grammata.Compiler) -> None:
    with pytest.raises(grammata.RejectedError, match="budget"):
        processor(steerable, Person, budget=2, compiler=compiler)
    with pytest.raises(grammata.UsageError, match="outlines-model"):
        processor(object(), Person)
