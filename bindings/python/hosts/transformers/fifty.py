"""50 schemas with SmolLM2, greedily: the shares of outputs that are complete and valid within budgets, and without.

usage: fifty.py [--other xgrammar]

Each schema has two limits: the smallest number of tokens that is known to be enough (at least 20), and one of 50, 100,
150 and 200.
Fails unless all outputs within budgets are valid. Without budgets the same masks are used and the output is cut at its limit.
With `--other xgrammar` also XGrammar's processor, where it compiles the schema. Prints one JSON object.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import torch
import transformers
from conftest import padded, prompt, text_of
from grammata.integrations.transformers import GrammarLogitsProcessor, compiler_for
from rfc3339_validator import validate_rfc3339

WIDE = (50, 100, 150, 200)
BATCH = 10


def limits_of(grammars: dict[str, Any]) -> list[tuple[str, int]]:
    """Names of schemas and limits, ordered so that similar limits are next to each other."""
    tight = [(name, max(20, grammar.matcher().distance().known)) for name, grammar in grammars.items()]
    wide = [(name, WIDE[place % len(WIDE)]) for place, name in enumerate(grammars)]
    return sorted(tight, key=lambda pair: pair[1]) + sorted(wide, key=lambda pair: pair[1])


FORMATS = jsonschema.FormatChecker()


# jsonschema reads times with `datetime`, which allows only 3 or 6 digits of a fraction; RFC 3339 allows any number
@FORMATS.checks("time")
def is_time(value: object) -> bool:
    return not isinstance(value, str) or validate_rfc3339(f"2000-01-01T{value}")


def is_valid(text: str, schema: Any) -> bool:
    try:
        jsonschema.Draft202012Validator(schema, format_checker=FORMATS).validate(json.loads(text))
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def run(model: Any, tokenizer: Any, runs: list[tuple[str, int]], schemas: Any, processor_of: Any) -> tuple[list[bool], float]:
    """Whether each output is valid, and the seconds that the processor took."""
    valid, seconds = [], 0.0
    for start in range(0, len(runs), BATCH):
        part = runs[start : start + BATCH]
        inputs = padded(tokenizer, [prompt(tokenizer, name.replace("-", " ")) for name, _ in part])
        processor = processor_of(part)
        spent = [0.0]

        def timed(ids: Any, scores: Any, processor: Any = processor, spent: list[float] = spent) -> Any:
            begun = time.perf_counter()
            masked = processor(ids, scores)
            spent[0] += time.perf_counter() - begun
            return masked

        output = model.generate(**inputs, max_new_tokens=max(n for _, n in part), do_sample=False, logits_processor=[timed])
        for row, (name, limit) in zip(output[:, inputs["input_ids"].shape[1] :], part, strict=True):
            valid.append(is_valid(text_of(tokenizer, row[:limit]), schemas[name]))
        seconds += spent[0]
        print(f"{start + len(part)} of {len(runs)} runs, {sum(valid)} valid", file=sys.stderr)
    return valid, seconds


def xgrammar_arm(model: Any, tokenizer: Any, runs: list[tuple[str, int]], schemas: Any) -> dict[str, Any]:
    import xgrammar
    from xgrammar.contrib.hf import LogitsProcessor

    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
    compiler = xgrammar.GrammarCompiler(info)
    compiled, refused = {}, []
    for name, schema in schemas.items():
        try:
            compiled[name] = compiler.compile_json_schema(json.dumps(schema), strict_mode=False)
        except RuntimeError:
            refused.append(name)
    runs = [(name, limit) for name, limit in runs if name in compiled]
    valid, _ = run(model, tokenizer, runs, schemas, lambda part: LogitsProcessor([compiled[name] for name, _ in part]))
    return {"refused": refused, "runs": len(runs), "valid": sum(valid)}


def main() -> None:
    folder = os.environ["GRAMMATA_SMOLLM2"]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
    schemas = json.loads((Path(__file__).parent / "schemas.json").read_text())
    compiler = compiler_for(model, tokenizer)
    grammars = {name: compiler.compile_json_schema(schema) for name, schema in schemas.items()}
    runs = limits_of(grammars)

    def ours(part: list[tuple[str, int]], budgets: bool) -> GrammarLogitsProcessor:
        of = [grammars[name] for name, _ in part]
        return GrammarLogitsProcessor(of, budget=[limit for _, limit in part] if budgets else None)

    within, seconds = run(model, tokenizer, runs, schemas, lambda part: ours(part, True))
    cut, plain = run(model, tokenizer, runs, schemas, lambda part: ours(part, False))
    failed = [pair for pair, good in zip(runs, within, strict=True) if not good]
    result: dict[str, Any] = {"schemas": len(schemas), "runs": len(runs), "valid within budgets": sum(within), "failed": failed}
    result["valid without budgets"] = sum(cut)
    result["valid without budgets, tight"] = sum(cut[: len(schemas)])
    result["processor seconds, first with budgets, then without"] = [round(seconds, 2), round(plain, 2)]
    if "--other" in sys.argv:
        result["xgrammar"] = xgrammar_arm(model, tokenizer, runs, schemas)
    print(json.dumps(result, indent=1))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
