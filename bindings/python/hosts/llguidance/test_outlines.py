"""Outlines' own llguidance backend on `grammata.compat.llguidance`, with SmolLM2: `GRAMMATA_SMOLLM2` is the model's folder."""

import json
import os
import re
from typing import Any

import jsonschema
import pytest
import torch
import transformers
from grammata.compat import llguidance

llguidance.install()

import outlines  # noqa: E402
from outlines.backends import get_cfg_logits_processor, get_json_schema_logits_processor, get_regex_logits_processor  # noqa: E402

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 120}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    folder = os.environ["GRAMMATA_SMOLLM2"]
    weights = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return outlines.from_transformers(weights, transformers.AutoTokenizer.from_pretrained(folder))


def test_outlines_uses_this_package(model: Any) -> None:
    processor = get_regex_logits_processor("llguidance", model, "a")
    assert isinstance(processor.llg_tokenizer, llguidance.LLTokenizer)


def test_json(model: Any) -> None:
    processor = get_json_schema_logits_processor("llguidance", model, json.dumps(PERSON))
    for prompt in ("A person as JSON: ", "Ada, 36, as JSON: "):
        text = outlines.Generator(model, processor=processor)(prompt, max_new_tokens=80)
        jsonschema.validate(json.loads(text), PERSON)


def test_patterns(model: Any) -> None:
    processor = get_regex_logits_processor("llguidance", model, r"[0-9]{3}-[0-9]{4}")
    texts = outlines.Generator(model, processor=processor).batch(["My number is ", "Call "], max_new_tokens=20)
    assert all(re.fullmatch(r"[0-9]{3}-[0-9]{4}", text) for text in texts), texts


def test_grammars(model: Any) -> None:
    grammar = 'start: number (" + " number)~1..3\nnumber: /[0-9]{1,2}/'
    processor = get_cfg_logits_processor("llguidance", model, grammar)
    text = outlines.Generator(model, processor=processor)("A sum: ", max_new_tokens=40)
    assert re.fullmatch(r"[0-9]{1,2}( \+ [0-9]{1,2}){1,3}", text), text
