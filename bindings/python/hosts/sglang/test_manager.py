"""The registry, the plug-in, SGLang's `GrammarManager`, reasoning, budgets of requests, framed grammars."""

import json
from importlib.metadata import EntryPoint
from typing import Any

import grammata
import pytest
from conftest import Request, allowed, ids, ready
from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES
from sglang.srt.constrained.base_grammar_backend import GRAMMAR_BACKEND_REGISTRY, InvalidGrammarObject
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend, ReasonerGrammarObject

YES = '{"enum": ["yes", "no"]}'
STORY = '{"type": "object", "properties": {"story": {"type": "string"}}, "required": ["story"], "additionalProperties": false}'


def test_the_name_is_known(configured):
    from grammata.integrations import sglang as plugin

    plugin.register()
    assert GRAMMAR_BACKEND_CHOICES.count("grammata") == 1 and "grammata" in GRAMMAR_BACKEND_REGISTRY
    entry = EntryPoint("grammata", "grammata.integrations.sglang:register", "sglang.srt.plugins")
    assert entry.load() is plugin.register


def test_a_request_gets_its_grammar_and_the_next_a_copy(manager, tokenizer):
    host = manager()
    first, second = ready(host, Request(json_schema=YES)), ready(host, Request(json_schema=YES))
    assert first.grammar.matcher.compiled is not None and first.aborted is second.aborted is None
    assert not first.grammar.grammar_stats.is_cache_hit and second.grammar.grammar_stats.is_cache_hit
    first.grammar.accept_token(ids(tokenizer, '"')[0])
    assert second.grammar.accepted_tokens == []
    host.clear()
    assert ready(host, Request(json_schema=YES)).aborted is None


@pytest.mark.parametrize("options", [{"json_schema": '{"type": 1}'}, {"regex": "("}, {"ebnf": "root ::= x"}, {"structural_tag": "{}"}])
def test_a_bad_grammar_fails_its_request_only(manager, options):
    host = manager()
    for _ in range(2):  # from the queue, and from SGLang's cache
        bad = ready(host, Request(**options))
        assert isinstance(bad.grammar, InvalidGrammarObject) and bad.aborted.startswith("Failed to compile")
    assert ready(host, Request(json_schema=YES)).aborted is None


def test_outputs_are_complete_within_max_new_tokens(manager, tokenizer):
    host = manager()
    for limit in (6, 12):
        grammar = ready(host, Request(json_schema=STORY, limit=limit)).grammar
        spent = 0
        while choices := sorted(allowed(grammar) - {tokenizer.eos_token_id}):
            grammar.accept_token(choices[len(choices) // 2])
            spent += 1
        assert spent <= limit
        json.loads(tokenizer.decode(grammar.accepted_tokens))


def test_a_limit_that_nothing_fits_fails_the_request(manager):
    host = manager()
    schema = '{"type": "string", "format": "uuid"}'
    for _ in range(2):
        request = ready(host, Request(json_schema=schema, limit=10))
        assert "matcher/budget" in request.aborted and "tokens, the least" in request.aborted
    assert ready(host, Request(json_schema=schema, limit=64)).aborted is None
    assert ready(host, Request(json_schema=schema, limit=None)).aborted is None


def test_budgets_can_be_off_or_only_warn(manager, monkeypatch, caplog):
    schema = '{"type": "string", "format": "uuid"}'
    for mode, warnings in (("off", 0), ("on", 1)):
        monkeypatch.setenv("GRAMMATA_SGLANG_BUDGET", mode)
        request = ready(manager(), Request(json_schema=schema, limit=10))
        assert request.aborted is None and allowed(request.grammar)
        assert request.grammar.copy().budget_mode == mode
        assert sum("will be cut by max_new_tokens" in text for text in caplog.messages) == warnings


def test_limits_of_the_environment_hold(manager, monkeypatch, caplog):
    monkeypatch.setenv("GRAMMATA_SGLANG_LIMITS", "source_bytes=30")
    monkeypatch.setenv("GRAMMATA_SGLANG_SLOW_MS", "0")
    host = manager()
    assert "source_bytes" in ready(host, Request(json_schema=STORY)).aborted
    assert ready(host, Request(json_schema=YES)).aborted is None
    # the one that fails, too
    assert sum("slow grammar: " in text for text in caplog.messages) == 2


@pytest.mark.parametrize(("name", "value"), [("GRAMMATA_SGLANG_BUGET", "off"), ("GRAMMATA_SGLANG_LIMITS", "mask_wrk=1")])
def test_an_invalid_variable_ends_the_start(manager, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(grammata.UsageError, match=name):
        manager()


def test_the_start_names_versions(manager, monkeypatch, caplog):
    with caplog.at_level("INFO"):
        manager()
    assert any("SGLang 0.5.23" in text and "Grammata" in text for text in caplog.messages)
    assert not any("was tested with" in text for text in caplog.messages)
    monkeypatch.setattr("sglang.version.__version__", "0.9.9")
    manager()
    assert any("was tested with SGLang 0.5.23, and not with 0.9.9" in text for text in caplog.messages)


def test_whitespace_options(manager, tokenizer):
    schema = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
    wide, spaced = "{\n\n\n\n", '{"a": 1}'
    for options, takes in (({}, True), ({"constrained_json_disable_any_whitespace": True}, False), ({"constrained_json_max_whitespace_cnt": 2}, False)):
        grammar = ready(manager(**options), Request(json_schema=schema)).grammar
        assert grammar.copy().matcher.accepts_prefix(wide) is takes and grammar.copy().matcher.accepts_prefix(spaced)
        assert not grammar.copy().matcher.accepts_prefix('{"a": 1, "b": 2}')


def think_end(tokenizer: Any) -> list[int]:
    return ids(tokenizer, "</think>")


def test_a_reasoning_model_is_masked_after_its_reasoning(manager, tokenizer):
    """SGLang does not wrap registered backends for reasoning; the hook does."""
    host = manager(think_end(tokenizer), reasoning_parser="deepseek-r1")
    assert isinstance(host.grammar_backend, ReasonerGrammarBackend)
    request = ready(host, Request(json_schema=YES, reasoning=True, limit=60))
    grammar = request.grammar
    assert isinstance(grammar, ReasonerGrammarObject)
    everything = 49152
    for token in ids(tokenizer, "Is it? Perhaps."):
        assert len(allowed(grammar)) == everything
        grammar.accept_token(token)
    for token in think_end(tokenizer):
        grammar.accept_token(token)
    first = allowed(grammar)
    assert 0 < len(first) < 40 and not grammar.is_terminated()
    for token in [*ids(tokenizer, '"yes"'), tokenizer.eos_token_id]:
        assert token in allowed(grammar)
        grammar.accept_token(token)
    assert grammar.is_terminated()
    grammar.rollback(len(ids(tokenizer, '"yes"')) + 1)
    assert allowed(grammar) == first
    grammar.rollback(1)
    assert len(allowed(grammar)) == everything
    # a request without reasoning is masked from its first token
    assert len(allowed(ready(host, Request(json_schema=YES)).grammar)) < 40


def test_tokens_of_reasoning_count(manager, tokenizer):
    host = manager(think_end(tokenizer), reasoning_parser="deepseek-r1")
    spent = [*ids(tokenizer, "Let me think a while"), *think_end(tokenizer)]
    for limit, finishes in ((len(spent) + 12, True), (len(spent) + 2, False)):
        grammar = ready(host, Request(json_schema=STORY, reasoning=True, limit=limit)).grammar
        for token in spent:
            grammar.accept_token(token)
        count = len(spent)
        while count < limit and (choices := sorted(allowed(grammar) - {tokenizer.eos_token_id})):
            grammar.accept_token(choices[len(choices) // 2])
            count += 1
        text = tokenizer.decode(grammar.grammar.accepted_tokens)
        if finishes:
            json.loads(text)
        else:  # the reasoning left too few tokens, and this model's reasoning cannot be ended: the output is cut
            with pytest.raises(json.JSONDecodeError):
                json.loads(text)


def test_strict_reasoning_ends_in_time(manager, tokenizer):
    """With `--enable-strict-thinking`, SGLang ends the reasoning while the shortest answer still fits."""
    host = manager(think_end(tokenizer), reasoning_parser="deepseek-r1", enable_strict_thinking=True)
    grammar = ready(host, Request(json_schema=STORY, reasoning=True, limit=30)).grammar
    if not grammar.enable_token_filter:
        grammar.enable_token_filter, grammar.token_filter_fn = True, host.grammar_backend.grammar_backend.set_token_filter
        from grammata.integrations.sglang.plugin import give_budget

        give_budget(None, host, type("R", (), {"grammar": grammar, "sampling_params": Request(limit=30).sampling_params})())
    count, thought = 0, ids(tokenizer, " hm")[0]
    while count < 30 and (choices := sorted(allowed(grammar) - {tokenizer.eos_token_id})):
        token = thought if grammar._is_thinking() and thought in choices else choices[len(choices) // 2]
        grammar.accept_token(token)
        count += 1
    assert grammar._is_generation() and count <= 30
    json.loads(tokenizer.decode(grammar.grammar.accepted_tokens))


@pytest.mark.parametrize(("dispatch", "key", "text"), [("json", YES, '"no"'), ("regex", "[ab]{2}", "ab"), ("ebnf", 'root ::= "xy"', "xy")])
def test_framed_grammars(backend, tokenizer, dispatch, key, text):
    grammar = getattr(backend, f"dispatch_{dispatch}")(key)
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    start = tokenizer.convert_tokens_to_ids("<|im_start|>")
    backend.reserve_framing_tokens([start])

    def frame(content: dict[str, Any]) -> dict[str, Any]:
        token = {"type": "token", "token": start}
        return {"type": "structural_tag", "format": {"type": "sequence", "elements": [token, content, token]}}

    framed = backend.compile_framed_grammar(grammar, frame)
    for token in [start, *ids(tokenizer, text), start, end]:
        assert token in allowed(framed)
        framed.accept_token(token)
    assert framed.is_terminated()
    assert backend.compile_framed_grammar(InvalidGrammarObject("x"), frame) is None


def test_an_ordinary_token_cannot_frame(backend, tokenizer):
    with pytest.raises(grammata.UsageError) as caught:
        backend.reserve_framing_tokens(ids(tokenizer, " the"))
    assert caught.value.code == "sglang/framing-token"


def test_filters_of_tokens(backend):
    mask = backend.allocate_vocab_mask(49152, 2, "cpu")
    backend.set_token_filter(mask, [3, 40], 0)
    assert mask[0].count_nonzero() == 2 and (mask[1] == -1).all()
    backend.set_token_filter(mask, [3], 1, is_allowed=False, reset_vocab_mask=False)
    assert mask[1][0] == ~(1 << 3)
