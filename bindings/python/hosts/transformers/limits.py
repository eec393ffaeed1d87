#!/usr/bin/env python3
"""Counts the valid outputs of five set-ups at limits of 8 to 200 tokens, as rows of a Markdown table.

usage: limits.py [ARM]   (with all arms, each in a process of its own, because two of them replace XGrammar's classes)

Each arm has SmolLM2-135M-Instruct from the folder `GRAMMATA_SMOLLM2`, in 32-bit floats, greedy search, the same schema
and the same prompts. Each arm is used as its documentation says, with its own white space. Fails if an output within a
budget is not valid.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pydantic
import torch
import transformers

LIMITS = (200, 100, 40, 24, 8)
SUBJECTS = ("a person", "Ada Lovelace", "a baker in Rome", "your best friend", "the captain of a ship")
QUESTIONS = [f"Describe {subject} as JSON." for subject in SUBJECTS]


class Address(pydantic.BaseModel):
    street: str
    city: str


class Person(pydantic.BaseModel):
    name: str
    age: int
    address: Address
    notes: list[str]


Ask = Callable[[str, int], str]
"""Returns the output for a question within a number of tokens."""


def asker(model: Any, tokenizer: Any, call: Callable[[Any, int], Any]) -> Ask:
    def ask(question: str, limit: int) -> str:
        inputs = tokenizer(prompt(tokenizer, question), return_tensors="pt")
        output = call(inputs, limit)[0, inputs["input_ids"].shape[1] :]
        return tokenizer.decode(output, skip_special_tokens=True)

    return ask


def prompt(tokenizer: Any, question: str) -> str:
    chat = [{"role": "user", "content": question}]
    return tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)


def grammata_generate(model: Any, tokenizer: Any) -> Ask:
    from grammata.integrations.transformers import compiler_for, generate

    grammar = compiler_for(model, tokenizer).compile_json_schema(Person)
    return asker(model, tokenizer, lambda inputs, limit: generate(model, grammar, **inputs, max_new_tokens=limit, do_sample=False))


def xgrammar(model: Any, tokenizer: Any, has_budget: bool = False) -> Ask:
    import xgrammar

    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiled = xgrammar.GrammarCompiler(info).compile_json_schema(Person)

    def call(inputs: Any, limit: int) -> Any:
        options = {"budget": limit} if has_budget else {}
        processor = xgrammar.contrib.hf.LogitsProcessor(compiled, **options)
        return model.generate(**inputs, max_new_tokens=limit, do_sample=False, logits_processor=[processor])

    return asker(model, tokenizer, call)


def compat_xgrammar(model: Any, tokenizer: Any) -> Ask:
    from grammata.compat import xgrammar as replacement

    replacement.install()
    return xgrammar(model, tokenizer, has_budget=True)


def outlines(model: Any, tokenizer: Any, has_budget: bool = False) -> Ask:
    import outlines
    from grammata.integrations.outlines import processor

    steerable = outlines.from_transformers(model, tokenizer)
    assert all(steerable.type_adapter.format_input(question) == prompt(tokenizer, question) for question in QUESTIONS)
    plain = None if has_budget else outlines.Generator(steerable, Person)

    def ask(question: str, limit: int) -> str:
        generator = plain or outlines.Generator(steerable, processor=processor(steerable, Person, budget=limit))
        return generator(question, max_new_tokens=limit, do_sample=False)

    return ask


def outlines_with_budget(model: Any, tokenizer: Any) -> Ask:
    return outlines(model, tokenizer, has_budget=True)


ARMS: dict[str, Callable[[Any, Any], Ask]] = {
    "transformers with XGrammar 0.2.9": xgrammar,
    "the same after `compat.xgrammar.install()`, with `budget=`": compat_xgrammar,
    "Outlines 1.3.3, its default back end": outlines,
    "Outlines 1.3.3 with `processor(…, budget=…)`": outlines_with_budget,
    "transformers with Grammata's `generate`": grammata_generate,
}
HAVE_BUDGETS = (compat_xgrammar, outlines_with_budget, grammata_generate)


def verdict(ask: Ask, question: str, limit: int) -> str:
    try:
        text = ask(question, limit)
    except Exception as error:  # noqa: BLE001: each package has its own
        if "matcher/budget" not in str(error):
            raise
        return "refused"
    try:
        Person.model_validate_json(text)
    except pydantic.ValidationError:
        try:
            json.loads(text)
        except ValueError:
            return "cut"
        return "invalid"
    return "valid"


def run(arm: str) -> None:
    torch.set_num_threads(2)
    folder = os.environ["GRAMMATA_SMOLLM2"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    ask = ARMS[arm](model, tokenizer)
    cells = []
    for limit in LIMITS:
        verdicts = [verdict(ask, question, limit) for question in QUESTIONS]
        assert ARMS[arm] not in HAVE_BUDGETS or {*verdicts} <= {"valid", "refused"}, verdicts
        cells.append(", ".join(f"{verdicts.count(kind)} {kind}" for kind in dict.fromkeys(sorted(verdicts, reverse=True))))
    print(f"| {arm} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(sys.argv[1])
    else:
        for name in ARMS:
            subprocess.run([sys.executable, __file__, name], check=True)
