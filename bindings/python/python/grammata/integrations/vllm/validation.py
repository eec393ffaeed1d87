"""Checks of requests in vLLM's front end, before they reach the engine."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from grammata._errors import GrammataError
from grammata.integrations.serving.grammars import Refusals
from grammata.integrations.serving.metrics import Metrics
from grammata.integrations.vllm.request import Options, source_of
from grammata.integrations.vllm.settings import Settings


def validator(settings: Settings, metrics: Metrics) -> Callable[..., None]:
    """The function that vLLM calls with the parameters of each request.

    It reads the request's constraint. If that fails, it raises vLLM's VLLMValidationError with the diagnostic as its
    text, and vLLM refuses the request.
    """
    served = Options(settings.whitespace, "refused" if settings.closes_objects else "allowed", settings.limits)

    def validate(sampling_params: Any, tokenizer: Any = None) -> None:
        params = sampling_params.structured_outputs
        if params is None:
            return
        key: Any = importlib.import_module("vllm.v1.structured_output.request").get_structured_output_key
        try:
            with Refusals(metrics):
                kind, spec = key(params)
                source_of(kind.name, spec, served.with_request(params)).check()
        except (GrammataError, ValueError, TypeError) as error:
            refused: Any = importlib.import_module("vllm.exceptions").VLLMValidationError
            raise refused(str(error)) from error

    return validate


def nothing_unsupported(schema: Any) -> bool:
    """Whether a schema has a keyword that the back end does not support. vLLM calls it to choose a back end."""
    return False
