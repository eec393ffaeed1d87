"""Grammars for generators of Outlines with models of `transformers`.

Outlines is imported only when it is used.

    person = processor(model, Person, budget=100)
    text = outlines.Generator(model, processor=person)(prompt, max_new_tokens=100)

The output types are those of Outlines: Pydantic models, `Literal`, `int`, `outlines.regex(…)`, `outlines.cfg(…)` and the
others.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from grammata._errors import usage_error
from grammata._native import CompiledGrammar, Compiler
from grammata.integrations.transformers import GrammarLogitsProcessor, compiler_for

__all__ = ["processor"]

_GBNF = re.compile(r"^[ \t]*[A-Za-z_][\w-]*\s*::=", re.MULTILINE)
"""Found in each grammar in GBNF: the beginning of a rule. No line of a grammar in Lark begins like that."""


def processor(
    model: Any, output_type: Any, *, budget: int | None = None, compiler: Compiler | None = None
) -> GrammarLogitsProcessor:
    """Returns the argument `processor` of `outlines.Generator` for an output type of Outlines.

    With `budget`, each output is complete within this number of tokens: give the same number as `max_new_tokens` of the
    call. `compiler` is `grammata.integrations.transformers.compiler_for(model.model, model.hf_tokenizer)`, which
    several types may share; by default it is made for this call. `outlines.cfg` takes Lark or GBNF. JSON has
    the white space of `compile_json_schema`, or the type's `whitespace_pattern`.

    Raises UsageError for a model that is not one of `outlines.from_transformers`; GrammarError for a type that cannot be
    compiled; RejectedError if no complete text is known within the budget.
    """
    if not hasattr(model, "hf_tokenizer"):
        raise usage_error(
            "python/outlines-model",
            "the model of Outlines is not one of transformers",
            found=type(model).__name__,
            allowed="a model of `outlines.from_transformers`",
            help="with other models use their own integration, see docs/hosts.md",
        )
    compiler = compiler or compiler_for(model.model, model.hf_tokenizer)
    return GrammarLogitsProcessor(_compiled(compiler, output_type), budget=budget)


def _compiled(compiler: Compiler, output_type: Any) -> CompiledGrammar:
    terms: Any = importlib.import_module("outlines.types.dsl")
    term = terms.python_types_to_terms(output_type)
    if isinstance(term, terms.JsonSchema):
        pattern = term.whitespace_pattern
        return compiler.compile_json_schema(term.schema, whitespace="short" if pattern is None else f"pattern={pattern}")
    if isinstance(term, terms.CFG):
        text = term.definition
        return compiler.compile_gbnf(text) if _GBNF.search(text) else compiler.compile_lark(text)
    return compiler.compile_regex(terms.to_regex(term))
