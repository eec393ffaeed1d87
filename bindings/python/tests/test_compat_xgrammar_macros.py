"""Macros of XGrammar's EBNF, named grammars of Lark, and grammars as JSON."""

from __future__ import annotations

import numpy as np
import pytest

from grammata.compat import xgrammar as xgr
from grammata.compat.xgrammar.exception import InvalidJSONError
from grammata.compat.xgrammar.testing import _is_grammar_accept_string as accepts


@pytest.mark.parametrize(
    ("grammar", "accepted", "rejected"),
    [
        ('root ::= "x" Regex("[0-9]+\\\\.") "y"', ["x12.y"], ["xy", "x1y", "x1ay"]),
        ('root ::= Regex("a.b")', ["a\nb"], ["ab"]),
        ('root ::= Regex("a.b", flags="i")', ["AxB"], ["A\nB"]),
        ('root ::= Regex("\\\\S+", json_string=true)', ["a.b"], ['a"b', "a b", "a\\b"]),
        ('root ::= Substring("ab", "", "c", "\\0") "!"', ["!", "abc!", "c\0!"], ["a!", "ab\0!"]),
        ("root ::= Substring()", [""], ["a"]),
        ('root ::= "<" r ">"\nr[lazy, temperature=0.5] ::= [a-z]+', ["<a>"], ["<ab>", "<>"]),
    ],
)
def test_macros(grammar: str, accepted: list[str], rejected: list[str]) -> None:
    made = xgr.Grammar.from_ebnf(grammar)
    for again in (made, xgr.Grammar.from_ebnf(str(made)), xgr.Grammar.deserialize_json(made.serialize_json())):
        assert all(accepts(again, text) for text in accepted)
        assert not any(accepts(again, text) for text in rejected)


@pytest.mark.parametrize(
    "call",
    ["Regex()", 'Regex("a", "b")', "Regex(a)", 'Regex("a", flags="m")', 'Regex("a", json_string="yes")', 'Regex("a", other=true)',
     "Substring(a)", 'Substring("a", 1)', 'Substring("a", other=true)'],
)  # fmt: skip
def test_calls_that_cannot_be_read(call: str) -> None:
    with pytest.raises(RuntimeError, match="xgrammar/macro"):
        xgr.Grammar.from_ebnf(f"root ::= {call}")


def test_named_grammars() -> None:
    number = xgr.Grammar.from_regex("[0-9]+")
    flag = xgr.Grammar.from_lark('start: "y" | "n"')
    pair = 'start: @number ":" @flag  // @other is a comment, "@other" a literal'
    grammar = xgr.Grammar.from_lark('start: "@pair" @pair', named_grammars={"pair": pair, "number": number, "flag": flag})
    assert accepts(grammar, "@pair12:y")
    assert not accepts(grammar, "@pair12:12")


def test_named_grammars_that_cannot_be_read() -> None:
    with pytest.raises(RuntimeError, match="circular named grammar reference: @a -> @b -> @a"):
        xgr.Grammar.from_lark("start: @a", named_grammars={"a": "start: @b", "b": "start: @a"})
    with pytest.raises(RuntimeError, match="unknown grammar @b; known grammars: @a"):
        xgr.Grammar.from_lark("start: @b", named_grammars={"a": 'start: "x"'})
    with pytest.raises(RuntimeError, match="cannot be a part"):
        xgr.Grammar.from_lark("start: @a", named_grammars={"a": xgr.Grammar.from_regex("\\\\d")})
    with pytest.raises(TypeError, match="dictionary"):
        xgr.Grammar.from_lark("start: @a", named_grammars=["a"])
    with pytest.raises(TypeError, match="texts in Lark"):
        xgr.Grammar.from_lark("start: @a", named_grammars={"a": 1})
    with pytest.raises(RuntimeError, match="not a name of a grammar"):
        xgr.Grammar.from_lark("start: @a", named_grammars={"a b": "start:"})


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"grammata": 1}', '{"grammata": ["lark", 1, {}]}'])
def test_json_that_is_no_grammar(text: str) -> None:
    with pytest.raises((InvalidJSONError, RuntimeError)):
        xgr.Grammar.deserialize_json(text)


def test_a_bitmask_that_is_too_short_is_warned_of() -> None:
    logits, bitmask = np.ones((1, 70), dtype=np.float32), np.zeros((1, 2), dtype=np.int32)
    with pytest.warns(UserWarning, match="64 of 70 tokens"):
        xgr.apply_token_bitmask_inplace(logits, bitmask)
    assert np.isinf(logits[0, :64]).all()
    assert np.isfinite(logits[0, 64:]).all()
    with pytest.raises(ValueError, match="indices"):
        xgr.apply_token_bitmask_inplace(logits, bitmask, vocab_size=64, indices=[-1])
