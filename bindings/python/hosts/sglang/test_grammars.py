"""`BaseGrammarObject`: accepting, rolling back, the end, masks, copies, jump-forward, trees of draft tokens."""

import json
from typing import Any

import pytest
import torch
from conftest import WIDTH, allowed, ids
from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, BaseGrammarObject, GrammarRow, InvalidGrammarObject
from sglang.srt.speculative import spec_utils

PERSON = json.dumps(
    {"type": "object", "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer"}}, "required": ["name", "age"]}
)


def take(grammar: Any, tokens: list[int]) -> None:
    for token in tokens:
        assert token in allowed(grammar)
        grammar.accept_token(token)


def test_every_method_of_the_host_is_there(backend):
    grammar = backend.dispatch_regex("a")
    for base, ours in ((BaseGrammarObject, grammar), (BaseGrammarBackend, backend)):
        assert isinstance(ours, base)
    left = {"maybe_init_reasoning", "finished"}
    missing = [name for name in vars(BaseGrammarObject) if not name.startswith("__") and name not in vars(type(grammar))]
    assert set(missing) == left


@pytest.mark.parametrize(
    ("dispatch", "key", "text", "wrong"),
    [
        ("json", PERSON, '{"name": "Ada", "age": 36}', '{"nome"'),
        ("json", "$$ANY$$", '[1, {"a": null}]', "x"),
        ("regex", r"hello (world|there)\d", "hello there7", "hello x"),
        ("ebnf", 'root ::= "a" [0-9]+ "z"', "a12z", "az"),
        ("ebnf", 'start: "a" /[0-9]+/ "z"', "a12z", "az"),
        (
            "structural_tag",
            '{"structures": [{"begin": "<f>", "schema": {"type": "integer"}, "end": "</f>"}], "triggers": ["<f>"]}',
            "so <f>12</f> it is",
            "<f>x",
        ),
        (
            "structural_tag",
            '{"structures": [{"begin": "<f>", "schema": null, "end": "</f>"}], "triggers": ["<f>"], "at_least_one": true}',
            '<f>{"a": 1}</f>',
            "so",
        ),
        (
            "structural_tag",
            '{"type": "structural_tag", "format": {"type": "tag", "begin": "(", "content": {"type": "json_schema"}, "end": ")"}}',
            "([true])",
            "[",
        ),
    ],
)
def test_kinds(backend, tokenizer, dispatch, key, text, wrong):
    grammar = getattr(backend, f"dispatch_{dispatch}")(key)
    assert not isinstance(grammar, InvalidGrammarObject), grammar
    assert grammar.grammar_stats.dispatch_type == dispatch
    take(grammar, ids(tokenizer, text))
    take(grammar, [tokenizer.eos_token_id])
    assert grammar.is_terminated()
    other = grammar.copy()
    assert other.grammar_stats.is_cache_hit and not other.is_terminated() and not other.accepted_tokens
    with pytest.raises(ValueError):
        for token in ids(tokenizer, wrong) + [tokenizer.eos_token_id]:
            other.accept_token(token)


@pytest.mark.parametrize(
    ("dispatch", "key"),
    [
        ("json", '{"type":'),
        ("json", '{"type": "strin"}'),
        ("json", '{"type": "string", "pattern": "["}'),
        ("regex", "(a"),
        ("ebnf", "root ::= missing"),
        ("ebnf", "start: missing"),
        ("structural_tag", "{"),
        ("structural_tag", '{"structures": [{"begin": "<f>"}], "triggers": ["<f>"]}'),
        ("structural_tag", '{"format": {"type": "nothing"}}'),
    ],
)
def test_a_bad_grammar_is_an_object_with_the_message(backend, dispatch, key):
    found = getattr(backend, f"dispatch_{dispatch}")(key)
    assert isinstance(found, InvalidGrammarObject) and found.error_message


def test_rollback(backend, tokenizer):
    grammar = backend.dispatch_regex("hello (world|there)")
    tokens = [*ids(tokenizer, "hello there"), tokenizer.eos_token_id]
    masks = []
    for token in tokens:
        masks.append(allowed(grammar))
        grammar.accept_token(token)
    assert grammar.is_terminated() and grammar.current_token == tokenizer.eos_token_id
    grammar.accept_token(5)  # after the end: ignored, but counted
    grammar.rollback(1)
    assert grammar.is_terminated()
    for left in range(len(tokens) - 1, -1, -1):
        grammar.rollback(1)
        assert not grammar.is_terminated() and allowed(grammar) == masks[left]
    take(grammar, tokens)
    grammar.accept_token(5)
    grammar.rollback(len(tokens) + 1)
    assert allowed(grammar) == masks[0] and grammar.accepted_tokens == []


def test_a_refused_token_says_why_and_moves_nothing(backend, tokenizer):
    grammar = backend.dispatch_regex("hello")
    before = allowed(grammar)
    with pytest.raises(ValueError, match="hello"):
        grammar.accept_token(ids(tokenizer, "x")[0])
    assert allowed(grammar) == before


def test_masks_in_batches(backend, tokenizer):
    keys = ["[ab]", "c", "[a-z]+", "x{3}", "\\d", "hello", "z"]
    grammars = [backend.dispatch_regex(key) for key in keys]
    grammars[2].set_budget(4)
    table = grammars[0].allocate_vocab_mask(WIDTH, 10, "cpu")
    assert table.shape == (10, WIDTH // 32) and table.dtype == torch.int32
    grammars[0].fill_vocab_mask_batched([GrammarRow(row + 1, one) for row, one in enumerate(grammars)], table)
    assert (table[0] == -1).all() and (table[8:] == -1).all()
    for row, grammar in enumerate(grammars):
        single = grammar.allocate_vocab_mask(WIDTH, 1, "cpu")
        grammar.fill_vocab_mask(single, 0)
        assert torch.equal(single[0], table[row + 1])
    logits = torch.zeros((10, WIDTH))
    grammars[0].apply_vocab_mask(logits=logits, vocab_mask=grammars[0].move_vocab_mask(table, "cpu"))
    assert torch.isfinite(logits[0]).all()
    for row, grammar in enumerate(grammars):
        assert set(torch.isfinite(logits[row + 1]).nonzero().flatten().tolist()) == allowed(grammar)
    grammars[0].reset_vocab_mask(table)
    assert (table == -1).all()


def test_budgets(backend, tokenizer):
    grammar = backend.dispatch_json(PERSON)
    least = grammar.matcher.distance().known
    for limit in (least, least + 1, least + 5, least + 30):
        one = grammar.copy()
        one.set_budget(limit)
        generator = torch.Generator().manual_seed(limit)
        while True:
            choices = sorted(allowed(one) - {tokenizer.eos_token_id})
            if not choices:
                break
            one.accept_token(choices[int(torch.randint(len(choices), (1,), generator=generator))])
        assert len(one.accepted_tokens) <= limit
        json.loads(tokenizer.decode(one.accepted_tokens))


def test_a_mask_that_cannot_be_computed_ends_its_request(tokenizer):
    import grammata
    from grammata.integrations.sglang.grammar import GrammataGrammar

    vocabulary = grammata.Vocabulary.from_transformers(tokenizer, width=WIDTH)
    limited = grammata.Compiler(vocabulary, limits={"mask_work": 0}).compile_regex("(a|b)*a(a|b){8}")
    grammar = GrammataGrammar(limited, WIDTH, {}, "key", None)
    assert allowed(grammar) == {tokenizer.eos_token_id}
    with pytest.raises(ValueError, match="limit/exceeded"):
        grammar.accept_token(tokenizer.eos_token_id)


def test_jump_forward(backend, tokenizer):
    grammar = backend.dispatch_regex("(The answer|An answer) is [0-9]")
    assert grammar.try_jump_forward(tokenizer) is None
    take(grammar, ids(tokenizer, "The"))
    helper = grammar.try_jump_forward(tokenizer)
    text, state = grammar.jump_forward_str_state(helper)
    assert text == " answer is "
    new = ids(tokenizer, "The answer is 4")
    grammar.jump_and_retokenize(grammar.accepted_tokens[:], new, state)
    assert grammar.accepted_tokens == new and grammar.matcher.bytes == b"The answer is 4"


@pytest.mark.parametrize("budget", [None, 6, 40])
def test_a_tree_of_drafts_is_as_the_host_walks_it(backend, tokenizer, budget):
    """The hook writes the same rows as SGLang's own function does with our grammar object."""
    grammar = backend.dispatch_regex("(ab|ac)*(x|yy)")
    if budget is not None:
        grammar.set_budget(budget)
    letters = {letter: ids(tokenizer, letter)[0] for letter in "abcxyq"}
    generator = torch.Generator().manual_seed(7)
    for _ in range(60):
        size = 8
        tokens = torch.tensor([list(letters.values())[int(torch.randint(6, (1,), generator=generator))] for _ in range(size)])
        child, sibling = torch.full((size,), -1), torch.full((size,), -1)
        last: dict[int, int] = {}
        for node in range(1, size):
            parent = int(torch.randint(node, (1,), generator=generator))
            if parent in last:
                sibling[last[parent]] = node
            else:
                child[parent] = node
            last[parent] = node
        if int(torch.randint(4, (1,), generator=generator)) == 0:
            tokens[size - 1] = tokenizer.eos_token_id
        ours, theirs = (grammar.allocate_vocab_mask(WIDTH, size, "cpu") for _ in range(2))
        spec_utils.traverse_tree(child, sibling, tokens, grammar, ours, vocab_size=WIDTH)
        spec_utils.traverse_tree.__wrapped__(child, sibling, tokens, grammar, theirs, vocab_size=WIDTH)
        assert torch.equal(ours, theirs)
        assert grammar.accepted_tokens == [] and grammar.matcher.steps == 0


def test_a_draft_token_out_of_range_is_not_taken(backend, tokenizer):
    grammar = backend.dispatch_regex("a+")
    rows = grammar.allocate_vocab_mask(WIDTH, 2, "cpu")
    spec_utils.traverse_tree(
        torch.tensor([1, -1]), torch.tensor([-1, -1]), torch.tensor([0, WIDTH + 3]), grammar, rows, vocab_size=WIDTH
    )
    assert (rows[1] == -1).all() and not (rows[0] == -1).all()
