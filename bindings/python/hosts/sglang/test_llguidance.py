"""SGLang's own llguidance backend on `grammata.compat.llguidance`."""

import json
from typing import Any

import pytest
import torch
from grammata.compat import llguidance

llguidance.install()

from sglang.srt.constrained.llguidance_backend import (  # noqa: E402
    GuidanceBackend,
    GuidanceGrammar,
    fill_token_bitmask_batched,
    fill_token_bitmask_with_draft_tokens,
)

WIDTH = 49152
SCHEMA = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"], "additionalProperties": False}
TAG = {"structures": [{"begin": "<f=a>", "schema": SCHEMA, "end": "</f>"}], "triggers": ["<f"]}


@pytest.fixture(scope="module")
def guidance(tokenizer: Any) -> Any:
    return GuidanceBackend(tokenizer, n_vocab=WIDTH, eos_token_ids={tokenizer.eos_token_id})


def masked(grammar: Any) -> list[int]:
    mask = grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    logits = torch.zeros((1, WIDTH))
    grammar.apply_vocab_mask(logits, mask)
    return torch.isfinite(logits[0]).nonzero().flatten().tolist()


@pytest.mark.parametrize(
    ("kind", "text", "accepted"),
    [
        ("json", json.dumps(SCHEMA), '{"age": 7}'),
        ("regex", "(yes|no)!", "yes!"),
        ("ebnf", 'root ::= "a" [0-9]', "a1"),
        ("structural_tag", json.dumps(TAG), 'so <f=a>{"age": 7}</f>'),
    ],
)
def test_requests(guidance: Any, tokenizer: Any, kind: str, text: str, accepted: str) -> None:
    grammar = getattr(guidance, f"dispatch_{kind}")(text)
    assert isinstance(grammar, GuidanceGrammar)
    copy = grammar.copy()
    tokens = tokenizer.encode(accepted)
    for token in tokens:
        assert token in masked(grammar)
        grammar.accept_token(token)
    assert tokenizer.eos_token_id in masked(grammar)
    grammar.accept_token(tokenizer.eos_token_id)
    if kind != "structural_tag":
        assert grammar.is_terminated()
        grammar.rollback(len(tokens) + 1)
        assert masked(grammar) == masked(copy)


def test_a_token_that_is_not_allowed(guidance: Any, tokenizer: Any) -> None:
    grammar = guidance.dispatch_regex("a")
    with pytest.raises(ValueError, match="doesn't satisfy the grammar"):
        grammar.accept_token(tokenizer.encode("b")[0])


@pytest.mark.parametrize(("kind", "text"), [("json", '{"type": "intege"}'), ("json", "{"), ("regex", "("), ("ebnf", "root ::= x")])
def test_bad_grammars(guidance: Any, kind: str, text: str) -> None:
    grammar = getattr(guidance, f"dispatch_{kind}")(text)
    assert not isinstance(grammar, GuidanceGrammar) and grammar.error_message


def test_batches_and_drafts(guidance: Any, tokenizer: Any) -> None:
    class Entry:
        def __init__(self, grammar: Any, row: int, draft: list[int]) -> None:
            self.grammar, self.row, self.base_row, self.draft_tokens = grammar, row, row, draft

    one, other = guidance.dispatch_regex("abc[0-9]"), guidance.dispatch_json(json.dumps(SCHEMA))
    mask = one.allocate_vocab_mask(WIDTH, 6, "cpu")
    fill_token_bitmask_batched([Entry(one, 4, []), Entry(other, 0, [])], mask)
    assert (mask[[1, 2, 3, 5]] == -1).all()
    after = one.allocate_vocab_mask(WIDTH, 2, "cpu")
    one.fill_vocab_mask(after, 0)
    assert torch.equal(after[0], mask[4])
    draft = tokenizer.encode("ab")
    mask.fill_(-1)
    fill_token_bitmask_with_draft_tokens([Entry(one, 0, draft)], mask)
    assert torch.equal(after[0], mask[0]) and not (mask[: len(draft) + 1] == -1).all(dim=1).any()
    assert (mask[len(draft) + 1 :] == -1).all()
