"""The recipe for Outlines in docs/hosts.md: our logits processor under its generator."""

import json

import jsonschema
import outlines
import pytest
from grammata.integrations.transformers import GrammarLogitsProcessor
from outlines.processors import OutlinesLogitsProcessor


class Grammata(OutlinesLogitsProcessor):
    """A grammar for a generator of Outlines; `budget` is the call's `max_new_tokens`."""

    def __init__(self, grammar, budget):
        super().__init__("torch")
        self.make = lambda: GrammarLogitsProcessor(grammar, budget=budget)

    def reset(self):
        self.processor = self.make()

    def process_logits(self, input_ids, logits):
        return self.processor(input_ids, logits)


@pytest.mark.parametrize("limit", [10, 30])
def test_the_recipe(model, tokenizer, compiler, schemas, limit):
    grammar = compiler.compile_json_schema(schemas["person"])
    generator = outlines.Generator(outlines.from_transformers(model, tokenizer), processor=Grammata(grammar, limit))
    for prompt in ("A person as JSON: ", "Ada, 36, as JSON: "):
        text = generator(prompt, max_new_tokens=limit)
        jsonschema.validate(json.loads(text), schemas["person"])
