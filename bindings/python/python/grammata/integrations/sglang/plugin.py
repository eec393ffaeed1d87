"""Registration: the backend's name, and hooks for what SGLang does only for its built-in backends."""

from __future__ import annotations

import importlib
import logging
import os
from typing import Any

from grammata._errors import GrammataError, RejectedError
from grammata._native import __version__
from grammata.integrations.serving import versions
from grammata.integrations.sglang.backend import GrammataBackend
from grammata.integrations.sglang.grammar import GrammataGrammar
from grammata.integrations.sglang.settings import Settings

logger = logging.getLogger("sglang.grammata")

TESTED = ("0.5.23",)
"""The versions of SGLang with which this backend is tested."""

_BASE = "sglang.srt.constrained.base_grammar_backend"
_REASONER = "sglang.srt.constrained.reasoner_grammar_backend"
_MANAGER = "sglang.srt.constrained.grammar_manager.GrammarManager"

_registered: list[str] = []


def register(name: str) -> None:
    """Registers the backend and its hooks, once."""
    if name in _registered:
        return
    _registered.append(name)
    base: Any = importlib.import_module(_BASE)
    arguments: Any = importlib.import_module("sglang.srt.server_args")
    hooks: Any = importlib.import_module("sglang.srt.plugins.hook_registry")
    base.register_grammar_backend(name, make_backend)
    choices: Any = importlib.import_module("sglang.srt.arg_groups.choices")
    if name not in choices.GRAMMAR_BACKEND_CHOICES:
        arguments.add_grammar_backend_choices([name])
    around, after = hooks.HookType.AROUND, hooks.HookType.AFTER
    hooks.HookRegistry.register(f"{_BASE}.create_grammar_backend", with_reasoning, around)
    hooks.HookRegistry.register(f"{_MANAGER}._apply_request_reasoning_config", give_budget, after)
    hooks.HookRegistry.register("sglang.srt.speculative.spec_utils.traverse_tree", traverse_tree, around)


def make_backend(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any = None) -> GrammataBackend:
    """Creates the backend. SGLang's registry calls it for `--grammar-backend grammata`.

    Raises UsageError for an invalid environment variable, and SGLang then ends.
    """
    settings = Settings.from_environment(os.environ)
    serving = importlib.import_module("sglang.srt.runtime_context").get_serving()
    version = str(importlib.import_module("sglang.version").__version__)
    backend = GrammataBackend(
        tokenizer,
        vocab_size,
        eos_token_ids,
        any_whitespace=not serving.constrained_json_disable_any_whitespace,
        max_whitespace_cnt=serving.constrained_json_max_whitespace_cnt,
        settings=settings,
    )
    backend.metrics.info("sglang", version, __version__)
    logger.info("%s: Grammata is the grammar backend", versions.line("SGLang", version))
    if not versions.is_tested(version, TESTED):
        logger.warning("Grammata was tested with SGLang %s, and not with %s", " and ".join(TESTED), version)
    return backend


def with_reasoning(
    original: Any,
    server_args: Any,
    tokenizer: Any,
    vocab_size: int,
    eos_token_ids: Any = None,
    think_end_ids: Any = None,
) -> Any:
    """Wraps the backend for reasoning models. `create_grammar_backend` does that only for built-in backends."""
    backend = original(server_args, tokenizer, vocab_size, eos_token_ids, think_end_ids)
    serving = importlib.import_module("sglang.srt.runtime_context").get_serving()
    if not isinstance(backend, GrammataBackend) or not serving.reasoning_parser or not think_end_ids:
        return backend
    reasoner: Any = importlib.import_module(_REASONER)
    parser: Any = importlib.import_module("sglang.srt.parser.reasoning_parser")
    return reasoner.ReasonerGrammarBackend(
        backend,
        parser.ReasoningParser(model_type=serving.reasoning_parser, stream_reasoning=False, tokenizer=tokenizer),
        tokenizer,
        enable_strict_thinking=serving.enable_strict_thinking,
    )


def parts(grammar: Any) -> tuple[Any, Any]:
    """The wrapper for reasoning around a grammar, and the grammar itself; each is None if it is not there or not
    ours."""
    reasoner: Any = importlib.import_module(_REASONER)
    wrapper = grammar if isinstance(grammar, reasoner.ReasonerGrammarObject) else None
    inner = grammar if wrapper is None else wrapper.grammar
    return wrapper, inner if isinstance(inner, GrammataGrammar) else None


def give_budget(result: Any, manager: Any, req: Any) -> None:
    """Called when a request has its grammar. Makes the output complete within `max_new_tokens`.

    If no complete text fits and budgets are strict, the request is aborted.
    """
    wrapper, grammar = parts(req.grammar)
    limit = req.sampling_params.max_new_tokens
    if grammar is None or limit is None or grammar.budget_mode == "off":
        return
    if wrapper is None or not wrapper._is_thinking() or wrapper.reasoning_in_grammar:
        try:
            grammar.matcher.check_budget(limit)
        except GrammataError as error:
            if grammar.budget_mode == "strict" or not isinstance(error, RejectedError):
                grammar.metrics.refused(error.code)
                req.set_finish_with_abort(str(error))
            else:
                logger.warning("request %s will be cut by max_new_tokens: %s", req.rid, error)
                grammar.metrics.cut()
            return
        grammar.set_budget(limit)
        return
    # the budget includes tokens of reasoning; if SGLang can end the reasoning, it leaves enough tokens for the shortest
    # answer
    grammar.set_budget(limit, lambda: len(wrapper._thinking_match_history), is_certain=False)
    least = grammar.matcher.distance().known
    if wrapper.enable_token_filter and least is not None:
        most = max(limit - least - len(wrapper.think_end_ids), 0)
        wrapper.max_think_tokens = most if wrapper.max_think_tokens < 0 else min(wrapper.max_think_tokens, most)


def traverse_tree(
    original: Any,
    retrieve_next_token: Any,
    retrieve_next_sibling: Any,
    draft_tokens: Any,
    grammar: Any,
    allocate_token_bitmask: Any,
    vocab_size: int | None = None,
) -> None:
    """Fills the masks of a tree of draft tokens in one call, if all its tokens belong to a grammar of this package.

    Otherwise it calls SGLang's function.
    """
    wrapper, inner = parts(grammar)
    tokens = draft_tokens.tolist()
    answering = wrapper is None or (wrapper._is_generation() and not wrapper.reasoning_in_grammar)
    if inner is None or not answering or max(tokens, default=0) >= (vocab_size or inner.vocab_size):
        original(
            retrieve_next_token, retrieve_next_sibling, draft_tokens, grammar, allocate_token_bitmask, vocab_size=vocab_size
        )  # fmt: skip
        return
    inner.fill_tree(retrieve_next_token.tolist(), retrieve_next_sibling.tolist(), tokens, allocate_token_bitmask)
