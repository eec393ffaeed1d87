"""The logits processor for llama-cpp-python, with a replacement for the host: its functions of the vocabulary, and a
loop that passes the same arguments and ignores exceptions too. `cargo xtask full llama-cpp` tests the real host."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Iterator
from typing import Any

import grammata
import numpy as np
import pytest
from grammata.integrations import llama_cpp as constrained

END, TURN, TOOL, WIDTH = 256, 257, 258, 260
PIECES = [bytes([byte]) for byte in range(256)]
SCHEMA = {"type": "object", "required": ["name"], "additionalProperties": False, "properties": {"name": {"type": "string"}}}


class LogitsProcessorList(list[Any]):
    pass


def token_to_piece(vocab: object, token: int, buffer: Any, size: int, lstrip: int, special: bool) -> int:
    assert (vocab, lstrip, special) == ("vocab", 0, False)
    piece = b"long " * 20 if token == 259 else PIECES[token] if token < 256 else b""
    if len(piece) > size:
        return -len(piece)
    buffer[: len(piece)] = piece
    return len(piece)


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("llama_cpp")
    module.LogitsProcessorList = LogitsProcessorList  # type: ignore[attr-defined]
    module.llama_token_to_piece = token_to_piece  # type: ignore[attr-defined]
    names = {END: b"<|end|>", TURN: b"<|end|>", TOOL: b"", 0: b"<0x00>"}
    module.llama_vocab_get_text = lambda vocab, token: names.get(token, b"")  # type: ignore[attr-defined]
    module.llama_vocab_is_eog = lambda vocab, token: token in (END, TURN)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "llama_cpp", module)


class Llama:
    """A model that would never stop: it prefers blanks, letters and open strings."""

    def __init__(self, context: int = 1000, draft_model: object = None) -> None:
        self._model = types.SimpleNamespace(vocab="vocab")
        self._context, self.draft_model = context, draft_model
        self.ignored: list[Exception] = []

    def n_vocab(self) -> int:
        return WIDTH

    def n_ctx(self) -> int:
        return self._context

    def create_completion(self, prompt: list[int], *, max_tokens: int | None, logits_processor: Any, stream: bool = False) -> Any:
        room = self._context - len(prompt)
        limit = room if max_tokens is None or max_tokens <= 0 else min(max_tokens, room)
        pieces = self._generate(list(prompt), limit, logits_processor)
        return pieces if stream else b"".join(pieces)

    def _generate(self, ids: list[int], limit: int, processors: Any) -> Iterator[bytes]:
        for _ in range(limit):
            # members of structs, so that the scores are not contiguous
            candidates = np.zeros(WIDTH, dtype=[("id", np.intc), ("logit", np.single), ("p", np.single)])
            candidates["logit"] = np.random.default_rng(ids).normal(size=WIDTH)
            candidates["logit"][[*range(97, 123)]] += 9
            try:
                for processor in processors:
                    candidates["logit"][:] = processor(np.array(ids, dtype=np.intc), candidates["logit"])
            except Exception as error:  # noqa: BLE001
                self.ignored.append(error)
            token = int(candidates["logit"].argmax())
            if token in (END, TURN):
                return
            ids.append(token)
            yield PIECES[token]


def compiled(schema: object = SCHEMA) -> grammata.CompiledGrammar:
    return grammata.Compiler(constrained.vocabulary(Llama())).compile_json_schema(schema, whitespace="short")


def test_the_vocabulary_is_the_models() -> None:
    vocabulary = constrained.vocabulary(Llama())
    assert (vocabulary.width, vocabulary.eos) == (WIDTH, [END, TURN])
    assert vocabulary.specials == {"<|end|>": END, f"<|end|><[{TURN}]>": TURN, f"<[{TOOL}]>": TOOL}
    assert vocabulary.bytes(65) == b"A" and vocabulary.bytes(259) == b"long " * 20 and vocabulary.bytes(0) == b"\0"


@pytest.mark.parametrize("max_tokens", [13, 14, 20, 60])
def test_outputs_are_complete_within_max_tokens(max_tokens: int) -> None:
    llm = Llama()
    text = constrained.create_completion(llm, compiled(), [1, 2, 3], max_tokens=max_tokens)
    assert set(json.loads(text)) == {"name"} and len(text) <= max_tokens and not llm.ignored


def test_what_is_left_of_the_context_is_the_budget_without_max_tokens() -> None:
    for max_tokens in (None, 0, 500):
        text = constrained.create_completion(Llama(context=40), compiled(), [1] * 10, max_tokens=max_tokens)
        assert set(json.loads(text)) == {"name"} and len(text) <= 30


def test_outputs_are_cut_on_request() -> None:
    text = constrained.create_completion(Llama(), compiled(), [1], max_tokens=20, complete=False)
    assert len(text) == 20
    with pytest.raises(ValueError):
        json.loads(text)


def test_a_budget_that_is_too_small_is_refused() -> None:
    with pytest.raises(grammata.RejectedError) as raised:
        constrained.create_completion(Llama(), compiled(), [1], max_tokens=5)
    assert raised.value.code == "matcher/budget"
    # how much of the context is left is known only in the call, whose exceptions the host ignores
    llm = Llama(context=20)
    with pytest.warns(RuntimeWarning, match="matcher/budget"), pytest.raises(grammata.RejectedError):
        constrained.create_completion(llm, compiled(), [1] * 15, max_tokens=None)
    assert not llm.ignored


def test_a_stream_is_checked_at_its_end() -> None:
    stream = constrained.create_completion(Llama(), compiled(), [1], max_tokens=30, stream=True)
    assert set(json.loads(b"".join(stream))) == {"name"}
    stream = constrained.create_completion(Llama(context=20), compiled(), [1] * 15, max_tokens=None, stream=True)
    with pytest.warns(RuntimeWarning), pytest.raises(grammata.RejectedError):
        list(stream)


def test_a_token_that_was_forbidden_ends_the_text() -> None:
    processor = constrained.GrammarLogitsProcessor(Llama(), compiled())
    scores = np.ones(WIDTH, np.float32)
    assert np.flatnonzero(processor(np.array([1]), scores) == 1).tolist() == [ord("{")]
    with pytest.warns(RuntimeWarning, match="matcher/rejected"):
        after = processor(np.array([1, ord("x")]), scores)
    assert np.flatnonzero(after == 1).tolist() == [END, TURN] and scores.min() == 1
    with pytest.raises(grammata.RejectedError):
        processor.check()
    # this holds until a new text begins
    assert np.flatnonzero(processor(np.array([1, ord("x"), END]), scores) == 1).tolist() == [END, TURN]
    assert np.flatnonzero(processor(np.array([7]), scores) == 1).tolist() == [ord("{")]
    processor.check()


def test_after_the_end_comes_the_end() -> None:
    processor = constrained.GrammarLogitsProcessor(Llama(), compiled({"const": 1}))
    scores = np.ones(WIDTH, np.float32)
    ids = [1]
    for token in (ord("1"), TURN, END):
        ids.append(token)
        processor(np.array(ids[:-1]), scores)
    assert np.flatnonzero(processor(np.array(ids), scores) == 1).tolist() == [END, TURN]
    processor.check()


def test_what_cannot_work_is_refused() -> None:
    grammar = compiled()
    with pytest.raises(grammata.UsageError) as raised:
        constrained.logits_processor(Llama(draft_model=object()), grammar)
    assert raised.value.code == "python/llama-cpp-draft"
    other = grammata.Compiler(grammata.Vocabulary.from_tokens([b"a"])).compile_regex("a")
    with pytest.raises(grammata.UsageError) as raised:
        constrained.logits_processor(Llama(), other)
    assert raised.value.code == "python/llama-cpp-vocabulary"
    with pytest.raises(grammata.UsageError) as raised:
        constrained.create_completion(Llama(), grammar, [1], logits_processor=[])
    assert raised.value.code == "python/llama-cpp-processor"


def test_a_logit_bias_keeps_the_grammar() -> None:
    processors = constrained.logits_processor(Llama(), compiled())
    # the host uses the value that `extend` returns
    assert processors.extend([str]) is processors and len(processors) == 2
