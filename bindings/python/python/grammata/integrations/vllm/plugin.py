"""Replaces one of vLLM's back ends with the classes of this package."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import logging
import os
from collections.abc import Callable
from typing import Any

from grammata._errors import UsageError
from grammata.integrations.vllm.backend import Backend, current
from grammata.integrations.vllm.grammar import Grammar
from grammata.integrations.vllm.settings import Settings
from grammata.integrations.vllm.validation import nothing_unsupported, validator

logger = logging.getLogger("vllm.grammata")

_MANAGER = "vllm.v1.structured_output"
_MARK = "_grammata_original"

def register() -> None:
    """Replaces a back end of vLLM in this process, as the environment variables define.

    If vLLM is not installed or lacks what is to be replaced, or a setting is invalid, it writes one line to the log and
    changes nothing. A second call with the same settings has no further effect.
    """
    try:
        settings = Settings.from_environment(os.environ)
        if settings.name == "off":
            return
        changes = changes_for(settings)
    except UsageError as error:
        logger.error("Grammata is not used: %s", " ".join(str(error).split()))
        return
    except (ImportError, AttributeError, TypeError) as error:
        logger.error("Grammata is not used: this vLLM cannot be extended: %s", " ".join(str(error).split()))
        return
    for owner, name, value in changes:
        setattr(owner, name, value)
    logger.info("Grammata replaces the structured outputs back end `%s`", settings.name)


def changes_for(settings: Settings) -> list[tuple[Any, str, Any]]:
    """The attributes to set: object, name, value. Raises ImportError or AttributeError if one does not exist in
    vLLM."""
    name, title = ("xgrammar", "Xgrammar") if settings.name == "xgrammar" else ("guidance", "Guidance")
    manager, module = importlib.import_module(_MANAGER), importlib.import_module(f"{_MANAGER}.backend_{name}")
    backend = Backend.with_settings(settings)
    changes: list[tuple[Any, str, Any]] = [
        (manager, f"{title}Backend", backend),
        (module, f"{title}Backend", backend),
        (module, f"validate_{name}_grammar", validator(settings)),
        (module, f"has_{name}_unsupported_json_features", nothing_unsupported),
    ]
    for owner, attribute, _ in changes:
        getattr(owner, attribute)
    importlib.import_module(f"{_MANAGER}.request").get_structured_output_key  # noqa: B018
    types = importlib.import_module(f"{_MANAGER}.backend_types")
    types.StructuredOutputBackend.register(Backend)
    types.StructuredOutputGrammar.register(Grammar)
    requests = manager.StructuredOutputManager
    changes.append((requests, "_create_grammar", _wrapped(requests, "_create_grammar", _creates)))
    changes.append((requests, "accept_tokens", _wrapped(requests, "accept_tokens", _accepts)))
    name = "_get_constraint_bounds"
    changes.append((requests, name, _wrapped(requests, name, _bounds)))
    if settings.name == "auto":
        params = importlib.import_module("vllm.sampling_params").SamplingParams
        name = "_validate_structured_outputs"
        changes.append((params, name, _wrapped(params, name, _validates)))
    return changes


def _wrapped(owner: Any, name: str, wrapper: Callable[[Any], Any]) -> Any:
    """The wrapped method of vLLM. A method that is already wrapped is returned as it is. Raises AttributeError."""
    found = getattr(owner, name)
    if hasattr(found, _MARK):
        return found
    made = functools.wraps(found)(wrapper(found))
    setattr(made, _MARK, found)
    return made


def _creates(original: Any) -> Any:
    """Gives the back end access to the request, for its options and `max_tokens`."""

    def create(self: Any, request: Any) -> Any:
        current.request = request
        try:
            return original(self, request)
        finally:
            current.request = None

    return create


def _accepts(original: Any) -> Any:
    """Records in the grammar that the tokens that it accepted are in the output."""

    def accept(self: Any, request: Any, new_token_ids: Any) -> Any:
        accepted = original(self, request, new_token_ids)
        grammar = _grammar_of(request)
        if grammar is not None:
            grammar.commit()
        return accepted

    return accept


def _bounds(original: Any) -> Any:
    """Records in the grammar how many tokens of a draft are reasoning."""

    def bounds(self: Any, request: Any, spec_tokens: Any, spec_tokens_committed: bool = False) -> Any:
        found = original(self, request, spec_tokens, spec_tokens_committed)
        grammar = None if spec_tokens_committed else _grammar_of(request)
        if grammar is not None:
            grammar.skip(found[0])
        return found

    return bounds


def _grammar_of(request: Any) -> Grammar | None:
    grammar = getattr(getattr(request, "structured_output_request", None), "grammar", None)
    return grammar if isinstance(grammar, Grammar) else None


def _validates(original: Any) -> Any:
    """Sends the requests for which vLLM chooses the back end to this one."""

    def validate_structured_outputs(self: Any, model_config: Any, structured_outputs_config: Any, tokenizer: Any) -> Any:
        config, params = structured_outputs_config, self.structured_outputs
        if config is None or params is None or config.backend != "auto":
            return original(self, model_config, config, tokenizer)
        if params._backend_was_auto:
            params._backend = "guidance"
        result = original(self, model_config, dataclasses.replace(config, backend="guidance"), tokenizer)
        params._backend_was_auto = True
        return result

    return validate_structured_outputs
