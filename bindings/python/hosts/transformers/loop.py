"""SmolLM2 in `generate` without a grammar, with Grammata, and with llguidance: tokens a second, and the time of the processor.

usage: loop.py [--tokens 64] [--runs 3]

The arms take turns; each batch and arm runs once before the measured runs. Each run of an arm with a grammar compiles its
schemas again: the first output of a schema is *cold*, a second one right after it is *warm*. A processor's call includes
accepting the last token, the mask, and applying it to the scores. Outputs may end early; tokens after the end do not count.
llguidance needs the package of that name; its masks are computed by its executor, and applied by its own kernel if torch
can compile it, otherwise by Grammata's `apply_mask`. Prints JSON Lines.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llguidance
import llguidance.hf
import llguidance.torch
import torch
import transformers
from conftest import padded, prompt
from grammata.integrations.torch import apply_mask
from grammata.integrations.transformers import GrammarLogitsProcessor, compiler_for

NAMES = ["recipe", "invoice", "calls", "survey", "tree", "nested", "unbounded-string", "call"]
"""Schemas with long outputs that both engines compile."""


class LlguidanceProcessor:
    """A processor as in llguidance's own examples: one matcher a row, masks of a batch in one call."""

    def __init__(self, tokenizer: Any, grammars: list[str], width: int, apply: Callable[[Any, Any], None]) -> None:
        self.matchers = [llguidance.LLMatcher(tokenizer, grammar) for grammar in grammars]
        self.masks = llguidance.torch.allocate_token_bitmask(len(grammars), width)
        self.executor = llguidance.LLExecutor()
        self.apply = apply
        self.begun = False

    def __call__(self, ids: Any, scores: Any) -> Any:
        if self.begun:
            for matcher, token in zip(self.matchers, ids[:, -1].tolist(), strict=True):
                if not matcher.is_stopped() and not matcher.consume_token(token):
                    raise RuntimeError(matcher.get_error())
        self.begun = True
        running = [(matcher, row) for row, matcher in enumerate(self.matchers) if not matcher.is_stopped()]
        self.masks.fill_(-1)
        if len(running) == 1:
            llguidance.torch.fill_next_token_bitmask(running[0][0], self.masks, running[0][1])
        elif running:
            llguidance.torch.fill_next_token_bitmask_par(self.executor, running, self.masks)
        self.apply(scores, self.masks)
        return scores


class Timed:
    """A processor, and the seconds of each of its calls."""

    def __init__(self, processor: Any) -> None:
        self.processor = processor
        self.seconds: list[float] = []

    def __call__(self, ids: Any, scores: Any) -> Any:
        begun = time.perf_counter()
        scores = self.processor(ids, scores)
        self.seconds.append(time.perf_counter() - begun)
        return scores


def applier(width: int) -> tuple[str, Callable[[Any, Any], None]]:
    """llguidance's kernel if torch can compile it here, and its name."""
    scores, masks = torch.zeros((2, width)), llguidance.torch.allocate_token_bitmask(2, width)
    try:
        llguidance.torch.apply_token_bitmask_inplace(scores, masks)
        return "llguidance", llguidance.torch.apply_token_bitmask_inplace
    except Exception as error:  # torch raises errors of many types without a compiler
        print(json.dumps({"kernel": "grammata", "because": type(error).__name__}))
        return "grammata", apply_mask


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--tokens", type=int, default=64)
    arguments.add_argument("--runs", type=int, default=3)
    given = arguments.parse_args()
    folder = os.environ["GRAMMATA_SMOLLM2"]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
    all_schemas = json.loads((Path(__file__).parent / "schemas.json").read_text())
    schemas = {name: json.dumps(all_schemas[name]) for name in NAMES}
    width = model.get_output_embeddings().weight.shape[0]
    theirs = llguidance.hf.from_tokenizer(tokenizer, n_vocab=width)
    kernel, apply = applier(width)
    print(json.dumps({"torch": torch.__version__, "llguidance": llguidance.__version__, "kernel": kernel, "threads": torch.get_num_threads()}))
    compact = {"whitespace_flexible": False}

    def grammata(names: list[str]) -> Callable[[], Any]:
        compiler = compiler_for(model, tokenizer)
        compiled = {name: compiler.compile_json_schema(schemas[name]) for name in set(names)}
        return lambda: GrammarLogitsProcessor([compiled[name] for name in names])

    def within(names: list[str]) -> Callable[[], Any]:
        compiler = compiler_for(model, tokenizer)
        compiled = {name: compiler.compile_json_schema(schemas[name]) for name in set(names)}
        least = {name: grammar.matcher().distance().known for name, grammar in compiled.items()}
        return lambda: GrammarLogitsProcessor(
            [compiled[name] for name in names], budget=[max(given.tokens, least[name]) for name in names]
        )

    def other(names: list[str]) -> Callable[[], Any]:
        grammars = {name: llguidance.LLMatcher.grammar_from_json_schema(schemas[name], compact) for name in set(names)}
        return lambda: LlguidanceProcessor(theirs, [grammars[name] for name in names], width, apply)

    arms = {"no grammar": None, "grammata": grammata, "grammata, budget": within, "llguidance": other}
    for batch in (1, 4, 16):
        names = [NAMES[row % len(NAMES)] for row in range(batch)]
        found: dict[tuple[str, str], list[tuple[float, list[float], int, float]]] = {}
        for run in range(given.runs + 1):
            for arm, prepare in arms.items():
                begun = time.perf_counter()
                processor_of = prepare(names) if prepare else None
                compiling = time.perf_counter() - begun
                for heat in ("cold", "warm") if prepare else ("",):
                    inputs = padded(tokenizer, [prompt(tokenizer, name) for name in names])
                    begun = time.perf_counter()
                    timed = Timed(processor_of()) if processor_of else None
                    ends = {} if prepare else {"min_new_tokens": given.tokens}
                    output = model.generate(
                        **inputs, max_new_tokens=given.tokens, do_sample=False, logits_processor=[timed] if timed else [], **ends
                    )
                    seconds = time.perf_counter() - begun
                    rows = output[:, inputs["input_ids"].shape[1] :].tolist()
                    tokens = sum(row.index(tokenizer.eos_token_id) + 1 if tokenizer.eos_token_id in row else len(row) for row in rows)
                    if run:
                        found.setdefault((arm, heat), []).append((seconds, timed.seconds if timed else [], tokens, compiling))
        for (arm, heat), runs in found.items():
            row = {"batch": batch, "arm": arm, "heat": heat, "tokens": runs[0][2]}
            row["tokens_per_second"] = round(statistics.median(tokens / seconds for seconds, _, tokens, _ in runs), 1)
            if runs[0][1]:
                calls = sorted(call for _, calls, _, _ in runs for call in calls)
                row["compile_ms"] = round(1e3 * statistics.median(compiling for _, _, _, compiling in runs), 1)
                row["processor_us_mean"] = round(1e6 * statistics.mean(calls))
                row["processor_us_p99"] = round(1e6 * calls[int(0.99 * (len(calls) - 1))])
                row["share_of_time"] = round(statistics.median(sum(calls) / seconds for seconds, calls, _, _ in runs), 4)
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
