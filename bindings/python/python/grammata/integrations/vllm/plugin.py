"""Replaces one of vLLM's back ends with the classes of this package."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import logging
import os
from collections.abc import Callable
from typing import Any

from grammata._errors import UsageError, usage_error
from grammata._native import __version__
from grammata.integrations.serving import metrics, versions
from grammata.integrations.vllm.backend import Backend, current
from grammata.integrations.vllm.grammar import Grammar
from grammata.integrations.vllm.settings import PREFIX, Settings, is_required
from grammata.integrations.vllm.validation import nothing_unsupported, validator

logger = logging.getLogger("vllm.grammata")

TESTED = ("0.32.0", "0.31.0")
"""The versions of vLLM with which this plug-in is tested."""

_MANAGER = "vllm.v1.structured_output"
_MARK = "_grammata_original"
_STARTS = ("_get_constraint_bounds", "_get_constraint_start")
"""Names of the method that returns where in a draft the grammar starts."""


def register() -> None:
    """Replaces a back end of vLLM in this process, as the environment variables define.

    If vLLM is not installed or lacks what is to be replaced, or a setting is invalid, nothing changes: it writes one
    line to the log, or, if Grammata is required, raises UsageError. vLLM then ends the process. A second call with the
    same settings has no further effect.
    """
    try:
        settings = Settings.from_environment(os.environ)
        if settings.name == "off":
            return
        version, changes = _version(), changes_for(settings)
    except UsageError as error:
        _unusable(error)
        return
    except (ImportError, AttributeError, TypeError) as error:
        _unusable(
            usage_error(
                "vllm/version",
                "this vLLM cannot be extended",
                found=f"{type(error).__name__}: {error}",
                allowed=f"vLLM {' or '.join(TESTED)}",
                help=f"install one of these versions, or set {PREFIX}=off",
            )
        )
        return
    for owner, name, value in changes:
        setattr(owner, name, value)
    metrics.of_process(logger).info("vllm", version, __version__)
    logger.info("%s: Grammata replaces the structured outputs back end `%s`", versions.line("vLLM", version), settings.name)
    if not versions.is_tested(version, TESTED):
        logger.warning("Grammata was tested with vLLM %s, and not with %s", " and ".join(TESTED), version)


def _unusable(error: Exception) -> None:
    """Reports that Grammata cannot be used: raises the error if Grammata is required, or else logs it as one line."""
    if is_required(os.environ):
        raise error
    logger.error("Grammata is not used: %s", " ".join(str(error).split()))


def _version() -> str:
    return str(importlib.import_module("vllm").__version__)


def changes_for(settings: Settings) -> list[tuple[Any, str, Any]]:
    """The attributes to set: object, name, value. Raises ImportError or AttributeError if one does not exist in
    vLLM."""
    name, title = ("xgrammar", "Xgrammar") if settings.name == "xgrammar" else ("guidance", "Guidance")
    manager, module = importlib.import_module(_MANAGER), importlib.import_module(f"{_MANAGER}.backend_{name}")
    backend = Backend.with_settings(settings)
    changes: list[tuple[Any, str, Any]] = [
        (manager, f"{title}Backend", backend),
        (module, f"{title}Backend", backend),
        (module, f"validate_{name}_grammar", validator(settings, metrics.of_process(logger))),
        (module, f"has_{name}_unsupported_json_features", nothing_unsupported),
    ]
    for owner, attribute, _ in changes:
        getattr(owner, attribute)
    importlib.import_module(f"{_MANAGER}.request").get_structured_output_key  # noqa: B018
    types = importlib.import_module(f"{_MANAGER}.backend_types")
    types.StructuredOutputBackend.register(Backend)
    types.StructuredOutputGrammar.register(Grammar)
    requests = manager.StructuredOutputManager
    changes.append((requests, "__init__", _wrapped(requests, "__init__", _starts(settings, backend))))
    changes.append((requests, "_create_grammar", _wrapped(requests, "_create_grammar", _creates)))
    changes.append((requests, "accept_tokens", _wrapped(requests, "accept_tokens", _accepts)))
    # vLLM 0.31 has the second name
    name = next((name for name in _STARTS if hasattr(requests, name)), _STARTS[0])
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


def _starts(settings: Settings, backend: type[Backend]) -> Callable[[Any], Any]:
    """Creates the back end when the engine starts, so that errors show then and the first request does not wait."""

    def wrapper(original: Any) -> Any:
        def start(self: Any, vllm_config: Any) -> None:
            original(self, vllm_config)
            if getattr(self, "tokenizer", None) is None:
                return
            try:
                _check_selected(settings, vllm_config.structured_outputs_config.backend)
                self.backend = backend(vllm_config, self.tokenizer, vllm_config.model_config.get_vocab_size())
            except Exception as error:
                # whatever it is, it must not end a server that can do without this package
                _unusable(error)

        return start

    return wrapper


def _check_selected(settings: Settings, selected: str) -> None:
    """Raises UsageError if the server's configuration selects another back end than the one that is replaced."""
    allowed = ("auto", "guidance") if settings.name == "auto" else (settings.name,)
    if selected not in allowed:
        option = "--structured-outputs-config.backend"
        raise usage_error(
            "vllm/backend",
            "the server does not select the back end that Grammata replaces",
            found=f"{option} {selected}",
            allowed=" or ".join(f"{option} {name}" for name in allowed),
            help=f"start vLLM with this option, or set {PREFIX}",
        )


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
            grammar.skip(found[0] if isinstance(found, tuple) else found)
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
