"""Putting the classes of this package into the place of one of vLLM's back ends."""

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
from grammata.integrations.vllm.validation import nothing_unsupported, validate

logger = logging.getLogger("vllm.grammata")

_MANAGER = "vllm.v1.structured_output"
_MARK = "_grammata_original"

_PLACES = {
    "guidance": (
        ("GuidanceBackend", Backend, (_MANAGER, f"{_MANAGER}.backend_guidance")),
        ("validate_guidance_grammar", validate, (f"{_MANAGER}.backend_guidance",)),
        ("has_guidance_unsupported_json_features", nothing_unsupported, (f"{_MANAGER}.backend_guidance",)),
    ),
    "xgrammar": (
        ("XgrammarBackend", Backend, (_MANAGER, f"{_MANAGER}.backend_xgrammar")),
        ("validate_xgrammar_grammar", validate, (f"{_MANAGER}.backend_xgrammar",)),
        ("has_xgrammar_unsupported_json_features", nothing_unsupported, (f"{_MANAGER}.backend_xgrammar",)),
    ),
}
"""For each back end the attributes that are replaced, what replaces them, and the modules that have them."""


def register() -> None:
    """Replaces a back end of vLLM in this process, as the environment says.

    If vLLM is missing or has another shape, or a setting is invalid, one line of the log says so, and nothing is changed. A second call
    does nothing.
    """
    try:
        settings = Settings.from_environment(os.environ)
        if settings.name == "off":
            return
        changes = _changes(settings)
    except UsageError as error:
        logger.error("Grammata is not used: %s", " ".join(str(error).split()))
        return
    except (ImportError, AttributeError, TypeError) as error:
        logger.error("Grammata is not used: this vLLM cannot be extended: %s", " ".join(str(error).split()))
        return
    Backend.settings = settings
    for owner, name, value in changes:
        setattr(owner, name, value)
    logger.info("Grammata replaces the structured outputs back end `%s`", settings.name)


def _changes(settings: Settings) -> list[tuple[Any, str, Any]]:
    """What is set: objects, names of attributes, and values. Raises ImportError or AttributeError if one of them is not there."""
    changes: list[tuple[Any, str, Any]] = []
    for name, value, modules in _PLACES["xgrammar" if settings.name == "xgrammar" else "guidance"]:
        for module in map(importlib.import_module, modules):
            getattr(module, name)
            changes.append((module, name, value))
    importlib.import_module(f"{_MANAGER}.request").get_structured_output_key  # noqa: B018
    types = importlib.import_module(f"{_MANAGER}.backend_types")
    types.StructuredOutputBackend.register(Backend)
    types.StructuredOutputGrammar.register(Grammar)
    manager = importlib.import_module(_MANAGER).StructuredOutputManager
    changes.append((manager, "_create_grammar", _wrapped(manager, "_create_grammar", _creates)))
    changes.append((manager, "accept_tokens", _wrapped(manager, "accept_tokens", _accepts)))
    if settings.name == "auto":
        params = importlib.import_module("vllm.sampling_params").SamplingParams
        name = "_validate_structured_outputs"
        changes.append((params, name, _wrapped(params, name, _validates)))
    return changes


def _wrapped(owner: Any, name: str, wrapper: Callable[[Any], Any]) -> Any:
    """A method that calls the host's; once wrapped it stays as it is. Raises AttributeError."""
    found = getattr(owner, name)
    if hasattr(found, _MARK):
        return found
    made = functools.wraps(found)(wrapper(found))
    setattr(made, _MARK, found)
    return made


def _creates(original: Any) -> Any:
    """Lets the back end see the request: its options and `max_tokens`."""

    def create(self: Any, request: Any) -> Any:
        current.request = request
        try:
            return original(self, request)
        finally:
            current.request = None

    return create


def _accepts(original: Any) -> Any:
    """Tells a grammar that the tokens it was moved over are in the output."""

    def accept(self: Any, request: Any, new_token_ids: Any) -> Any:
        accepted = original(self, request, new_token_ids)
        grammar = getattr(getattr(request, "structured_output_request", None), "grammar", None)
        if isinstance(grammar, Grammar):
            grammar.commit()
        return accepted

    return accept


def _validates(original: Any) -> Any:
    """Sends what is left to vLLM's choice to this back end."""

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
