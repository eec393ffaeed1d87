"""Matchers: tokens, bytes, masks, drafts and budgets."""

import copy

import grammata
import numpy as np
import pytest
from conftest import bits


def test_a_sequence(compiler, vocabulary):
    matcher = compiler.compile_regex("(yes|no)!").matcher()
    allowed = matcher.mask()
    assert {vocabulary.bytes(token) for token in allowed.ids()} == {b"y", b"ye", b"yes", b"n", b"no"}
    assert len(allowed) == len(allowed.ids()) and allowed.width == vocabulary.width
    yes = vocabulary.encode_greedy("yes")[0]
    assert yes in allowed and vocabulary.eos[0] not in allowed
    assert matcher.is_token_allowed(yes) and not matcher.is_token_allowed(vocabulary.eos[0])
    matcher.accept_token(np.int64(yes))
    assert matcher.bytes == b"yes" and matcher.byte_count == 3 and matcher.steps == 1
    assert matcher.forced_bytes() == b"!" and matcher.allowed_bytes() == b"!"
    assert [vocabulary.bytes(token) for token in matcher.forced_tokens()] == [b"!"]
    assert not matcher.is_accepting()
    matcher.accept_bytes("!")
    assert matcher.is_accepting() and matcher.is_finished()
    matcher.accept_token(vocabulary.eos[0])
    assert not matcher.mask() and matcher.is_finished()
    matcher.rollback(3)
    assert matcher.bytes == b"" and matcher.mask() == allowed
    matcher.accept_bytes(b"no")
    matcher.reset()
    assert matcher.steps == 0


def test_forks_are_apart(bytewise):
    matcher = bytewise.compile_regex("a(b|c)").matcher()
    matcher.accept_bytes("a")
    for other in (matcher.fork(), copy.copy(matcher)):
        other.accept_bytes("c")
        assert other.bytes == b"ac" and matcher.bytes == b"a"
    assert matcher.compiled.matcher().steps == 0


def test_end_tokens_of_a_request():
    vocabulary = grammata.Vocabulary.from_tokens(["a", "b", None, None], specials={"<end>": 2, "<stop>": 3}, eos=2)
    grammar = grammata.Compiler(vocabulary).compile_regex("a(b)?")
    matcher = grammar.matcher(end_tokens=[3, np.int64(3)])
    assert matcher.end_tokens == [3] and grammar.matcher().end_tokens == [2]
    assert matcher.mask().ids() == [0]
    matcher.accept_token(0)
    memory = np.zeros(1, np.int32)
    matcher.fill_mask(memory)
    assert matcher.mask().ids() == bits(memory) == [1, 3]
    assert not matcher.try_accept(2)
    assert matcher.compiled.matcher().end_tokens == [2]
    fork = matcher.fork()
    fork.accept_token(3)
    assert fork.is_finished() and not fork.mask()
    # ordinary text
    matcher = grammar.matcher(end_tokens=[1])
    matcher.accept_bytes("a")
    assert matcher.mask().ids() == [1]
    matcher.accept_token(1)
    assert matcher.is_finished() and matcher.bytes == b"a"
    for wrong, code in [([], "mask/no-end-tokens"), ([4], "mask/end-token-range"), ([-1], "python/token-range")]:
        with pytest.raises(grammata.UsageError) as caught:
            grammar.matcher(end_tokens=wrong)
        assert caught.value.code == code
    with pytest.raises(TypeError):
        grammar.matcher(end_tokens=3)


def test_masks_of_drafts(compiler, vocabulary):
    matcher = compiler.compile_regex("(yes|no)!*").matcher()
    yes, no, mark = (vocabulary.encode_greedy(text)[0] for text in ("yes", "no", "!"))
    words = vocabulary.mask_words
    rows = np.full((5, words), -1, np.int32)
    assert matcher.fill_draft_masks(np.array([yes, mark, -1], np.int64), rows) == 2
    fork = matcher.fork()
    for row, token in zip(rows, (yes, mark, None), strict=False):
        assert bits(row) == fork.mask().ids()
        if token is not None:
            fork.accept_token(token)
    assert not rows[3].any() and (rows[4] == -1).all()
    # the same masks in memory of one dimension
    flat = bytearray(4 * 3 * words)
    assert matcher.fill_draft_masks([yes, 2**70], flat) == 1
    assert flat[: 8 * words] == rows[:2].tobytes() and not any(flat[8 * words :])
    # the root has the children yes and no, and each has a mark as its child
    child, sibling = np.array([1, 3, 4, -1, -1]), np.array([-1, 2, -1, -1, -1])
    tokens = np.array([0, yes, no, mark, yes])
    assert matcher.fill_tree_masks(child, sibling, tokens, rows) == [True, True, True, True, False]
    for row, text in zip(rows, ("", "yes", "no", "yes!"), strict=False):
        other = matcher.fork()
        other.accept_bytes(text)
        assert bits(row) == other.mask().ids()
    assert not rows[4].any() and matcher.steps == 0
    for call, code in [
        (lambda: matcher.fill_draft_masks([yes] * 5, rows), "matcher/draft-rows"),
        (lambda: matcher.fill_draft_masks([yes], rows[:, 1:].copy()), "mask/buffer-too-short"),
        (lambda: matcher.fill_draft_masks([], b"1234"), "python/read-only"),
        (lambda: matcher.fill_tree_masks([], [], [], rows), "matcher/draft-tree"),
        (lambda: matcher.fill_tree_masks([1, 0], [-1, -1], [0, yes], rows), "matcher/draft-tree"),
        (lambda: matcher.fill_tree_masks([-1] * 6, [-1] * 6, [yes] * 6, rows), "matcher/draft-rows"),
    ]:
        with pytest.raises(grammata.UsageError) as caught:
            call()
        assert caught.value.code == code
    with pytest.raises(TypeError):
        matcher.fill_draft_masks(["yes"], rows)


def test_every_way_to_a_mask_agrees(compiler, vocabulary):
    grammar = compiler.compile_json_schema({"type": "object", "properties": {"a": {"type": "string"}}})
    matcher = grammar.matcher()
    words = vocabulary.mask_words
    for text in ("", "{", '{"', '{"a": "x', '{"a": "x"}'):
        matcher.reset()
        matcher.accept_bytes(text)
        mask = matcher.mask()
        bound, memory = np.ones(words + 3, np.uint32), bytearray(b"\xff" * (4 * words))
        matcher.fill_mask(grammata.MaskBuffer(bound))
        matcher.fill_mask(memory)
        signed = np.ones(words, np.int32)
        mask.write_to(signed)
        assert bits(bound) == bits(memory) == bits(signed) == bits(mask.to_bytes()) == mask.ids()
        assert all(matcher.is_token_allowed(token) == (token in mask) for token in [*range(300), *vocabulary.eos])


def test_budgets(compiler, vocabulary):
    matcher = compiler.compile_regex("a{20}").matcher()
    distance = matcher.distance()
    assert distance.kind == "exact" and distance.known >= 1
    assert matcher.distance_in_bytes() == grammata.Distance("exact", 20)
    matcher.check_budget(distance.known)
    with pytest.raises(grammata.RejectedError) as caught:
        matcher.check_budget(distance.known - 1)
    assert caught.value.code == "matcher/budget"
    with pytest.raises(grammata.RejectedError):
        matcher.mask_within(0)
    within = matcher.mask_within(distance.known)
    assert set(within.ids()) <= set(matcher.mask().ids()) and within
    memory = np.zeros(vocabulary.mask_words, np.int32)
    matcher.fill_mask_within(distance.known, memory)
    assert bits(memory) == within.ids()
    assert all(matcher.is_token_allowed_within(token, distance.known) for token in within.ids())


def test_proposals(bytewise):
    """`try_` methods refuse tokens and bytes without an exception."""
    matcher = bytewise.compile_regex("ab*c").matcher()
    assert matcher.try_accept(97) and not matcher.try_accept(97)
    # no byte, no id of the vocabulary, and the end where the text may not end
    assert not matcher.try_accept(1_000_000) and not matcher.try_accept(256)
    draft = np.array([98, 98, 100, 98])
    assert matcher.validate_tokens(draft) == 2 and matcher.bytes == b"a"
    assert matcher.accept_tokens(draft) == 2 and matcher.bytes == b"abb" and matcher.steps == 3
    assert matcher.accept_tokens([]) == 0 and matcher.validate_tokens([97]) == 0
    assert matcher.accepts_prefix("bc") and not matcher.accepts_prefix(b"bcb") and matcher.bytes == b"abb"
    assert not matcher.try_accept_bytes("bb!") and matcher.try_accept_bytes(b"bbc") and matcher.steps == 4
    assert matcher.accept_tokens([256, 97]) == 1 and not matcher.try_accept(97) and not matcher.accepts_prefix("")
    matcher.rollback(5)
    assert matcher.bytes == b""
    for wrong in (-1, 1 << 40):
        for propose in (matcher.try_accept, lambda token: matcher.accept_tokens([97, token])):
            with pytest.raises(grammata.UsageError) as caught:
                propose(wrong)
            assert caught.value.code == "python/token-range"
    for call in (matcher.accept_tokens, matcher.validate_tokens, matcher.try_accept_bytes, matcher.accepts_prefix):
        with pytest.raises(TypeError):
            call(3)
    assert matcher.steps == 0


def test_explanations(bytewise):
    schema = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}}
    matcher = bytewise.compile_json_schema(schema).matcher()
    explanation = matcher.explain('{"age": x')
    assert (explanation.position, explanation.found, explanation.is_viable) == (8, ord("x"), False)
    assert explanation.accepted_tail == b'{"age": '
    assert any(one.label == "#/properties/age" and ord("7") in one.bytes for one in explanation.expected)
    assert str(explanation).startswith("rejected at byte 8: found `x`")
    assert matcher.explain("{").is_viable and not matcher.explain("{").may_end
    assert matcher.explain_token(ord("{")).is_viable
    with pytest.raises(grammata.RejectedError) as caught:
        matcher.accept_bytes('{"age": x')
    error = caught.value
    assert (error.code, error.place, error.diagnostic.byte) == ("matcher/rejected", "byte 8", 8)
    assert error.found and error.allowed and error.help


def test_after_the_end(bytewise):
    matcher = bytewise.compile_regex("a").matcher()
    with pytest.raises(grammata.RejectedError):
        matcher.accept_token(256)
    matcher.accept_token(97)
    matcher.accept_token(256)
    for accept in (lambda: matcher.accept_token(97), lambda: matcher.accept_bytes("a"), lambda: matcher.accept_token(256)):
        with pytest.raises(grammata.RejectedError) as caught:
            accept()
        assert caught.value.code == "matcher/ended"
    assert matcher.distance().known == 0 and matcher.forced_bytes() == b""


def test_wrong_calls(bytewise):
    matcher = bytewise.compile_regex("a").matcher()
    with pytest.raises(grammata.UsageError) as caught:
        matcher.rollback(1)
    assert caught.value.code == "matcher/rollback-too-far"
    with pytest.raises(OverflowError):
        matcher.rollback(-1)
    for token in (257, 1 << 31):
        with pytest.raises(grammata.RejectedError):
            matcher.accept_token(token)
        assert not matcher.is_token_allowed(token)
    for token in (-1, 1 << 40):
        with pytest.raises(grammata.UsageError) as caught:
            matcher.accept_token(token)
        assert caught.value.code == "python/token-range"
    with pytest.raises(TypeError):
        matcher.accept_token("a")
    with pytest.raises(TypeError):
        matcher.accept_bytes(3)
    with pytest.raises(TypeError):
        grammata.Matcher()
    with pytest.raises(UnicodeEncodeError):
        matcher.accept_bytes("\ud800")
    with pytest.raises(ZeroDivisionError):
        matcher.accept_token(Broken())
    for steps in (1 << 63, 1 << 80):
        with pytest.raises((grammata.UsageError, OverflowError)):
            matcher.rollback(steps)
    assert matcher.steps == 0


class Broken:
    """A number whose conversion to an integer raises."""

    def __index__(self) -> int:
        raise ZeroDivisionError


def test_a_rollback_too_far_takes_nothing_back(bytewise):
    matcher = bytewise.compile_regex("abc").matcher()
    matcher.accept_bytes("ab")
    matcher.accept_token(99)
    with pytest.raises(grammata.UsageError) as caught:
        matcher.rollback(3)
    assert caught.value.code == "matcher/rollback-too-far" and "2" in caught.value.allowed
    assert matcher.bytes == b"abc" and matcher.is_accepting()
    matcher.rollback(0)
    matcher.rollback(2)
    assert matcher.bytes == b"" and matcher.steps == 0


def test_rows_of_a_buffer(compiler, vocabulary):
    grammar = compiler.compile_json_schema({"enum": ["yes", "no"]}, whitespace="compact")
    masks = vocabulary.allocate_masks(3)
    assert masks.shape == (3, vocabulary.mask_words) and masks.dtype == np.int32 and not masks.any()
    matcher = grammar.matcher()
    matcher.fill_mask(masks, row=1)
    assert masks[1].tobytes() == matcher.mask().to_bytes() and not masks[0].any() and not masks[2].any()
    matcher.fill_mask_within(4, masks, row=2)
    matcher.mask().write_to(masks, row=0)
    assert (masks[0] == masks[1]).all() and (masks[2] == masks[1]).all()
    bound = grammata.MaskBuffer(masks)
    matcher.fill_mask(bound, row=0)
    for buffer, row in [(masks, 3), (masks, 2**63), (masks[0], 0), (bytearray(masks.nbytes), 0), (bound, 3)]:
        with pytest.raises(grammata.UsageError) as raised:
            matcher.fill_mask(buffer, row=row)
        assert raised.value.code == "python/rows" and raised.value.help
    with pytest.raises(grammata.RejectedError):
        matcher.fill_mask_within(0, masks, row=2)
    assert not masks[2].any() and masks[1].any()


def test_batches_with_rows_budgets_and_drafts(compiler, vocabulary):
    grammar = compiler.compile_regex("(ab){1,4}c?")
    letters = {letter: vocabulary.encode_greedy(letter)[0] for letter in "abc"}
    draft = [letters["a"], letters["b"], letters["c"], -1]
    matchers = [grammar.matcher() for _ in range(6)]
    masks = vocabulary.allocate_masks(12)
    masks[:] = -1
    found = grammata.fill_masks(
        matchers,
        masks,
        rows=[0, 5, 7, 8, 9, 20 - 9],
        drafts=[draft, draft[:1], [], [], [], []],
        budgets=[None, 3, 1, None, 0, None],
        errors="return",
    )
    assert [error and error.code for error in found] == [None, None, None, None, "matcher/budget", None]
    expected = vocabulary.allocate_masks(5)
    assert grammar.matcher().fill_draft_masks(draft, expected) == 3
    assert (masks[:5] == expected).all() and expected[3].any() and not expected[4].any()
    assert grammar.matcher().fill_draft_masks(draft[:1], expected, budget=3) == 1
    assert (masks[5:7] == expected[:2]).all()
    assert not masks[9].any() and (masks[10] == -1).all() and (masks[8] == masks[11]).all()
    # without `rows`, the masks of a draft are in consecutive rows
    grammata.fill_masks(matchers[:2], masks, drafts=[draft, []])
    assert (masks[5] == masks[8]).all()
    for options in [{"rows": [0]}, {"budgets": [1] * 7}, {"drafts": [[]]}]:
        with pytest.raises(grammata.UsageError) as raised:
            grammata.fill_masks(matchers, masks, **options)
        assert raised.value.code == "python/rows"
    with pytest.raises(grammata.BatchError):
        grammata.fill_masks(matchers[:2], masks, rows=[1, 1])
    with pytest.raises(grammata.UsageError):
        grammata.fill_masks(matchers[:2], masks, rows=[0, 12])


def test_a_draft_within_a_budget_ends_within_it(compiler, vocabulary):
    grammar = compiler.compile_json_schema({"type": "array", "items": {"type": "string"}}, whitespace="compact")
    text = '["a","b","c"]'
    draft = vocabulary.encode_greedy(text)
    masks = vocabulary.allocate_masks(len(draft) + 1)
    matcher = grammar.matcher()
    assert matcher.fill_draft_masks(draft, masks, budget=len(draft)) == len(draft)
    allowed = matcher.fill_draft_masks(draft, masks, budget=len(draft) - 2)
    assert allowed < len(draft)
    # whatever is taken of it, there is a mask within what is left
    for count in range(allowed + 1):
        other = matcher.fork()
        for token in draft[:count]:
            other.accept_token(token)
        assert other.mask_within(len(draft) - 2 - count)


def test_events(compiler, vocabulary):
    grammar = compiler.compile_json_schema('{"type": "object", "properties": {"age": {"type": "integer"}}}')
    matcher = grammar.matcher(events="json")
    matcher.accept_bytes('{"age": 3')
    first = matcher.new_events()
    assert first == [
        grammata.Event("begin", "object", "", 0, 0, 0),
        grammata.Event("begin", "number", "/age", 8, 8, 0),
    ]
    fork = matcher.fork()
    matcher.accept_bytes("}")
    assert matcher.new_events() == [
        grammata.Event("end", "number", "/age", 8, 9, 1),
        grammata.Event("end", "object", "", 0, 10, 1),
    ]
    assert matcher.new_events() == [] == fork.new_events()
    matcher.rollback()
    (error,) = grammata.accept_tokens([matcher], vocabulary.encode_greedy("7"), errors="return") or [None]
    assert error is None
    matcher.accept_bytes("}")
    assert [(event.pointer, event.end) for event in matcher.new_events()] == [("/age", 10), ("", 11)]
    fork.reset()
    fork.accept_tokens(vocabulary.encode_greedy('{"a/": [null, true'))
    assert [event.pointer for event in fork.new_events() if event.change == "end"] == ["/a~1/0", "/a~1/1"]


def test_events_of_rules(compiler):
    grammar = compiler.compile_gbnf('root ::= call+\ncall ::= name "()"\nname ::= [a-z]+')
    matcher = grammar.matcher(events=["name", "call"])
    matcher.accept_bytes("fo")
    matcher.accept_bytes("o()")
    found = [(event.change, event.kind, event.rule, event.start, event.end) for event in matcher.new_events()]
    assert found == [
        ("begin", "rule", "call", 0, 0),
        ("begin", "rule", "name", 0, 0),
        ("end", "rule", "name", 0, 3),
        ("end", "rule", "call", 0, 5),
    ]
    with pytest.raises(grammata.GrammarError) as raised:
        grammar.matcher(events=["other"])
    assert raised.value.code == "events/unknown-rule"


def test_wrong_events(compiler):
    with pytest.raises(grammata.UsageError) as raised:
        compiler.compile_regex("a").matcher(events="xml")
    assert raised.value.code == "python/unknown-events"
    matcher = compiler.compile_regex("a").matcher()
    matcher.accept_bytes("a")
    with pytest.raises(grammata.UsageError) as raised:
        matcher.new_events()
    assert raised.value.code == "python/no-events"
    matcher = compiler.compile_regex("a").matcher(events="json")
    with pytest.raises(grammata.GrammarError) as raised:
        matcher.accept_bytes("a")
    assert raised.value.code == "events/not-json" and matcher.steps == 0
