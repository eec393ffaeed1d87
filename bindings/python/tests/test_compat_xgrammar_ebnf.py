"""EBNF as XGrammar 0.2.9 reads it: the outcomes are those of XGrammar itself."""

from __future__ import annotations

import pytest

from grammata.compat import xgrammar as xgr
from grammata.compat.xgrammar.ebnf import to_gbnf
from grammata.compat.xgrammar.testing import _is_grammar_accept_string as accepts

ESCAPES = {
    "b": "\b", "f": "\f", "v": "\v", "a": "\a", "0": "\0", "e": "\x1b", "n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\",
    "/": "/", "'": "'", "?": "?", "x41": "A", "x4": "\x04", "x041f": "\u041f", "x1F600": "\U0001f600", "u0041": "A",
    "U0001F600": "\U0001f600", "x80": "\x80",
}  # fmt: skip


@pytest.mark.parametrize("escape", ESCAPES)
def test_escapes(escape: str) -> None:
    literal, in_class = xgr.Grammar.from_ebnf(f'root ::= "\\{escape}"'), xgr.Grammar.from_ebnf(f"root ::= [\\{escape}]")
    for grammar in (literal, in_class):
        assert accepts(grammar, ESCAPES[escape])
        assert not accepts(grammar, f"\\{escape}")
        assert accepts(xgr.Grammar.from_ebnf(str(grammar)), ESCAPES[escape])


@pytest.mark.parametrize("escape", ["-", "d", "u{41}", "[", "101", "1", "x", "xg", "u004", "ud800", "x110000"])
def test_escapes_that_no_literal_has(escape: str) -> None:
    with pytest.raises(RuntimeError, match="xgrammar/escape"):
        xgr.Grammar.from_ebnf(f'root ::= "\\{escape}"')


@pytest.mark.parametrize("escape", ["d", "w", "u{41}", "101", "1"])
def test_escapes_that_no_class_has(escape: str) -> None:
    with pytest.raises(RuntimeError, match="xgrammar/escape"):
        xgr.Grammar.from_ebnf(f"root ::= [\\{escape}]")


@pytest.mark.parametrize(
    ("grammar", "accepted", "rejected"),
    [
        ('root ::= "a"\n  | "b"\n', ["a", "b"], [""]),
        ('root ::=\n "a"\n "b"\n', ["ab"], ["a"]),
        ('root ::= "a"\n"b" x\nx ::= "c"', ["abc"], ["ab"]),
        ('root ::= "a"\r\n | "b"\r\n', ["a", "b"], ["ab"]),
        ('root ::= "a" # one\n "b" # two\n# three\n\nx ::= "c" # four\n', ["ab"], ["a"]),
        ('root ::= ( # c\n "a" # d\n | "b" ) # e', ["a", "b"], [""]),
        ('root ::= ("a"\n)\n{2}', ["aa"], ["a"]),
        ('root ::= "a"\n*', ["", "aa"], ["b"]),
        ('root::="a"', ["a"], ["b"]),
        ('\n\n  root ::= "a"\n\n', ["a"], ["b"]),
        ('root ::= "a"{0,-1}', ["", "a", "aaa"], ["b"]),
        ('root ::= "a"{2,-1}', ["aa", "aaa"], ["", "a"]),
        ('root ::= "a"{ 1 , 3 }', ["a", "aaa"], ["", "aaaa"]),
        ('root ::= "a"{0}', [""], ["a"]),
        ('root ::= ("a"{1,2}){2}', ["aa", "aaaa"], ["a"]),
        ("root ::= [a] {2}", ["aa"], ["a"]),
        ("root ::= [a\\-z]", ["a", "-", "z"], ["b"]),
        ("root ::= [-a]", ["a", "-"], ["b"]),
        ("root ::= [a-]", ["a", "-"], ["b"]),
        ("root ::= [a-z-9]", ["-", "9", "b"], ["8"]),
        ("root ::= [x\\]z]", ["]", "x", "z"], ["y", "\\"]),
        ("root ::= [\\^a]", ["^", "a"], ["b"]),
        ("root ::= [a^]", ["^", "a"], ["b"]),
        ("root ::= [^a]", ["b", "\n", "é"], ["a"]),
        ("root ::= [\\x61-\\x63]", ["b"], ["d"]),
        ("root ::= [\\x80-\\xff]", ["ÿ"], ["a"]),
        ("root ::= [\\u4e00-\\u9fff]", ["中"], ["a"]),
        ('root ::= "a\tb"', ["a\tb"], ["ab"]),
        ('root ::= a.b a-b\na.b ::= "x"\na-b ::= "y"', ["xy"], ["xx", "yy"]),
        ('root ::= a1-b_c.d\na1-b_c.d ::= "a"', ["a"], ["b"]),
        ('root ::= _a\n_a ::= "a"', ["a"], ["b"]),
        ('root ::= "::= b" | "# c"\n | [#"] ', ["::= b", "# c", "#", '"'], ["b"]),
        ("root ::= ()", [""], ["a"]),
    ],
)
def test_grammars(grammar: str, accepted: list[str], rejected: list[str]) -> None:
    made = xgr.Grammar.from_ebnf(grammar)
    for again in (made, xgr.Grammar.from_ebnf(str(made))):
        assert [text for text in accepted if not accepts(again, text)] == []
        assert [text for text in rejected if accepts(again, text)] == []


@pytest.mark.parametrize(
    "grammar",
    ['root ::= "a"{,3}', 'root ::= "a"{1,0}', 'root ::= "a"{1,-2}', 'root ::= "a"{-1}', "root ::= 'a'",
     'root ::= [z-a]', 'root ::= "a"\nroot ::= "b"', 'x ::= "a"', 'root ::= "a" b b ::= "x"'],
)  # fmt: skip
def test_grammars_that_xgrammar_refuses(grammar: str) -> None:
    with pytest.raises(RuntimeError):
        xgr.Grammar.from_ebnf(grammar)


def test_lines_keep_their_numbers() -> None:
    """An error names the line of the text that was given."""
    with pytest.raises(RuntimeError, match="line 5"):
        xgr.Grammar.from_ebnf('root ::= "a" # one\n  | "b"\n\n# two\nx ::= y\n')
    assert to_gbnf('root ::= "a"\nx ::= "b"\n') == 'root ::= "a"\nx ::= "b"\n'


def test_triggers_have_escapes() -> None:
    grammar = xgr.Grammar.from_ebnf('root ::= TagDispatch(("<\\/a\\>", x.y))\nx.y ::= "1"'.replace("\\>", ">"))
    assert accepts(grammar, "b</a>1") and not accepts(grammar, "b</a>2")
