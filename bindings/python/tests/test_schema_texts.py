"""Schemas keep their text on the way through look-alikes and plug-ins: no number is read as a float of Python."""

from __future__ import annotations

import importlib
import json
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import grammata
import pytest
from grammata import _json
from grammata.compat import llguidance as llg
from grammata.compat import xgrammar as xgr
from grammata.compat.llguidance import sources
from grammata.integrations.vllm.request import Options, source_of

HARD = [
    "123456789.123456789", "0.1234567890123456789", "1e2", "1E+2", "1e400", "-1e-400", "-0", "-0.0", "0.10", "1.0", "10e-1",
    "123456789012345678901234567890", "9007199254740993", "1e0", "100", "0.30000000000000004", "0.3", "2.5e-3",
]  # fmt: skip
"""Numbers that change, or cannot be read, as values of Python."""

CASES = 50


def number(draw: random.Random) -> str:
    if draw.random() < 0.6:
        return draw.choice(HARD)
    digits = "".join(draw.choice("0123456789") for _ in range(draw.randrange(1, 30)))
    text = draw.choice(["", "-"]) + (digits.lstrip("0") or "0")
    if draw.random() < 0.5:
        text += "." + "".join(draw.choice("0123456789") for _ in range(draw.randrange(1, 20)))
    return text + (f"e{draw.randrange(-30, 30)}" if draw.random() < 0.3 else "")


def leaf(draw: random.Random) -> str:
    match draw.randrange(5):
        case 0:
            return f'{{"const": {number(draw)}}}'
        case 1:
            return f'{{"enum": [{", ".join(number(draw) for _ in range(3))}, "é\\ud83d\\ude00/\\/", null]}}'
        case 2:
            return f'{{"type": "number", "minimum": {number(draw)}}}'
        case 3:
            return f'{{"type": "number", "exclusiveMaximum": {number(draw)}, "minimum": -7}}'
        case _:
            # of equal names the last one counts
            return f'{{"const": 1, "const": {number(draw)}}}'


def schema(draw: random.Random) -> str:
    match draw.randrange(3):
        case 0:
            return leaf(draw)
        case 1:
            return f'{{"type": "array", "prefixItems": [{leaf(draw)}, {leaf(draw)}], "minItems": 2, "items": false}}'
        case _:
            members = f'"a": {leaf(draw)}, "b": {leaf(draw)}, "a": {leaf(draw)}'
            return f'{{"type": "object", "properties": {{{members}}}, "required": ["a"], "additionalProperties": false}}'


class Stub:
    """SGLang's classes, as far as the back end uses them."""

    class BaseGrammarBackend:
        def __init__(self) -> None:
            pass

    class BaseGrammarObject:
        def __init__(self) -> None:
            pass

    class GrammarStats:
        def __init__(self, **values: Any) -> None:
            self.values = values

    class InvalidGrammarObject:
        def __init__(self, message: str) -> None:
            self.message = message


@pytest.fixture(scope="module")
def sglang(bytewise: grammata.Compiler) -> Iterator[Any]:
    """The back end for SGLang, with replacements for SGLang's classes and a tokenizer of single bytes."""
    name = "sglang.srt.constrained.base_grammar_backend"
    parents = ["sglang", "sglang.srt", "sglang.srt.constrained"]
    if any(module in sys.modules for module in parents):
        pytest.skip("SGLang is installed: its own tests are those of cargo xtask full sglang")
    module = types.ModuleType(name)
    vars(module).update({key: value for key, value in vars(Stub).items() if not key.startswith("__")})
    package = "grammata.integrations.sglang"
    sys.modules.update({parent: types.ModuleType(parent) for parent in parents} | {name: module})
    try:
        for part in (f"{package}.grammar", f"{package}.backend"):
            sys.modules.pop(part, None)
        backend = importlib.import_module(f"{package}.backend")

        class Backend(backend.GrammataBackend):  # type: ignore[misc,name-defined]
            def _vocabulary(self, special: Any = None) -> grammata.Vocabulary:
                return bytewise.vocabulary

        yield Backend(None, 257)
    finally:
        for part in [*parents, name, f"{package}.grammar", f"{package}.backend"]:
            sys.modules.pop(part, None)


def tag_of(content: str) -> str:
    return f'{{"type": "structural_tag", "format": {content}}}'


def older(text: str) -> str:
    """A tag of the older form with a schema that is a text."""
    return json.dumps({"type": "structural_tag", "structures": [{"begin": "<", "schema": text, "end": ">"}], "triggers": ["<"]})


def compiled_xgrammar(compiler: grammata.Compiler, grammar: Any) -> grammata.CompiledGrammar:
    return compiler.compile(grammar._source)


Door = Callable[[grammata.Compiler, str, Any], grammata.CompiledGrammar]

DOORS: dict[str, tuple[Door, str, str]] = {
    "xgrammar": (lambda c, text, _: compiled_xgrammar(c, xgr.Grammar.from_json_schema(text)), "", ""),
    "xgrammar, in another grammar": (
        lambda c, text, _: compiled_xgrammar(c, xgr.Grammar.concat(xgr.Grammar.from_json_schema(text), xgr.Grammar.from_regex("!"))), "", "!"),
    "xgrammar, read again": (
        lambda c, text, _: compiled_xgrammar(
            c, xgr.Grammar.from_ebnf(str(xgr.Grammar.deserialize_json(xgr.Grammar.from_json_schema(text).serialize_json())))), "", ""),
    "xgrammar, tag": (
        lambda c, text, _: compiled_xgrammar(
            c, xgr.Grammar.from_structural_tag(tag_of(f'{{"type": "json_schema", "json_schema": {text}}}'))), "", ""),
    "xgrammar, tag with a handle": (
        lambda c, text, _: compiled_xgrammar(
            c, xgr.Grammar.from_structural_tag(
                {"type": "structural_tag", "format": {"type": "grammar", "grammar": str(xgr.Grammar.from_json_schema(text))}})), "", ""),
    "xgrammar, StructuralTag": (
        lambda c, text, _: compiled_xgrammar(
            c, xgr.Grammar.from_structural_tag(
                xgr.StructuralTag.from_json(tag_of(f'{{"type": "json_schema", "json_schema": {text}}}')))), "", ""),
    "xgrammar, items": (
        lambda c, text, _: compiled_xgrammar(c, xgr.Grammar.from_structural_tag([xgr.StructuralTagItem("<", text, ">")], ["<"])), "<", ">"),
    "xgrammar, older tag": (lambda c, text, _: compiled_xgrammar(c, xgr.Grammar.from_structural_tag(older(text))), "<", ">"),
    "llguidance": (lambda c, text, _: c.compile(sources.source(llg.LLMatcher.grammar_from_json_schema(text))), "", ""),
    "llguidance, with options": (
        lambda c, text, _: c.compile(sources.source(llg.LLMatcher.grammar_from_json_schema(text, {"whitespace_flexible": True}))), "", ""),
    "llguidance, tag": (
        lambda c, text, _: c.compile(sources.source(llg.StructTag.to_grammar(
            [llg.StructTag(trigger="<", begin="<", grammar=text, end=">")], assume_special=False))), "<", ">"),
    "sglang": (lambda c, text, back: back.dispatch_json(text).compiled, "", ""),
    "sglang, framed": (
        lambda c, text, back: back.compile_framed_grammar(
            back.dispatch_json(text), lambda content: {"type": "structural_tag", "format": {"type": "sequence", "elements": [content]}}
        ).compiled, "", ""),
    "sglang, tag": (
        lambda c, text, back: back.dispatch_structural_tag(tag_of(f'{{"type": "json_schema", "json_schema": {text}}}')).compiled, "", ""),
    "sglang, older tag": (lambda c, text, back: back.dispatch_structural_tag(older(text)).compiled, "<", ">"),
    "vllm": (lambda c, text, _: c.compile(source_of("JSON", text, Options())), "", ""),
    "vllm, older tag": (lambda c, text, _: c.compile(source_of("STRUCTURAL_TAG", older(text), Options())), "<", ">"),
    "vllm, tag": (
        lambda c, text, _: c.compile(
            source_of("STRUCTURAL_TAG", tag_of(f'{{"type": "json_schema", "json_schema": {text}}}'), Options())), "", ""),
}  # fmt: skip
"""The ways of a schema's text to the engine, with the text before and after it."""


@pytest.mark.parametrize("door", DOORS)
def test_schemas_of_hard_numbers_keep_their_masks(door: str, bytewise: grammata.Compiler, sglang: Any) -> None:
    """Words of the schema are words behind each door, with the same masks on the way, and the other way round."""
    compile_, before, after = DOORS[door]
    draw, compared = random.Random(door), 0
    for _ in range(CASES):
        text = schema(draw)
        try:
            plain = bytewise.compile_json_schema(text, whitespace="free")
        except grammata.GrammataError:
            # such as a least number above a greatest one: refused everywhere
            with pytest.raises((grammata.GrammataError, RuntimeError, ValueError, AttributeError)):
                compile_(bytewise, text, sglang)
            continue
        other = compile_(bytewise, text, sglang)
        for word in words_of(plain):
            matcher, theirs = plain.matcher(), other.matcher()
            theirs.accept_bytes(before)
            for byte in word:
                # where the schema's text may end, what follows it may begin
                expected = {ord(after) if after and token == 256 else token for token in matcher.mask()}
                assert set(theirs.mask()) == expected, (text, matcher.bytes)
                matcher.accept_token(byte)
                theirs.accept_token(byte)
            theirs.accept_bytes(after)
            assert theirs.is_accepting(), (text, word)
            compared += 1
    assert compared > CASES


def words_of(grammar: grammata.CompiledGrammar) -> list[bytes]:
    try:
        return [word for word in grammar.sample(3, max_bytes=6000) if isinstance(word, bytes)]
    except grammata.LimitError:
        return []


@pytest.mark.parametrize("door", DOORS)
def test_an_integer_longer_than_python_reads(door: str, bytewise: grammata.Compiler, sglang: Any) -> None:
    compile_, before, after = DOORS[door]
    digits = "9" * 5_000
    matcher = compile_(bytewise, f'{{"const": {digits}}}', sglang).matcher()
    assert matcher.try_accept_bytes(before + digits) and not matcher.accepts_prefix("9")
    assert matcher.accepts_prefix(after)


def test_values_of_python_are_written_as_they_are(bytewise: grammata.Compiler) -> None:
    """A dict has Python's numbers: floats by `repr`, integers of any size."""
    schema = {"enum": [10**400, 0.1, 1e22, -0.0, True, None, "é"]}
    for grammar in (
        compiled_xgrammar(bytewise, xgr.Grammar.from_json_schema(schema)),
        bytewise.compile(sources.source(llg.LLMatcher.grammar_from_json_schema(schema))),
        bytewise.compile(sources.source({"grammars": [{"json_schema": schema}]})),
    ):
        plain = bytewise.compile_json_schema(schema)
        words = plain.enumerate(limit=20)
        assert words == grammar.enumerate(limit=20) and str(10**400).encode() in words
    for wrong in ({"maximum": float("inf")}, {"const": {1, 2}}):
        with pytest.raises(RuntimeError):
            xgr.Grammar.from_json_schema(wrong)
        with pytest.raises(ValueError):  # noqa: PT011
            llg.LLMatcher.grammar_from_json_schema(wrong)
    circular: dict[str, Any] = {}
    circular["not"] = circular
    with pytest.raises(RuntimeError):
        xgr.Grammar.from_json_schema(circular)
    with pytest.raises(ValueError, match="circular"):
        llg.LLMatcher.grammar_from_json_schema(circular)


def test_json_without_loss() -> None:
    """What `dumps` writes of the values of `loads` has the same numbers, names and texts."""
    draw = random.Random(7)
    for _ in range(2_000):
        text = schema(draw)
        again = _json.dumps(_json.loads(text))
        assert _json.loads(again) == _json.loads(text)
        plain = [json.loads(one, parse_int=str, parse_float=str) for one in (text, again)]
        assert plain[0] == plain[1]
    assert _json.dumps({"a": [1, 2.5, "\ud800", "é"], 3: None, "b": (True, {})}) == '{"a": [1, 2.5, "\\ud800", "é"], "3": null, "b": [true, {}]}'
    for wrong in ("NaN", "[Infinity]", "[" * 100_000, "{"):
        with pytest.raises(ValueError):  # noqa: PT011
            _json.loads(wrong)
