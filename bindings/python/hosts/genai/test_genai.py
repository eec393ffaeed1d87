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


def run(model: Any, grammars: Any, limit: int, prompts: int = 1, within_limit: bool = True, **options: Any) -> list[list[int]]:
    params = onnxruntime_genai.GeneratorParams(model)
    params.set_search_options(**{"max_length": 200, "batch_size": prompts} | options)
    tokenizer = onnxruntime_genai.Tokenizer(model)
    prompt = tokenizer.encode(PROMPT) if prompts == 1 else tokenizer.encode_batch([PROMPT] * prompts)
    return generate(model, params, prompt, grammars, max_new_tokens=limit, within_limit=within_limit)


def text(compiler: grammata.Compiler, tokens: list[int]) -> str:
    eos = compiler.vocabulary.eos
    return compiler.vocabulary.decode([token for token in tokens if token not in eos]).decode()


@pytest.mark.parametrize("options", [{}, {"do_sample": True, "top_k": 50, "temperature": 2.0, "random_seed": 5}])
@pytest.mark.parametrize("limit", [12, 20, 40])
def test_outputs_are_complete_within_the_limit(model, compiler, options, limit):
    (tokens,) = run(model, compiler.compile_json_schema(PERSON), limit, **options)
    assert len(tokens) <= limit
    value = json.loads(text(compiler, tokens))
    assert set(value) == {"name", "age"} and 0 <= value["age"] <= 130


def test_sequences_of_a_batch_have_their_grammars(model, compiler):
    grammars = [compiler.compile_json_schema(PERSON), compiler.compile_regex("[a-z]{3,5}!")]
    texts = [text(compiler, tokens) for tokens in run(model, grammars, 30, prompts=2)]
    assert set(json.loads(texts[0])) == {"name", "age"} and texts[1].endswith("!") and 4 <= len(texts[1]) <= 6


def test_without_the_budget_the_output_is_cut(model, compiler):
    grammar = compiler.compile_regex("[a-z ]{300}")
    (tokens,) = run(model, grammar, 5, within_limit=False)
    assert len(tokens) == 5
    with pytest.raises(grammata.RejectedError) as caught:
        run(model, grammar, 5)
    assert caught.value.code == "matcher/budget"


@pytest.mark.parametrize(
    ("code", "count", "options"),
    [("genai/max-length", 1, {"max_length": 30}), ("python/rows", 2, {}), ("genai/beams", 1, {"num_beams": 3})],
)
def test_searches_that_do_not_fit(model, compiler, code, count, options):
    with pytest.raises(grammata.UsageError) as caught:
        run(model, [compiler.compile_json_schema(PERSON)] * count, 40, **options)
    assert caught.value.code == code
