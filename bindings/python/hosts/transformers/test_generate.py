"""`generate`: greedy search, beams, sampling, batches, budgets, several calls."""

import json
from typing import Any

import grammata
import jsonschema
import pytest
import torch
from conftest import padded, prompt, text_of
from grammata.integrations.transformers import GrammarLogitsProcessor, generate

KINDS = {
    "greedy": {"do_sample": False},
    "beams": {"num_beams": 4, "do_sample": False},
    "sampling": {"do_sample": True, "temperature": 1.5},
    "sampled beams": {"num_beams": 3, "do_sample": True},
    "several outputs": {"do_sample": True, "num_return_sequences": 3},
}


def answers(tokenizer: Any, output: Any, inputs: Any) -> list[str]:
    return [text_of(tokenizer, row) for row in output[:, inputs["input_ids"].shape[1] :]]


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_are_valid_within_the_limit(model, tokenizer, compiler, schemas, kind):
    torch.manual_seed(1)
    names = ["person", "survey", "unbounded-string", "plate"]
    inputs = padded(tokenizer, [prompt(tokenizer, name) for name in names])
    grammars = [compiler.compile_json_schema(schemas[name]) for name in names]
    output = generate(model, grammars, **inputs, max_new_tokens=30, **KINDS[kind])
    texts = answers(tokenizer, output, inputs)
    each = len(texts) // len(names)
    for place, text in enumerate(texts):
        jsonschema.validate(json.loads(text), schemas[names[place // each]])


def test_each_sequence_has_its_budget(model, tokenizer, compiler, schemas):
    grammar = compiler.compile_json_schema(schemas["unbounded-string"])
    inputs = padded(tokenizer, [prompt(tokenizer, "a long story")] * 3)
    processor = GrammarLogitsProcessor([grammar] * 3, budget=[6, 12, 40])
    output = model.generate(**inputs, max_new_tokens=48, do_sample=False, logits_processor=[processor])
    lengths = []
    for row in output[:, inputs["input_ids"].shape[1] :].tolist():
        json.loads(text_of(tokenizer, row))
        lengths.append(row.index(tokenizer.eos_token_id) if tokenizer.eos_token_id in row else len(row))
    assert lengths[0] <= 6 < lengths[1] <= 12 < lengths[2] <= 40


def test_without_the_budget_the_output_is_cut(model, tokenizer, compiler, schemas):
    inputs = padded(tokenizer, [prompt(tokenizer, "a long story")])
    grammar = compiler.compile_json_schema(schemas["unbounded-string"])
    output = generate(model, grammar, **inputs, max_new_tokens=12, do_sample=False, within_limit=False)
    with pytest.raises(json.JSONDecodeError):
        json.loads(answers(tokenizer, output, inputs)[0])


def test_a_limit_that_nothing_fits_is_an_error_before_the_model_runs(model, tokenizer, compiler, schemas):
    inputs = padded(tokenizer, [prompt(tokenizer, "an id")])
    grammar = compiler.compile_json_schema(schemas["uuid"])
    with pytest.raises(grammata.RejectedError) as caught:
        generate(model, grammar, **inputs, max_new_tokens=20)
    assert caught.value.code == "matcher/budget" and "40 tokens" in (caught.value.allowed or "")
    with pytest.raises(grammata.UsageError) as missing:
        generate(model, grammar, **inputs)
    assert missing.value.code == "python/no-limit"


def test_one_processor_serves_several_calls(model, tokenizer, compiler, schemas):
    processor = GrammarLogitsProcessor(compiler.compile_json_schema(schemas["person"]), budget=24)
    outputs = []
    for what in ("Ada, 36", "Ada, 36", "Grace, who is 85 years old and writes compilers"):
        inputs = padded(tokenizer, [prompt(tokenizer, what)])
        output = model.generate(**inputs, max_new_tokens=24, do_sample=False, logits_processor=[processor])
        outputs.append(answers(tokenizer, output, inputs)[0])
        jsonschema.validate(json.loads(outputs[-1]), schemas["person"])
    assert outputs[0] == outputs[1] != outputs[2]


def test_assisted_generation_is_refused(model, tokenizer, compiler, schemas):
    inputs = padded(tokenizer, [prompt(tokenizer, "a list of numbers 1, 2, 1, 2, 1, 2")])
    grammar = compiler.compile_json_schema(schemas["unbounded-numbers"])
    with pytest.raises(grammata.UsageError) as caught:
        generate(model, grammar, **inputs, max_new_tokens=30, prompt_lookup_num_tokens=3)
    assert caught.value.code == "python/assisted-generation"
    # without the helper, there is an error when the host undoes a token, or proposes one that is not allowed
    with pytest.raises(grammata.GrammataError):
        model.generate(
            **inputs, max_new_tokens=60, prompt_lookup_num_tokens=3, do_sample=False,
            logits_processor=[GrammarLogitsProcessor(grammar, budget=60)],
        )  # fmt: skip
