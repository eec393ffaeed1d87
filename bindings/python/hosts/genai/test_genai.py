"""onnxruntime-genai itself with SmolLM2, run by `cargo xtask full genai`: `GRAMMATA_GENAI` is the model's folder."""

import json
import os
from typing import Any

import grammata
import onnxruntime_genai
import pytest
from grammata.integrations.onnxruntime_genai import compiler_for, generate

FOLDER = os.environ["GRAMMATA_GENAI"]
PERSON = {
    "type": "object", "additionalProperties": False, "required": ["name", "age"],
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 130}},
}  # fmt: skip
PROMPT = "<|im_start|>user\nWrite a person as JSON.<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="session")
def model() -> Any:
    return onnxruntime_genai.Model(FOLDER)


@pytest.fixture(scope="session")
def compiler() -> grammata.Compiler:
    return compiler_for(FOLDER)


def start(model: Any, prompts: list[str] | None = None, **options: Any) -> Any:
    params = onnxruntime_genai.GeneratorParams(model)
    prompts = prompts or [PROMPT]
    params.set_search_options(**{"max_length": 200, "batch_size": len(prompts)} | options)
    generator = onnxruntime_genai.Generator(model, params)
    tokenizer = onnxruntime_genai.Tokenizer(model)
    generator.append_tokens(tokenizer.encode(prompts[0]) if len(prompts) == 1 else tokenizer.encode_batch(prompts))
    return generator


def text(compiler: grammata.Compiler, tokens: list[int]) -> str:
    eos = compiler.vocabulary.eos
    return compiler.vocabulary.decode([token for token in tokens if token not in eos]).decode()


@pytest.mark.parametrize("options", [{}, {"do_sample": True, "top_k": 0, "temperature": 2.0, "random_seed": 5}])
@pytest.mark.parametrize("limit", [12, 20, 40])
def test_outputs_are_complete_within_the_limit(model, compiler, options, limit):
    grammar = compiler.compile_json_schema(PERSON)
    (tokens,) = generate(start(model, **options), grammar, max_new_tokens=limit)
    assert len(tokens) <= limit
    value = json.loads(text(compiler, tokens))
    assert set(value) == {"name", "age"} and 0 <= value["age"] <= 130


def test_sequences_of_a_batch_have_their_grammars(model, compiler):
    grammars = [compiler.compile_json_schema(PERSON), compiler.compile_regex("[a-z]{3,5}!")]
    texts = [text(compiler, tokens) for tokens in generate(start(model, [PROMPT, PROMPT]), grammars, max_new_tokens=30)]
    assert set(json.loads(texts[0])) == {"name", "age"} and texts[1].endswith("!") and 4 <= len(texts[1]) <= 6


def test_without_the_budget_the_output_is_cut(model, compiler):
    grammar = compiler.compile_regex("[a-z ]{300}")
    (tokens,) = generate(start(model), grammar, max_new_tokens=5, within_limit=False)
    assert len(tokens) == 5
    with pytest.raises(grammata.RejectedError) as caught:
        generate(start(model), grammar, max_new_tokens=5)
    assert caught.value.code == "matcher/budget"


def test_a_generator_that_ends_early_is_an_error(model, compiler):
    with pytest.raises(grammata.UsageError) as caught:
        generate(start(model, max_length=30), compiler.compile_regex("[a-z ]{300}"), max_new_tokens=120)
    assert caught.value.code == "genai/max-length"
    with pytest.raises(grammata.UsageError) as rows:
        generate(start(model), [compiler.compile_regex("a")] * 2, max_new_tokens=9)
    assert rows.value.code == "python/rows"


def test_beams_are_refused(model, compiler):
    with pytest.raises(grammata.UsageError) as caught:
        generate(start(model, num_beams=3), compiler.compile_json_schema(PERSON), max_new_tokens=40)
    assert caught.value.code == "genai/beams"
