"""Helpers for `generate`: a compiler for a model, and a call whose output is complete within `max_new_tokens`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grammata._errors import UsageError, usage_error
from grammata._native import CompiledGrammar, Compiler, Vocabulary
from grammata.integrations.transformers.processor import GrammarLogitsProcessor

__all__ = ["compiler_for", "generate"]

ASSISTED = ("assistant_model", "prompt_lookup_num_tokens", "assistant_early_exit", "custom_generate")
"""Options with which `generate` may try tokens and undo them."""


def compiler_for(model: Any, tokenizer: Any) -> Compiler:
    """A compiler for a model and its tokenizer. Masks have the width of the model's logits. Texts end with the tokens
    that end them in `generate` (`model.generation_config.eos_token_id`), or with the tokenizer's if there are none."""
    eos = _ids(getattr(model.generation_config, "eos_token_id", None))
    width = model.get_output_embeddings().weight.shape[0]
    return Compiler(Vocabulary.from_transformers(tokenizer, width=width, eos=eos))


def generate(
    model: Any,
    grammars: CompiledGrammar | Sequence[CompiledGrammar],
    /,
    *inputs: Any,
    within_limit: bool = True,
    **options: Any,
) -> Any:
    """Calls `model.generate(*inputs, **options)` with a grammar for all sequences, or one for each sequence of the
    batch.

    The output is complete within `max_new_tokens`, which is an option or a value of the generation config; with
    `within_limit=False`, it may be cut there. Before the model runs, raises RejectedError if no complete text fits,
    with the smallest number of tokens that is enough. Raises UsageError without `max_new_tokens`, unless `within_limit`
    is false, and for assisted generation, which undoes tokens without a call of the logits processor.
    """
    config = options.get("generation_config") or model.generation_config
    for name in ASSISTED:
        if options.get(name, getattr(config, name, None)) is not None:
            raise _unsupported(name)
    limit = options.get("max_new_tokens", config.max_new_tokens)
    if within_limit and limit is None:
        raise usage_error(
            "python/no-limit",
            "the output has no limit to be complete within",
            found="neither the option nor the generation config has `max_new_tokens`",
            allowed="a number of tokens",
            help="give max_new_tokens=…, or within_limit=False",
        )
    processor = GrammarLogitsProcessor(
        grammars,
        budget=limit if within_limit else None,
        end_tokens=_ids(options.get("eos_token_id", config.eos_token_id)),
    )
    processors = [*(options.pop("logits_processor", None) or []), processor]
    return model.generate(*inputs, logits_processor=processors, **options)


def _unsupported(name: str) -> UsageError:
    return usage_error(
        "python/assisted-generation",
        "assisted generation is not supported",
        found=f"`{name}`",
        allowed="greedy search, sampling and beam search",
        help=f"leave out `{name}`",
    )


def _ids(eos: Any) -> list[int] | None:
    if eos is None:
        return None
    ids = eos.tolist() if hasattr(eos, "tolist") else eos
    return [ids] if isinstance(ids, int) else [int(token) for token in ids]
