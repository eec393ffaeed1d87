#!/usr/bin/env bash
# What was run: `convert_to_openai_tool(…, strict=True)` of langchain-core 1.8.3 and `to_strict_json_schema` of openai
# 3.57.0, both of which prepare a Pydantic model for strict tool calls (pydantic 2.14.4).
#
# Expected: a member of type `dict[str, int]` keeps the schema of its values, or is refused, because the strict mode of
# chat servers has no maps.
#
# Seen: openai's function keeps `"additionalProperties": {"type": "integer"}`. LangChain overwrites it with `false` and
# says nothing, so the member is an object without any allowed name, and it is required. Every engine that enforces the
# schema then lets the model write only `{}` for it. A nested model's members are treated in the same way.
#
#   Stock(counts: dict[str, int]):  langchain-core  {"type": "object", "additionalProperties": false}
#                                   openai          {"type": "object", "additionalProperties": {"type": "integer"}}
#
# A list of pairs (name, value) says the same and survives both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  langchain-core==1.8.3 openai==3.57.0 pydantic==2.14.4 jsonschema==4.26.0
"$folder/venv/bin/python" - <<'PYTHON'
from jsonschema import Draft202012Validator
from langchain_core.utils.function_calling import convert_to_openai_tool
from openai import pydantic_function_tool
from pydantic import BaseModel


class Stock(BaseModel):
    """Numbers of pieces by article."""

    counts: dict[str, int]


class Order(BaseModel):
    """An order."""

    stock: Stock


VALUE = {"stock": {"counts": {"screw": 3}}}
Order.model_validate(VALUE)
plain = convert_to_openai_tool(Order)["function"]["parameters"]
strict = convert_to_openai_tool(Order, strict=True)["function"]["parameters"]
by_openai = pydantic_function_tool(Order)["function"]["parameters"]
counts = strict["properties"]["stock"]["properties"]["counts"]
print("langchain-core", counts)
assert counts["additionalProperties"] is False and strict["properties"]["stock"]["required"] == ["counts"]
assert by_openai["$defs"]["Stock"]["properties"]["counts"]["additionalProperties"] == {"type": "integer"}
valid = [Draft202012Validator(schema).is_valid(VALUE) for schema in (plain, strict, by_openai)]
print("the model's own value is valid: plain, strict, openai", valid)
assert valid == [True, False, True]
assert Draft202012Validator(strict).is_valid({"stock": {"counts": {}}})
print("as described")
PYTHON
