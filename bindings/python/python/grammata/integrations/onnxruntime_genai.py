"""Grammars for onnxruntime-genai: its own loop, with a mask between the logits and the choice of a token.

    compiler = compiler_for("folder of the model")
    grammar = compiler.compile_json_schema(schema)
    generator.append_tokens(prompt)
    tokens = generate(generator, grammar, max_new_tokens=200)

The engine of guidance inside onnxruntime-genai is not replaced, and its C API is not served. NumPy is imported when it is used.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from grammata._errors import usage_error
from grammata._native import CompiledGrammar, Compiler, Matcher, Vocabulary, mask_logits

__all__ = ["compiler_for", "generate"]


def compiler_for(folder: str | PathLike[str]) -> Compiler:
    """A compiler for a model's folder: its `tokenizer.json`, and the width and end tokens of its `genai_config.json`."""
    config = json.loads((Path(folder) / "genai_config.json").read_text(encoding="utf-8"))["model"]
    return Compiler(
        Vocabulary.from_file(Path(folder) / "tokenizer.json", width=config["vocab_size"], eos=config.get("eos_token_id"))
    )


def generate(
    generator: Any,
    grammars: CompiledGrammar | Sequence[CompiledGrammar],
    /,
    *,
    max_new_tokens: int,
    within_limit: bool = True,
    end_tokens: Sequence[int] | None = None,
) -> list[list[int]]:
    """Generates with a `Generator` that has its prompt, greedily or by sampling; returns the new tokens of each sequence.

    One grammar for all sequences of the batch, or one for each. Outputs are complete within `max_new_tokens`; `within_limit=False`
    lets them be cut there. Raises RejectedError before the model runs if no complete text fits, and UsageError if the generator's
    `max_length` ends it before that limit, or if it searches with beams.
    """
    numpy: Any = importlib.import_module("numpy")
    matchers: list[Matcher] | None = None
    if isinstance(grammars, CompiledGrammar):
        _check_budget(grammars.matcher(end_tokens=end_tokens), max_new_tokens, within_limit)
    else:
        matchers = [grammar.matcher(end_tokens=end_tokens) for grammar in grammars]
        for matcher in matchers:
            _check_budget(matcher, max_new_tokens, within_limit)
    texts: list[list[int]] = []
    ended: list[bool] = []
    prompt = generator.token_count()
    for step in range(max_new_tokens):
        if generator.is_done():
            break
        logits = numpy.ascontiguousarray(generator.get_logits(), dtype=numpy.float32)
        # one row for each sequence, the logits of its last token
        table = logits.reshape(logits.shape[0], -1, logits.shape[-1])
        if matchers is None:
            assert isinstance(grammars, CompiledGrammar)
            matchers = [grammars.matcher(end_tokens=end_tokens) for _ in range(len(table))]
        if len(matchers) != len(table):
            raise _rows(len(table), len(matchers))
        if not texts:
            texts, ended = [[] for _ in matchers], [False] * len(matchers)
            masks = numpy.zeros((len(matchers), matchers[0].compiled.vocabulary.mask_words), numpy.int32)
        for row, matcher in enumerate(matchers):
            if not ended[row]:
                if within_limit:
                    matcher.fill_mask_within(max_new_tokens - step, masks[row])
                else:
                    matcher.fill_mask(masks[row])
                _mask(table[row, -1], masks[row])
        generator.set_logits(logits)
        generator.generate_next_token()
        tokens = [int(token) for token in generator.get_next_tokens()]
        if len(tokens) != len(matchers):
            raise _rows(len(tokens), len(matchers))
        for row, token in enumerate(tokens):
            if not ended[row]:
                texts[row].append(token)
                if generator.get_sequence(row)[prompt:].tolist() != texts[row]:
                    raise _beams()
                matchers[row].accept_token(token)
                ended[row] = matchers[row].is_finished() and not matchers[row].mask()
        if all(ended):
            break
    else:
        return texts
    if within_limit and not all(matcher.is_accepting() or done for matcher, done in zip(matchers or (), ended, strict=True)):
        raise usage_error(
            "genai/max-length",
            "the generator ended before the limit",
            found=f"{max(map(len, texts), default=0)} of {max_new_tokens} tokens",
            allowed="a `max_length` of the prompt and `max_new_tokens` at least",
            help="raise it with GeneratorParams.set_search_options(max_length=…)",
        )
    return texts


def _check_budget(matcher: Matcher, budget: int, within_limit: bool) -> None:
    if within_limit:
        matcher.check_budget(budget)


def _mask(logits: Any, mask: Any) -> None:
    covered = min(len(logits), 32 * len(mask))
    mask_logits(logits[:covered], mask)
    logits[covered:] = -float("inf")


def _beams() -> Exception:
    return usage_error(
        "genai/beams",
        "a sequence changed its place",
        found="a row that does not continue the text that it had",
        allowed="greedy search and sampling",
        help="search without beams (num_beams=1)",
    )


def _rows(rows: int, matchers: int) -> Exception:
    return usage_error(
        "python/rows",
        "the rows do not fit the grammars",
        found=f"{rows} rows for {matchers} sequences",
        allowed="one row for each sequence",
        help="give one grammar for each sequence of the batch, and search without beams (num_beams=1)",
    )
