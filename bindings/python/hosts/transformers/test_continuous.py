"""Continuous batching: grammars of requests, budgets, forks, resets, errors of one request."""

import json
from typing import Any

import grammata
import jsonschema
import pytest
import torch
from conftest import prompt, text_of
from grammata.integrations.transformers import enable_continuous_batching
from transformers import ContinuousBatchingConfig, GenerationConfig


def run(model: Any, tokenizer: Any, requests: list[dict[str, Any]], within_limit: bool = True, **options: Any) -> list[Any]:
    """Outputs in the order of the requests, siblings after each."""
    enable_continuous_batching(model, within_limit=within_limit)
    config = {"use_cuda_graph": False, "num_blocks": 64, "max_batch_tokens": 128} | options.pop("config", {})
    generation = GenerationConfig(
        **{"do_sample": False, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.eos_token_id} | options
    )
    with model.continuous_batching_context_manager(
        generation_config=generation,
        continuous_batching_config=ContinuousBatchingConfig(per_request_processors=True, **config),
    ) as manager:
        ids = [manager.add_request(**request) for request in requests]
        count = len(ids) * (generation.num_return_sequences or 1)
        found: dict[str, Any] = {}
        while len(found) < count:
            result = manager.get_result(timeout=60)
            assert result is not None, "no result within a minute"
            if result.is_finished() or result.error:
                found[result.request_id] = result
    return [found[name] for one in ids for name in [one, *sorted(key for key in found if key.startswith(f"{one}__child"))]]


def request(tokenizer: Any, what: str, limit: int, grammar: Any = None) -> dict[str, Any]:
    options = {} if grammar is None else {"grammar": grammar}
    return {"input_ids": prompt(tokenizer, what), "max_new_tokens": limit, **options}


def test_requests_have_their_grammars_and_limits(model, tokenizer, compiler, schemas):
    names = ["person", "plate", "unbounded-string", "survey", "tree", "recipe"]
    limits = [20, 14, 16, 40, 25, 80]
    requests = [
        request(tokenizer, name, limit, compiler.compile_json_schema(schemas[name]))
        for name, limit in zip(names, limits, strict=True)
    ]
    requests.insert(3, request(tokenizer, "free text", 10))
    results = run(model, tokenizer, requests)
    free = results.pop(3)
    assert free.error is None and free.generated_tokens
    for name, limit, result in zip(names, limits, results, strict=True):
        assert result.error is None and len(result.generated_tokens) <= limit
        jsonschema.validate(json.loads(text_of(tokenizer, result.generated_tokens)), schemas[name])


def test_outputs_are_those_of_generate(model, tokenizer, compiler, schemas):
    grammar = compiler.compile_json_schema(schemas["person"])
    first, again = run(model, tokenizer, [request(tokenizer, "Ada, 36", 30, grammar)] * 2)
    assert first.generated_tokens == again.generated_tokens
    assert "Ada" in text_of(tokenizer, first.generated_tokens)


def test_without_budgets_outputs_are_cut(model, tokenizer, compiler, schemas):
    grammar = compiler.compile_json_schema(schemas["unbounded-string"])
    (result,) = run(model, tokenizer, [request(tokenizer, "a long story", 12, grammar)], within_limit=False)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text_of(tokenizer, result.generated_tokens))


def test_a_request_that_nothing_fits_fails_alone(model, tokenizer, compiler, schemas):
    requests = [
        request(tokenizer, "an id", 20, compiler.compile_json_schema(schemas["uuid"])),
        request(tokenizer, "Ada, 36", 20, compiler.compile_json_schema(schemas["person"])),
        request(tokenizer, "wrong", 20, "not a grammar"),
    ]
    failed, good, wrong = run(model, tokenizer, requests)
    assert "matcher/budget" in failed.error and "40 tokens" in failed.error and len(failed.generated_tokens) == 1
    assert good.error is None
    jsonschema.validate(json.loads(text_of(tokenizer, good.generated_tokens)), schemas["person"])
    assert "CompiledGrammar" in wrong.error


def test_siblings_are_forks(model, tokenizer, compiler, schemas):
    torch.manual_seed(4)
    grammar = compiler.compile_json_schema(schemas["survey"])
    results = run(model, tokenizer, [request(tokenizer, "survey", 50, grammar)], do_sample=True, num_return_sequences=4)
    texts = [text_of(tokenizer, result.generated_tokens) for result in results]
    assert len(texts) == 4 and len(set(texts)) > 1
    for text in texts:
        jsonschema.validate(json.loads(text), schemas["survey"])


def test_requests_that_lose_their_place_go_on(model, tokenizer, compiler, schemas):
    """If the cache is too small for all, requests are suspended and begin again with their text as a part of the
    prompt."""
    grammar = compiler.compile_json_schema(schemas["unbounded-string"])
    requests = [request(tokenizer, f"story {number}", 120, grammar) for number in range(4)]
    config = {"num_blocks": 12, "block_size": 32, "max_batch_tokens": 64, "allow_block_sharing": False}
    for result in run(model, tokenizer, requests, config=config):
        assert result.error is None and len(result.generated_tokens) <= 120
        jsonschema.validate(json.loads(text_of(tokenizer, result.generated_tokens)), schemas["unbounded-string"])


def test_masks_that_are_asked_for_ahead_are_an_error(compiler, schemas):
    from grammata.integrations.transformers.continuous import _Text

    text = _Text(compiler.compile_json_schema(schemas["person"]).matcher())
    text.follow([])
    with pytest.raises(grammata.UsageError) as caught:
        text.follow([])
    assert caught.value.code == "python/ran-ahead"
