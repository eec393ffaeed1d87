"""`grammata.integrations.llama_cpp` on llama-cpp-python itself. `suite.py` runs them: `GRAMMATA_GGUF` is a model."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grammata
import jsonschema
import llama_cpp
import pytest
from grammata.integrations import llama_cpp as constrained

SCHEMAS = [json.loads(line) for line in (Path(__file__).parent / "schemas.jsonl").read_text().splitlines()]
PROMPT = "<|im_start|>user\nWrite a short example as JSON of this schema: {}<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def llm() -> Iterator[Any]:
    model = llama_cpp.Llama(os.environ["GRAMMATA_GGUF"], n_ctx=2048, n_threads=1, verbose=False)
    yield model
    model.close()


@pytest.fixture(scope="module")
def compiler(llm: Any) -> grammata.Compiler:
    return grammata.Compiler(constrained.vocabulary(llm))


def test_the_vocabulary_spells_what_the_tokenizer_reads(llm: Any, compiler: grammata.Compiler) -> None:
    vocabulary = compiler.vocabulary
    assert vocabulary.width == llm.n_vocab() == 49152
    assert llm.token_eos() in vocabulary.eos and vocabulary.special_id("<|im_end|>") in vocabulary.eos
    for text in ("Hello, world", '{"größe": 3.5}', "naïve 日本 🙂\n\tx"):
        tokens = llm.tokenize(text.encode(), add_bos=False, special=False)
        assert vocabulary.decode(tokens) == text.encode()


@pytest.mark.parametrize("index", range(len(SCHEMAS)))
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_outputs_are_complete_and_valid(llm: Any, compiler: grammata.Compiler, index: int, temperature: float) -> None:
    schema = SCHEMAS[index]
    grammar = compiler.compile_json_schema(schema, whitespace="short")
    reply = constrained.create_completion(
        llm, grammar, PROMPT.format(json.dumps(schema)), max_tokens=64, temperature=temperature, seed=index + 1
    )
    jsonschema.validate(json.loads(reply["choices"][0]["text"]), schema)
    assert reply["usage"]["completion_tokens"] <= 64


def test_without_a_grammar_and_cut_outputs_are_not(llm: Any, compiler: grammata.Compiler) -> None:
    """Without a grammar and with cut outputs, the checks of the other tests fail."""
    schema = SCHEMAS[15]
    prompt = PROMPT.format(json.dumps(schema))
    cut = constrained.create_completion(
        llm, compiler.compile_json_schema(schema, whitespace="short"), prompt, max_tokens=6, complete=False, temperature=0.0
    )
    with pytest.raises(ValueError):
        json.loads(cut["choices"][0]["text"])
    free = llm.create_completion(prompt, max_tokens=6, temperature=0.0)
    with pytest.raises(ValueError):
        json.loads(free["choices"][0]["text"])


def test_chats_streams_and_biases(llm: Any, compiler: grammata.Compiler) -> None:
    schema = SCHEMAS[0]
    grammar = compiler.compile_json_schema(schema, whitespace="short")
    messages = [{"role": "user", "content": "Ada Lovelace, 36 years old, as JSON."}]
    reply = constrained.create_chat_completion(llm, grammar, messages, max_tokens=40, temperature=0.0)
    jsonschema.validate(json.loads(reply["choices"][0]["message"]["content"]), schema)
    chunks = constrained.create_chat_completion(llm, grammar, messages, max_tokens=40, temperature=0.0, stream=True)
    text = "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)
    jsonschema.validate(json.loads(text), schema)
    # with a bias the host drops all processors of a plain list
    reply = constrained.create_completion(
        llm, grammar, "Ada: ", max_tokens=40, temperature=0.0, logit_bias={llm.tokenize(b"x", add_bos=False)[0]: 5.0}
    )
    jsonschema.validate(json.loads(reply["choices"][0]["text"]), schema)


def test_max_tokens_none_is_the_context(compiler: grammata.Compiler) -> None:
    grammar = compiler.compile_regex("[a-z ]*\\.")
    model = llama_cpp.Llama(os.environ["GRAMMATA_GGUF"], n_ctx=64, n_threads=1, verbose=False)
    reply = constrained.create_completion(model, grammar, [30] * 50, max_tokens=None, temperature=1.0, seed=3)
    model.close()
    text = reply["choices"][0]["text"]
    assert text.endswith("."), text


def test_a_grammar_that_fails_ends_its_text_and_no_other(llm: Any, compiler: grammata.Compiler) -> None:
    with pytest.raises(grammata.GrammarError):
        compiler.compile_json_schema({"type": "wrong"})
    grammar = compiler.compile_json_schema(SCHEMAS[0])
    with pytest.raises(grammata.RejectedError):
        constrained.create_completion(llm, grammar, "Ada: ", max_tokens=3)
    reply = constrained.create_completion(llm, grammar, "Ada: ", max_tokens=30, temperature=0.0)
    jsonschema.validate(json.loads(reply["choices"][0]["text"]), SCHEMAS[0])


def test_one_list_serves_several_calls(llm: Any, compiler: grammata.Compiler) -> None:
    grammar = compiler.compile_json_schema(SCHEMAS[1], whitespace="short")
    processors = constrained.logits_processor(llm, grammar, max_tokens=40)
    texts = []
    for prompt in ("Trier: ", "Trier: ", "Paris is: "):
        reply = llm.create_completion(prompt, max_tokens=40, temperature=0.0, logits_processor=processors)
        processors[0].check()
        texts.append(reply["choices"][0]["text"])
        jsonschema.validate(json.loads(texts[-1]), SCHEMAS[1])
    assert texts[0] == texts[1]


def test_models_of_several_threads(compiler: grammata.Compiler) -> None:
    grammar = compiler.compile_json_schema(SCHEMAS[3], whitespace="short")
    texts: list[str] = []

    def generate(number: int) -> None:
        model = llama_cpp.Llama(os.environ["GRAMMATA_GGUF"], n_ctx=512, n_threads=1, verbose=False, seed=number)
        reply = constrained.create_completion(model, grammar, "Answer: ", max_tokens=48, temperature=1.0)
        texts.append(reply["choices"][0]["text"])
        model.close()

    threads = [threading.Thread(target=generate, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 2
    for text in texts:
        jsonschema.validate(json.loads(text), SCHEMAS[3])
