"""Tests on SGLang's own `srt.constrained`, run by `cargo xtask full sglang`; the server itself does not run without a GPU.

`GRAMMATA_SMOLLM2` is a folder with SmolLM2's tokenizer.
"""

import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import transformers
from grammata.integrations import sglang as plugin

plugin.register()

from sglang.srt.constrained.grammar_manager import GrammarManager  # noqa: E402
from sglang.srt.plugins.hook_registry import HookRegistry  # noqa: E402
from sglang.srt.runtime_context import get_context, get_parallel  # noqa: E402

HookRegistry.apply_hooks()

WIDTH = 49152


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return transformers.AutoTokenizer.from_pretrained(os.environ["GRAMMATA_SMOLLM2"])


@pytest.fixture(scope="session")
def backend(tokenizer: Any) -> Any:
    from grammata.integrations.sglang.backend import GrammataBackend

    return GrammataBackend(tokenizer, WIDTH, {tokenizer.eos_token_id})


@pytest.fixture
def configured() -> Iterator[Callable[..., None]]:
    """Publishes a configuration of the server for one test."""
    installed: list[Any] = []

    def publish(**options: Any) -> None:
        override = get_context().override_server_args(grammar_backend="grammata", **options)
        override.install()
        installed.append(override)

    yield publish
    for override in installed:
        override.restore()


@pytest.fixture
def manager(configured: Any, tokenizer: Any) -> Callable[..., Any]:
    """Makes SGLang's `GrammarManager` under a stand-in for its scheduler."""

    def make(think_end_ids: list[int] | None = None, **options: Any) -> Any:
        configured(**options)
        group = SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
        model = SimpleNamespace(
            vocab_size=WIDTH, hf_eos_token_id={tokenizer.eos_token_id}, think_end_ids=think_end_ids,
            request_selectable_think_end_id_sequences=None,
        )  # fmt: skip
        scheduler = SimpleNamespace(
            server_args=None, tokenizer=tokenizer, model_config=model, dp_tp_cpu_group=None, dp_tp_group=group, pp_group=None
        )
        with get_parallel().override(pp_rank=0):
            return GrammarManager(scheduler)

    return make


class Request(SimpleNamespace):
    """A stand-in for a request of the scheduler."""

    def __init__(self, limit: int | None = 64, reasoning: bool = False, **grammar: Any) -> None:
        fields = {"json_schema": None, "regex": None, "ebnf": None, "structural_tag": None, "ebnf_full_assistant": False}
        params = SimpleNamespace(max_new_tokens=limit, custom_params=None, **(fields | grammar))
        super().__init__(
            sampling_params=params, require_reasoning=reasoning, origin_input_ids=[1], grammar=None, grammar_key=None,
            grammar_wait_ct=0, rid="r", aborted=None, output_ids=[],
        )  # fmt: skip

    def set_finish_with_abort(self, message: str) -> None:
        self.aborted = message

    def finished(self) -> bool:
        return self.aborted is not None


def ready(manager: Any, request: Request) -> Request:
    """The request with its grammar, as the scheduler takes it through the queue."""
    if manager.process_req_with_grammar(request):
        for _ in range(200):
            if manager.get_ready_grammar_requests():
                break
    return request


def ids(tokenizer: Any, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def allowed(grammar: Any) -> set[int]:
    """The tokens that the grammar's mask allows."""
    mask = grammar.allocate_vocab_mask(WIDTH, 3, "cpu")
    before = mask.clone()
    grammar.fill_vocab_mask(mask, 1)
    assert (mask[0] == before[0]).all() and (mask[2] == before[2]).all()
    words = mask[1].tolist()
    return {32 * place + bit for place, word in enumerate(words) if word for bit in range(32) if word >> bit & 1}
