"""Grammars for onnxruntime-genai: a loop that masks the logits before each choice of a token.

    compiler = compiler_for("folder of the model")
    grammar = compiler.compile_json_schema(schema)
    tokens = generate(model, params, tokenizer.encode(prompt), grammar, max_new_tokens=200)

The engine of guidance inside onnxruntime-genai is not replaced, and its C API is not supported. NumPy is imported when
it is used.
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
    """A compiler for the model in a folder. Reads its `tokenizer.json`, and width and end tokens from
    `genai_config.json`."""
    config = json.loads((Path(folder) / "genai_config.json").read_text(encoding="utf-8"))["model"]
    return Compiler(
        Vocabulary.from_file(Path(folder) / "tokenizer.json", width=config["vocab_size"], eos=config.get("eos_token_id"))
    )


def generate(
    model: Any,
    params: Any,
    prompt: Any,
    grammars: CompiledGrammar | Sequence[CompiledGrammar],
    /,
    *,
    max_new_tokens: int,
    within_limit: bool = True,
    end_tokens: Sequence[int] | None = None,
) -> list[list[int]]:
    """Generates greedily or by sampling, as `params` define, and returns the new tokens of each sequence.

    `prompt` is an argument of `append_tokens`. There is one grammar for all sequences of the batch, or one for each.
    Outputs are complete within `max_new_tokens`; with `within_limit=False`, they may be cut there. Before the model
    runs, raises RejectedError if no complete text fits, and UsageError for a search with beams, another number of
    grammars, or a `max_length` of less than the prompt and `max_new_tokens`.
    """
    numpy: Any = importlib.import_module("numpy")
    host: Any = importlib.import_module("onnxruntime_genai")
    search = params.get_search_options()
    if int(search["num_beams"]) != 1:
        raise usage_error(
            "genai/beams",
            "beams are not supported: they change places, which the loop is not told",
            found=f"num_beams={int(search['num_beams'])}",
            allowed="greedy search and sampling",
            help="use set_search_options(num_beams=1)",
        )
    batch = int(search["batch_size"])
    chosen = [grammars] * batch if isinstance(grammars, CompiledGrammar) else list(grammars)
    if len(chosen) != batch:
        raise usage_error(
            "python/rows",
            "the grammars do not fit the batch",
            found=f"{len(chosen)} grammars for {batch} sequences",
            allowed="one grammar for all, or one for each sequence of the batch",
            help="set batch_size with set_search_options",
        )
    matchers = [grammar.matcher(end_tokens=end_tokens) for grammar in chosen]
    if within_limit:
        for matcher in matchers:
            matcher.check_budget(max_new_tokens)
    generator = host.Generator(model, params)
    shape = getattr(prompt, "shape", None)
    length = shape()[-1] if callable(shape) else numpy.asarray(prompt).shape[-1]
    if length + max_new_tokens > int(search["max_length"]):
        raise usage_error(
            "genai/max-length",
            "the search ends before the limit of tokens",
            found=f"max_length={int(search['max_length'])} with a prompt of {length} tokens",
            allowed=f"{length + max_new_tokens} or more",
            help="raise it with set_search_options(max_length=…)",
        )
    generator.append_tokens(prompt)
    return _loop(numpy, generator, matchers, max_new_tokens, within_limit)


def _loop(numpy: Any, generator: Any, matchers: list[Matcher], limit: int, within_limit: bool) -> list[list[int]]:
    """Repeats mask, choice of a token and step of each matcher, until all texts have ended or the limit is reached."""
    texts: list[list[int]] = [[] for _ in matchers]
    ended = [False] * len(matchers)
    masks = numpy.zeros((len(matchers), matchers[0].compiled.vocabulary.mask_words), numpy.int32)
    for step in range(limit):
        if all(ended) or generator.is_done():
            break
        logits = numpy.ascontiguousarray(generator.get_logits(), dtype=numpy.float32)
        table = logits.reshape(len(matchers), -1, logits.shape[-1])
        for row, matcher in enumerate(matchers):
            if not ended[row]:
                if within_limit:
                    matcher.fill_mask_within(limit - step, masks[row])
                else:
                    matcher.fill_mask(masks[row])
                _mask(table[row, -1], masks[row])
        generator.set_logits(logits)
        generator.generate_next_token()
        for row, token in enumerate(generator.get_next_tokens()):
            if not ended[row]:
                matchers[row].accept_token(int(token))
                texts[row].append(int(token))
                ended[row] = matchers[row].is_finished() and not matchers[row].mask()
    return texts


def _mask(logits: Any, mask: Any) -> None:
    covered = min(len(logits), 32 * len(mask))
    mask_logits(logits[:covered], mask[: -(-covered // 32)])
    logits[covered:] = -float("inf")
