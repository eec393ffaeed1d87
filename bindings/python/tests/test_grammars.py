"""Grammars of every notation, and Python types as schemas."""

import enum
import json
import sys
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import grammata
import pydantic
import pytest


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


@dataclass
class Pet:
    name: str
    colour: Colour = Colour.RED


@dataclass
class Person:
    name: str
    age: int | None
    pets: list[Pet] = field(default_factory=list)
    parent: Optional["Person"] = None


class Address(TypedDict):
    street: str
    number: NotRequired[int]


class Order(pydantic.BaseModel):
    item: str
    count: Annotated[int, pydantic.Field(ge=1, le=9)]
    due: date


def accepts(grammar: grammata.CompiledGrammar, value: Any) -> bool:
    text = value if isinstance(value, str) else json.dumps(value)
    matcher = grammar.matcher()
    try:
        matcher.accept_bytes(text)
    except grammata.RejectedError:
        return False
    return matcher.is_accepting()


CASES = [
    ({"type": "integer", "minimum": 3}, [3, 10], [2, "x"]),
    ('{"const": [1, true]}', [[1, True]], [[1]]),
    (True, [{}, 1, None], []),
    (Literal["a", 3, None], ["\"a\"", 3, None], ["\"b\"", 4]),
    (Colour, ['"red"'], ['"blue"', 1]),
    (Pet, [{"name": "Rex"}, {"name": "", "colour": "green"}], [{}, {"name": 1}, {"name": "", "more": 1}]),
    (
        Person,
        [{"name": "A", "age": None}, {"name": "A", "age": 3, "pets": [{"name": "R"}], "parent": {"name": "B", "age": 1}}],
        [{"name": "A"}, {"name": "A", "age": "x"}, {"name": "A", "age": 1, "parent": {}}],
    ),
    (Address, [{"street": "x"}, {"street": "x", "number": 4}], [{"number": 4}, {"street": 1}]),
    (list[int], [[], [1, 2]], [["a"], 1]),
    (dict[str, bool], [{}, {"a": True}], [{"a": 1}]),
    (tuple[int, str], [[1, "a"]], [[1], [1, "a", 2], ["a", 1]]),
    (tuple[int, ...], [[], [1, 2, 3]], [["a"]]),
    (int | str | None, [1, '"a"', None], [1.5, []]),
    (float, [1.5, 2], ['"a"']),
    (Any, [1, [None]], []),
    (list, [[], [1, "a"]], [{}]),
    (
        Order,
        [{"item": "x", "count": 3, "due": "2024-02-29"}],
        [{"item": "x", "count": 10, "due": "2024-02-29"}, {"item": "x", "count": 3, "due": "2023-02-29"}],
    ),
    (list[Order], [[], [{"item": "x", "count": 3, "due": "2024-02-29"}]], [[{"item": "x"}]]),
    (Annotated[int, pydantic.Field(gt=5)], [6], [5]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), CASES, ids=[str(case[0]) for case in CASES])
def test_schemas(bytewise, schema, valid, invalid):
    grammar = bytewise.compile_json_schema(schema)
    assert all(accepts(grammar, one) for one in valid)
    assert not any(accepts(grammar, one) for one in invalid)


def test_a_type_without_a_schema(bytewise):
    for wrong in (object(), 3.5, {1, 2}, None):
        with pytest.raises(grammata.UsageError) as caught:
            bytewise.compile_json_schema(wrong)
        assert caught.value.code == "python/type"
    with pytest.raises(grammata.UsageError) as caught:
        bytewise.compile_json_schema({"const": float("nan")})
    assert caught.value.code == "python/not-json"
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(grammata.UsageError) as caught:
        bytewise.compile_json_schema({"enum": loop})
    assert caught.value.code == "python/not-json"


def test_what_is_seen(bytewise):
    """The texts of `repr`."""
    grammar = bytewise.compile_regex("a")
    assert repr(bytewise) == "<grammata.Compiler: for 257 tokens>"
    assert repr(grammar).startswith("<grammata.CompiledGrammar: ") and "0 masks" in repr(grammar)
    assert repr(grammata.GrammarCache(bytewise)) == "<grammata.GrammarCache: 0 grammars, 0 bytes>"
    mask = grammar.matcher().mask()
    assert list(mask) == mask.ids() == [97]
    assert accepts(bytewise.compile_json_schema(type(None)), "null")
    for kind in (grammata.GrammarError, grammata.UsageError, grammata.Diagnostic):
        assert kind.__module__ == "grammata"


def test_without_pydantic(bytewise, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic", None)
    assert accepts(bytewise.compile_json_schema(Person), {"name": "A", "age": 1})
    with pytest.raises(grammata.UsageError) as caught:
        bytewise.compile_json_schema(Order)
    assert caught.value.code == "python/type" and "pydantic" in caught.value.help


def test_options_of_schemas(bytewise):
    two = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a", "b"]}
    assert not accepts(bytewise.compile_json_schema(two), '{"b":1,"a":2}')
    assert accepts(bytewise.compile_json_schema(two, property_order="any"), '{"b":1,"a":2}')
    assert not accepts(bytewise.compile_json_schema(two, whitespace="compact"), '{"a": 1, "b": 2}')
    assert accepts(bytewise.compile_json_schema(two, whitespace="max=1"), '{"a": 1, "b": 2}')
    assert not accepts(bytewise.compile_json_schema(two, whitespace="max=1"), '{"a":  1, "b": 2}')
    assert accepts(bytewise.compile_json_schema(two, whitespace="pattern= ?"), '{"a": 1, "b": 2 }')
    assert not accepts(bytewise.compile_json_schema(two, numbers="plain"), '{"a": 1e0, "b": 2}')
    assert not accepts(bytewise.compile_json_schema({"type": "integer"}, max_digits=3), "1234")
    dated = {"type": "string", "format": "date"}
    assert not accepts(bytewise.compile_json_schema(dated), '"x"')
    assert accepts(bytewise.compile_json_schema(dated, formats="annotate"), '"x"')
    elsewhere = {"$ref": "https://example.com/a.json"}
    for document in ({"const": 1}, '{"const": 1}'):
        grammar = bytewise.compile_json_schema(elsewhere, documents={"https://example.com/a.json": document})
        assert accepts(grammar, "1") and not accepts(grammar, "2")
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_json_schema(elsewhere)
    assert "documents=" in caught.value.help
    for name, value in (("whitespace", "much"), ("property_order", "x"), ("formats", "x"), ("numbers", "x")):
        with pytest.raises(grammata.UsageError) as caught:
            bytewise.compile_json_schema(two, **{name: value})
        assert caught.value.code == "python/option" and name in str(caught.value)


def test_documents_are_asked_for(bytewise):
    schema = {"anyOf": [{"$ref": "https://a/x.json"}, {"$ref": "https://a/y.json#/$defs/z"}, {"$ref": "https://a/x.json"}]}
    store = {"https://a/x.json": {"const": 1}, "https://a/y.json": '{"$defs": {"z": {"$ref": "https://a/x.json"}}}'}
    asked: list[str] = []

    def resolve(uri: str) -> Any:
        asked.append(uri)
        return store[uri]

    grammar = bytewise.compile_json_schema(schema, documents=resolve)
    assert accepts(grammar, "1") and not accepts(grammar, "2")
    assert sorted(asked) == sorted(store)
    source = grammata.Source.json_schema(schema, documents=resolve)
    assert source == source and source != grammata.Source.json_schema(schema, documents=resolve)
    cache = grammata.GrammarCache(bytewise)
    assert accepts(cache.get(source), "1") and accepts(cache.get(source), "1") and len(asked) == 4


def test_a_callable_for_documents_that_raises(bytewise):
    def compile_with(resolve: Any) -> None:
        bytewise.compile_json_schema({"items": {"$ref": "urn:a"}}, documents=resolve)

    def missing(uri: str) -> Any:
        raise LookupError(f"no {uri} here")

    def interrupted(uri: str) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(grammata.GrammarError) as caught:
        compile_with(missing)
    assert caught.value.code == "json-schema/remote-reference" and caught.value.place == "#/items/$ref"
    assert "no urn:a here" in caught.value.found and isinstance(caught.value.__cause__, LookupError)
    with pytest.raises(KeyboardInterrupt):
        compile_with(interrupted)
    for wrong in (lambda uri: object(), lambda uri: "{", lambda: {}):
        with pytest.raises(grammata.GrammarError) as caught:
            compile_with(wrong)
        assert caught.value.code == "json-schema/remote-reference" and caught.value.__cause__
    with pytest.raises(TypeError):
        compile_with(3)
    cache = grammata.GrammarCache(bytewise)
    with pytest.raises(grammata.GrammarError) as caught:
        cache.get(grammata.Source.json_schema({"$ref": "urn:a"}, documents=missing))
    assert isinstance(caught.value.__cause__, LookupError) and len(cache) == 0


def test_regular_expressions(bytewise):
    assert accepts(bytewise.compile_regex("a|bc"), "bc")
    assert accepts(bytewise.compile_regex("A", case_insensitive=True), "a")
    assert accepts(bytewise.compile_regex("a.c", dot_matches_newline=True), "a\nc")
    assert not accepts(bytewise.compile_regex("a.c"), "a\nc")
    assert not accepts(bytewise.compile_regex(r"\d", ascii_classes=True), "٣")
    assert accepts(bytewise.compile_regex("b", search=True), "abc")
    assert accepts(bytewise.compile_regex(r"\cA", dialect="ecma"), "\x01")
    assert bytewise.compile_regex(r"(?-u:\xff)", unicode=False).matcher().forced_bytes() == b"\xff"


def test_gbnf_with_special_tokens_and_triggers(compiler, vocabulary):
    end = vocabulary.special_id("<|im_end|>")
    grammar = compiler.compile_gbnf('root ::= "a" <|im_end|> "b"')
    matcher = grammar.matcher()
    matcher.accept_bytes("a")
    assert matcher.mask().ids() == [end]
    matcher.accept_token(end)
    assert matcher.forced_bytes() == b"b"
    assert compiler.compile_gbnf('start ::= "x"', root="start").matcher().forced_bytes() == b"x"


def test_structural_tags(compiler, vocabulary):
    end = vocabulary.special_id("<|im_end|>")
    call = {"begin": "<call>", "content": {"type": "json_schema", "json_schema": {"const": 1}}, "end": "</call>"}
    tag = {
        "type": "structural_tag",
        "format": {
            "type": "sequence",
            "elements": [
                {"type": "triggered_tags", "triggers": ["<call>"], "tags": [call]},
                {"type": "token", "token": "<|im_end|>"},
            ],
        },
    }
    for form in (tag, json.dumps(tag)):
        matcher = compiler.compile_structural_tag(form).matcher()
        matcher.accept_bytes("see <call>1</call>")
        assert end in matcher.mask().ids()
        matcher.accept_token(end)
        assert matcher.is_accepting()
    assert grammata.Source.structural_tag(tag).notation == "structural-tag"
    older = {"structures": [{"begin": "<f>", "schema": {"const": 1}, "end": ";"}], "triggers": ["<f"]}
    assert accepts(compiler.compile_structural_tag(older), "a <f>1; b")
    with pytest.raises(grammata.GrammarError) as caught:
        compiler.compile_structural_tag({"type": "structural_tag", "format": {"type": "any"}})
    assert caught.value.code == "structural-tag/unknown-format" and caught.value.place == "#/format/type"


def test_specs(bytewise):
    spec = {"kind": "cfg", "start": "s", "symbols": {"a": "ab", "b": "c"}, "rules": {"s": ["a s b", ""]}}
    for form in (spec, json.dumps(spec)):
        grammar = bytewise.compile_spec(form)
        assert accepts(grammar, "ababcc") and not accepts(grammar, "abab")
    text = """
[parameters]
n = { type = "integer", default = 1 }
# ---
kind = "dfa"
start = "0"
accepting = ["{{ n }}"]
symbols = ["a"]
{% for i in range(n) %}
[[transitions]]
from = "{{ i }}"
input = "a"
to = "{{ i + 1 }}"
{% endfor %}
"""
    assert accepts(bytewise.compile_spec(text), "a")
    assert accepts(bytewise.compile_spec(text, parameters={"n": 3}), "aaa")


def test_grammars_know_themselves(compiler, vocabulary):
    grammar = compiler.compile_json_schema({"type": "string", "format": "no-such"})
    assert grammar.vocabulary == vocabulary
    assert [warning.code for warning in grammar.warnings]
    grammar.matcher().mask()
    statistics = grammar.statistics()
    assert statistics["masks_computed"] == 1 and sum(statistics["strategies"].values()) > 0
    assert statistics["distances"] == 0 and statistics["cache_bytes"] > 0
    grammar.matcher().distance()
    assert grammar.statistics()["distances"] > 0
    assert grammar.memory_usage() > 0
    assert compiler.memory_usage() > 0
    compiler.detached().compile_regex("a")
    compiler.clear_cache()


def test_cache(bytewise):
    cache = grammata.GrammarCache(bytewise)
    source = grammata.Source.json_schema(Person)
    assert source == grammata.Source.json_schema(Person) and source.notation == "json-schema"
    assert source != grammata.Source.json_schema(Person, property_order="any")
    grammar = cache.get(source)
    grammar.matcher().mask()
    assert cache.get(grammata.Source.json_schema(Person)).statistics()["masks_computed"] == 1
    assert len(cache) == 1 and cache.memory_usage() > 0
    with pytest.raises(grammata.GrammarError):
        cache.get(grammata.Source.regex("("))
    assert len(cache) == 1
    cache.clear()
    assert len(cache) == 0
    small = grammata.GrammarCache(bytewise, max_bytes=1)
    small.get(grammata.Source.gbnf('root ::= "a"'))
    small.get(grammata.Source.spec({"kind": "cfg", "start": "s", "symbols": ["a"], "rules": {"s": ["a"]}}))
    assert len(small) == 0


def test_limits(vocabulary):
    with pytest.raises(grammata.LimitError):
        grammata.Compiler(vocabulary, limits={"pattern_bytes": 3}).compile_regex("abcd")
    for wrong in ({"no_such": 1}, {"cache_bytes": "x"}, {"cache_bytes": -1}, 3):
        with pytest.raises(grammata.UsageError) as caught:
            grammata.Compiler(vocabulary, limits=wrong)
        assert caught.value.code == "python/limits"


def test_sources_are_read_without_a_vocabulary() -> None:
    assert grammata.Source.gbnf('root ::= "a"').check() == []
    assert [warning.code for warning in grammata.Source.json_schema({"titel": 1}).check()] == ["json-schema/unknown-keyword"]
    with pytest.raises(grammata.GrammarError) as raised:
        grammata.Source.regex("(a").check()
    assert raised.value.code == "regex/unclosed-group"
    with pytest.raises(grammata.LimitError):
        grammata.Source.gbnf('root ::= "' + "a" * 1000 + '"', limits={"source_bytes": 100}).check()
