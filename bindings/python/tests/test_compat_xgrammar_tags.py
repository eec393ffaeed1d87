"""`grammata.compat.xgrammar`: lazy compilation, tokens of jumps, notations in tags, and bad input for each."""

from typing import Any

import pytest
from grammata.compat import xgrammar as xgr
from grammata.compat.xgrammar.testing import _get_masked_tokens_from_bitmask, _is_grammar_accept_string, _json_schema_to_ebnf


def matcher_of(tokens: list[str], grammar: str, **options: Any) -> xgr.GrammarMatcher:
    info = xgr.TokenizerInfo(tokens, stop_token_ids=options.pop("stop_token_ids", None))
    return xgr.GrammarMatcher(xgr.GrammarCompiler(info).compile_grammar(grammar), **options)


def test_dynamic_compilation_has_no_effect() -> None:
    info = xgr.TokenizerInfo(["a", "b", "</s>"])
    sizes = []
    for dynamic in (False, True):
        compiled = xgr.GrammarCompiler(info, enable_dynamic_compilation=dynamic).compile_regex("ab")
        sizes.append(compiled.memory_size_bytes)
    assert sizes[0] == sizes[1]
    with pytest.raises(TypeError, match="enable_dynamic_compilation is a bool, not str"):
        xgr.GrammarCompiler(info, enable_dynamic_compilation="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tokens", "grammar", "expected"),
    [
        (["no", "w"], 'root ::= "now" [!?]', [0, 1]),
        (["no", "w", "wx"], 'root ::= "now" [!?]', [0]),
        (["now", "nowhere"], 'root ::= "now"', []),
        (["n", "o"], "root ::= [no]", []),
        ([], 'root ::= "n"', []),
    ],
)
def test_tokens_of_jumps(tokens: list[str], grammar: str, expected: list[int]) -> None:
    matcher = matcher_of(tokens, grammar)
    assert matcher.find_jump_forward_tokens() == expected
    assert all(matcher.accept_token(token) for token in expected)


def test_jumps_after_the_end_and_with_other_stop_tokens() -> None:
    matcher = matcher_of(["n", "no"], 'root ::= "n"', override_stop_tokens=[1])
    assert matcher.find_jump_forward_tokens() == [0]
    assert matcher.accept_token(0) and matcher.find_jump_forward_tokens() == []
    assert matcher.accept_token(1) and matcher.find_jump_forward_tokens() == []
    matcher.rollback(2)
    assert matcher.find_jump_forward_tokens() == [0]


def test_stop_tokens_are_not_allowed_without_them() -> None:
    tokens = ["a", *[f"<{place}>" for place in range(30)], "</s>", "b"]
    matcher = matcher_of(tokens, 'root ::= "a" "b"?', stop_token_ids=[31], terminate_without_stop_token=True)
    assert matcher.accept_token(0) and matcher.is_terminated()
    bitmask = xgr.allocate_token_bitmask(1, len(tokens))
    assert matcher.fill_next_token_bitmask(bitmask)
    assert sorted(set(range(len(tokens))) - set(_get_masked_tokens_from_bitmask(bitmask, len(tokens)))) == [32]
    assert not matcher.accept_token(31) and matcher.accept_token(32)


def test_the_syntax_of_grammars_in_tags() -> None:
    def tag(**fields: Any) -> xgr.Grammar:
        return xgr.Grammar.from_structural_tag({"type": "structural_tag", "format": {"type": "grammar", **fields}})

    assert _is_grammar_accept_string(tag(grammar='start: "a"', syntax="lark"), "a")
    assert _is_grammar_accept_string(tag(grammar='root ::= "a"', syntax="ebnf"), "a")
    with pytest.raises(RuntimeError, match="lark/"):
        tag(grammar='root ::= "a"', syntax="lark")
    with pytest.raises(RuntimeError, match="gbnf/"):
        tag(grammar='start: "a"', syntax="ebnf")
    with pytest.raises(xgr.InvalidStructuralTagError, match="(?s)unknown-syntax.*allowed: ebnf, lark.*did you mean `lark`"):
        tag(grammar='start: "a"', syntax="larc")
    union = xgr.Grammar.union(xgr.Grammar.from_lark('start: "a"'), xgr.Grammar.from_ebnf('root ::= "b"'))
    assert _is_grammar_accept_string(union, "a") and _is_grammar_accept_string(union, "b")


def test_the_style_gemma() -> None:
    schema = {"type": "object", "properties": {"s": {"type": "string", "maxLength": 3}, "l": {"type": "array"}}}
    grammar = _json_schema_to_ebnf(schema, json_format="gemma")
    assert _is_grammar_accept_string(grammar, '{s:<|"|>a"\n<|"|>, l:[1,<|"|><|"|>,{k:null}]}')
    assert not _is_grammar_accept_string(grammar, '{"s":"a"}')
    assert not _is_grammar_accept_string(grammar, '{s:<|"|>abcd<|"|>}')
    with pytest.raises(RuntimeError, match="(?s)json-schema/bare-name.*found: a:b.*help: "):
        _json_schema_to_ebnf({"type": "object", "properties": {"a:b": {}}}, json_format="gemma")


def test_separators_that_ask_for_white_space() -> None:
    assert _is_grammar_accept_string(xgr.Grammar.from_json_schema({}, separators=(",", ":")), "[1 , 2]")
    with pytest.raises(RuntimeError, match=r"(?s)separators=\(', ', ': '\) are not supported with any_whitespace=True"):
        xgr.Grammar.from_json_schema({}, separators=(", ", ": "))
