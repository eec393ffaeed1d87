"""The logits processor, with a replacement for `generate` on NumPy: greedy, sampling, beams, padding."""

import json

import grammata
import numpy as np
import pytest
from grammata.integrations.transformers import GrammarLogitsProcessor

PAD, END = 255, 256
PROMPT = [10, 20, 30]
SCHEMA = {"type": "object", "required": ["name", "age"], "additionalProperties": False,
          "properties": {"name": {"type": "string", "maxLength": 4}, "age": {"type": "integer", "minimum": 0, "maximum": 99}}}  # fmt: skip


def scores_of(rows: np.ndarray, width: int = 260) -> np.ndarray:
    """Logits that depend only on the text, like those of a model."""
    return np.stack([np.random.default_rng([int(one) for one in row]).normal(size=width) for row in rows]).astype(np.float32)


def follow(processor: GrammarLogitsProcessor, batch: int, steps: int) -> list[list[int]]:
    """Chooses tokens greedily, as `generate` does: rows that have ended are padded."""
    rows = np.array([PROMPT] * batch)
    rows[:, 0] += np.arange(batch)
    ended = np.zeros(batch, bool)
    for _ in range(steps):
        scores = processor(rows, scores_of(rows))
        assert scores.dtype == np.float32
        next_ = np.where(ended, PAD, scores.argmax(axis=1))
        ended |= next_ == END
        rows = np.concatenate([rows, next_[:, None]], axis=1)
        if ended.all():
            break
    return [[int(token) for token in row[len(PROMPT) :]] for row in rows]


def beams(processor: GrammarLogitsProcessor, count: int, steps: int) -> list[list[int]]:
    """Searches with beams, as `generate` does: at each step, the rows are chosen from all continuations."""
    rows, totals = np.array([PROMPT] * count), np.array([0.0] + [-1e9] * (count - 1))
    done: list[list[int]] = []
    for _ in range(steps):
        scores = processor(rows, scores_of(rows)).astype(np.float64)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        flat = (totals[:, None] + scores).ravel()
        order = [int(place) for place in np.argsort(-flat, kind="stable")[: 2 * count]]
        width, chosen = scores.shape[1], []
        for place in order:
            if flat[place] == -np.inf:
                continue
            if place % width == END:
                done.append([*map(int, rows[place // width][len(PROMPT) :])])
            elif len(chosen) < count:
                chosen.append(place)
        if not chosen:
            break
        chosen += [chosen[0]] * (count - len(chosen))
        totals = flat[chosen]
        rows = np.array([[*rows[place // width], place % width] for place in chosen])
    return done


def valid(tokens: list[int]) -> bool:
    value = json.loads(bytes(token for token in tokens[: tokens.index(END)] if token < 256))
    return set(value) == {"name", "age"} and len(value["name"]) <= 4 and 0 <= value["age"] <= 99


def test_batches(bytewise):
    grammar = bytewise.compile_json_schema(SCHEMA, whitespace="compact")
    texts = follow(GrammarLogitsProcessor(grammar), 7, 120)
    assert len({tuple(text) for text in texts}) > 1 and all(valid(text) for text in texts)


def test_each_sequence_may_have_its_grammar(bytewise):
    grammars = [bytewise.compile_regex(pattern) for pattern in ("a{3}", "b{1,5}c", "d")]
    texts = follow(GrammarLogitsProcessor(grammars), 3, 20)
    texts = [bytes(token for token in text if token < 128).decode() for text in texts]
    assert texts[0] == "aaa" and texts[1].strip("b") == "c" and texts[2] == "d"
    with pytest.raises(grammata.UsageError):
        GrammarLogitsProcessor(grammars)(np.array([PROMPT] * 4), scores_of(np.array([PROMPT] * 4)))


def test_beams_are_found_by_their_texts(bytewise):
    grammar = bytewise.compile_json_schema(SCHEMA, whitespace="compact")
    texts = beams(GrammarLogitsProcessor(grammar), 4, 120)
    assert texts and all(valid([*text, END]) for text in texts)


def test_rows_are_what_a_matcher_says(bytewise):
    """Rows change places, are repeated, and lose their last tokens."""
    grammar, random = bytewise.compile_regex("(a|bb|c{3})*"), np.random.default_rng(5)
    processor = GrammarLogitsProcessor(grammar)
    texts = [[], [], [], []]
    processor(np.array([PROMPT] * 4), scores_of(np.array([PROMPT] * 4)))
    for _ in range(60):
        parents = random.integers(0, 4, 4)
        grown = []
        for parent in parents:
            matcher = grammar.matcher()
            for token in texts[parent]:
                matcher.accept_token(token)
            grown.append([*texts[parent], int(random.choice([t for t in matcher.mask().ids() if t != END]))])
        texts = grown
        rows = np.array([PROMPT + text for text in texts])
        scores = processor(rows, scores_of(rows))
        for text, row in zip(texts, scores):
            matcher = grammar.matcher()
            matcher.accept_bytes(bytes(text))
            assert np.flatnonzero(np.isfinite(row)).tolist() == matcher.mask().ids()


def test_a_processor_begins_again(bytewise):
    processor = GrammarLogitsProcessor(bytewise.compile_regex("ab"))
    first = follow(processor, 2, 9)
    assert first == follow(processor, 2, 9)
    with pytest.raises(grammata.RejectedError):
        processor(np.array([PROMPT]), scores_of(np.array([PROMPT])))
        rows = np.array([[*PROMPT, ord("x")]])
        processor(rows, scores_of(rows))


def generate(processor: GrammarLogitsProcessor, prompts: list[list[int]], steps: int = 9) -> list[str]:
    """Generates greedily from prompts of one length, as `generate` pads them. Returns the text of each."""
    rows = np.array(prompts)
    ended = np.zeros(len(rows), bool)
    for _ in range(steps):
        next_ = np.where(ended, PAD, processor(rows, scores_of(rows)).argmax(axis=1))
        ended |= next_ == END
        rows = np.concatenate([rows, next_[:, None]], axis=1)
        if ended.all():
            break
    return [bytes(token for token in row if token < 128).decode() for row in rows[:, len(prompts[0]) :].tolist()]


@pytest.mark.parametrize("length", range(1, 16))
def test_a_prompt_of_any_length_begins_anew(bytewise, length):
    """After a prompt of 3 tokens and 5 steps, the last call had 7 tokens; 8 are one more, but not of the same text."""
    processor = GrammarLogitsProcessor(bytewise.compile_regex("abcd"))
    assert generate(processor, [PROMPT]) == ["abcd"]
    for token in (7, 10, ord("a"), END):
        assert generate(processor, [[token] * length]) == ["abcd"]
        assert generate(processor, [PROMPT]) == ["abcd"]


def test_prompts_of_a_batch_differ(bytewise):
    grammars = [bytewise.compile_regex("ab"), bytewise.compile_regex("c{4}")]
    processor = GrammarLogitsProcessor(grammars)
    assert generate(processor, [[PAD, PAD, 10], [10, 20, 30]]) == ["ab", "cccc"]
    # one prompt has changed, and with it the rows of all
    assert generate(processor, [[PAD, PAD, 10], [10, 20, 31]]) == ["ab", "cccc"]
    assert generate(processor, [[10] * 12, [PAD] * 11 + [20]]) == ["ab", "cccc"]


def test_a_generate_that_stopped_early_is_not_continued(bytewise):
    """The first call of the next `generate` has one token more than the last call had."""
    processor = GrammarLogitsProcessor(bytewise.compile_regex("abcd"))
    processor(np.array([PROMPT]), scores_of(np.array([PROMPT])))
    assert generate(processor, [[11, 20, 30, 40]]) == ["abcd"]


def test_rows_of_the_caller_may_be_written_over(bytewise):
    processor = GrammarLogitsProcessor(bytewise.compile_regex("ab"))
    memory = np.array([[*PROMPT, 0]])
    processor(memory[:, :3], scores_of(memory))
    memory[0, 3] = ord("a")
    scores = processor(memory, scores_of(memory))
    assert np.flatnonzero(np.isfinite(scores[0])).tolist() == [ord("b")]
    memory[0] = [1, 2, 3, 4]
    scores = processor(memory, scores_of(memory))
    assert np.flatnonzero(np.isfinite(scores[0])).tolist() == [ord("a")]


def lengths(texts: list[list[int]]) -> list[int]:
    return [text.index(END) if END in text else len(text) for text in texts]


def test_texts_are_complete_within_budgets(bytewise):
    grammar = bytewise.compile_json_schema(SCHEMA, whitespace="compact")
    least = grammar.matcher().distance().known
    for budget in (least, least + 1, least + 3, 200):
        texts = follow(GrammarLogitsProcessor(grammar, budget=budget), 5, budget)
        assert all(length <= budget for length in lengths(texts)) and all(valid([*text, END]) for text in texts)
        assert all(valid([*text, END]) for text in beams(GrammarLogitsProcessor(grammar, budget=budget), 4, budget + 1))
    grammars = [bytewise.compile_regex("a*"), bytewise.compile_regex("(aa)+")]
    for text, most in zip(follow(GrammarLogitsProcessor(grammars, budget=[3, 7]), 2, 60), (3, 7)):
        assert lengths([text])[0] <= most
    # steps after the budget: only the end is left
    processor = GrammarLogitsProcessor(bytewise.compile_regex("a{2,9}"), budget=2)
    rows = np.array([PROMPT])
    for token in (97, 97):
        assert np.isfinite(processor(rows, scores_of(rows))[0][token])
        rows = np.concatenate([rows, [[token]]], axis=1)
    assert np.flatnonzero(np.isfinite(processor(rows, scores_of(rows))[0])).tolist() == [END]


def test_budgets_that_cannot_be(bytewise):
    grammar = bytewise.compile_json_schema(SCHEMA, whitespace="compact")
    least = grammar.matcher().distance().known
    with pytest.raises(grammata.RejectedError) as caught:
        GrammarLogitsProcessor([grammar, bytewise.compile_regex("a")], budget=[least - 1, 9])
    assert caught.value.code == "matcher/budget" and str(least) in caught.value.allowed
    with pytest.raises(grammata.UsageError) as wrong:
        GrammarLogitsProcessor([grammar] * 3, budget=[50, 50])
    assert wrong.value.code == "python/rows"


def test_end_tokens_of_a_call(bytewise):
    processor = GrammarLogitsProcessor(bytewise.compile_regex("a"), end_tokens=[7])
    rows = np.array([PROMPT])
    processor(rows, scores_of(rows))
    rows = np.array([[*PROMPT, 97]])
    assert np.flatnonzero(np.isfinite(processor(rows, scores_of(rows))[0])).tolist() == [7]


def test_tokens_taken_back_are_an_error(bytewise):
    """Assisted generation undoes tokens of a text; a mask of the initial state would be wrong there."""
    processor = GrammarLogitsProcessor(bytewise.compile_regex("a{3,9}"))
    for text in ([], [97], [97, 97], [97, 97, 97]):
        rows = np.array([PROMPT + text])
        processor(rows, scores_of(rows))
    for text in ([97, 97], [97], [97, 98]):
        rows = np.array([PROMPT + text])
        with pytest.raises(grammata.UsageError) as caught:
            processor(rows, scores_of(rows))
        assert caught.value.code == "python/rows-went-back"
    # a prompt that has a part of an earlier output: only `reset` tells it from tokens that were taken back
    processor.reset()
    rows = np.array([[*PROMPT, 97, 97]])
    assert np.flatnonzero(np.isfinite(processor(rows, scores_of(rows))[0])).tolist() == [97]
    rows = np.array([[*PROMPT, 97, 97, 97, 97, 97]])
    processor(rows, scores_of(rows))
    assert generate(processor, [PROMPT])[0].strip("a") == ""
