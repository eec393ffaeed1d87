"""The words of a grammar: their number, a list, and random ones."""

from __future__ import annotations

import collections
import json

import grammata
import pytest

PERSON = {
    "type": "object", "required": ["name"], "additionalProperties": False,
    "properties": {"name": {"type": "string", "pattern": "^[a-z]{1,8}$"}, "age": {"type": "integer", "minimum": 0, "maximum": 120}},
}  # fmt: skip


def test_counts(bytewise: grammata.Compiler) -> None:
    assert bytewise.compile_regex("[ab]{1,3}").count() == 14
    assert bytewise.compile_regex("[ab]*").count() is None
    # an integer of 6,000 digits, which Python does not read from a text
    assert bytewise.compile_regex("[0-9]{6000}").count() == 10**6000
    with pytest.raises(grammata.LimitError):
        grammata.Compiler(bytewise.vocabulary, limits={"words_work": 10}).compile_regex("[ab]{1,300}").count()


def test_lists(bytewise: grammata.Compiler) -> None:
    grammar = bytewise.compile_regex("a|bb|c?")
    assert grammar.enumerate() == [b"", b"a", b"bb", b"c"]
    assert grammar.enumerate(limit=2, offset=1) == [b"a", b"bb"]
    assert grammar.enumerate(limit=0) == grammar.enumerate(offset=9) == []
    assert bytewise.compile_regex("(ab|b)+").enumerate(limit=4) == [b"b", b"ab", b"bb", b"abb"]


def test_token_terminals(bytewise: grammata.Compiler) -> None:
    grammar = bytewise.compile_gbnf('root ::= "a" <end> "b" | "c"')
    words = [(b"a", "<end>", b"b"), b"c"]
    assert grammar.enumerate() == words and grammar.count() == 2
    assert set(grammar.sample(40)) == set(words)


@pytest.mark.parametrize("uniform", [False, True])
def test_samples_are_words(bytewise: grammata.Compiler, uniform: bool) -> None:
    grammar = bytewise.compile_json_schema(PERSON, whitespace="compact")
    words = grammar.sample(50, max_bytes=30, uniform=uniform)
    assert len(words) == 50 and all(isinstance(word, bytes) and len(word) <= 30 for word in words)
    for word in words:
        matcher = grammar.matcher()
        matcher.accept_bytes(word)
        assert matcher.is_accepting() and "name" in json.loads(word)
    assert words == grammar.sample(50, max_bytes=30, uniform=uniform)
    assert words != grammar.sample(50, max_bytes=30, uniform=uniform, seed=1)


def test_distributions(bytewise: grammata.Compiler) -> None:
    grammar = bytewise.compile_regex("a|b[0-9]{2}")
    walks = collections.Counter(grammar.sample(2_000))
    assert 850 < walks[b"a"] < 1_150
    words = collections.Counter(grammar.sample(5_000, uniform=True))
    assert len(words) == 101 and max(words.values()) < 100


def test_bounds(bytewise: grammata.Compiler) -> None:
    grammar = bytewise.compile_regex("(abc){4}")
    assert grammar.sample(max_bytes=12) == [b"abcabcabcabc"]
    for uniform in (False, True):
        with pytest.raises(grammata.UsageError) as caught:
            grammar.sample(max_bytes=11, uniform=uniform)
        assert caught.value.code == "automaton/no-word" and "12 bytes" in caught.value.found
        assert "max_bytes" in caught.value.help
    assert grammar.sample(0) == []


def test_grammars_of_mask_files(bytewise: grammata.Compiler) -> None:
    loaded = bytewise.load_bytes(bytewise.compile_regex("a|b").to_bytes())
    assert loaded.count() == 2 and loaded.enumerate() == [b"a", b"b"] and loaded.sample(seed=3)[0] in (b"a", b"b")
