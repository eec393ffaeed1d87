"""The plug-in for vLLM without vLLM: sources of requests, budgets of grammars, and settings.

Requests and configurations are objects with the attributes that the plug-in reads. `hosts/vllm` tests it inside vLLM.
"""

import ast
import json
import logging
import random
import re
import sys
from abc import ABC
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy
import pytest

import grammata
from grammata._errors import UsageError
from grammata.integrations import vllm
from grammata.integrations.serving.metrics import Metrics
from grammata.integrations.vllm.budget import Budget
from grammata.integrations.vllm.grammar import Grammar, Rows, without_padding
from grammata.integrations.vllm.plugin import TESTED, _check_selected
from grammata.integrations.vllm.request import Options, pattern_of, source_of
from grammata.integrations.vllm.settings import Settings
from grammata.integrations.vllm.vocabulary import names_a_special, with_text_of_specials

CHARACTERS = [chr(code) for code in range(32, 127)] + ["\n", '{"', '":', "true"]
END = len(CHARACTERS)
OTHER_END = END + 1
MARK = END + 2

SCHEMA = '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}'


@pytest.fixture(scope="module")
def vocabulary() -> grammata.Vocabulary:
    specials = {"<end>": END, "<stop>": OTHER_END, "<|mark|>": MARK}
    return grammata.Vocabulary.from_tokens([*CHARACTERS, None, None, None], specials=specials, eos=[END])


@pytest.fixture(scope="module")
def compiler(vocabulary: grammata.Vocabulary) -> grammata.Compiler:
    return grammata.Compiler(vocabulary)


class Request:
    """The attributes of vLLM's requests that the plug-in reads."""

    def __init__(self, max_tokens: int | None) -> None:
        self.max_tokens = max_tokens
        self.num_output_tokens = 0
        self.num_prompt_tokens = 7


def accepts(compiler: grammata.Compiler, source: grammata.Source, text: str) -> bool:
    matcher = compiler.compile(source).matcher()
    return matcher.try_accept_bytes(text) and matcher.is_accepting()


@pytest.mark.parametrize(
    ("kind", "spec", "accepted", "rejected"),
    [
        ("JSON", SCHEMA, '{ "a" : "b"}', '{"b": 1}'),
        ("JSON_OBJECT", "", '{"x": [1]}', "[1]"),
        ("REGEX", r"\d{2}$", "42", "4"),
        ("GRAMMAR", 'root ::= "a" | "b"', "b", "c"),
        ("GRAMMAR", '# no "::=" here\nstart: "a" | "b"', "b", "c"),
        ("CHOICE", '["yes", "n|o", ""]', "n|o", "n"),
        ("CHOICE", '["yes", "n|o", ""]', "", "o"),
        ("CHOICE", 'root ::= "yes" | "no"', "no", "n"),
        ("STRUCTURAL_TAG", '{"type": "structural_tag", "format": {"type": "const_string", "value": "x"}}', "x", "y"),
        (
            "STRUCTURAL_TAG",
            json.dumps({"structures": [{"begin": "<f>", "schema": SCHEMA, "end": "</f>"}], "triggers": ["<f>"]}),
            'I say <f>{"a": ""}</f>!',
            '<f>{"a": 1}</f>',
        ),
        (
            "STRUCTURAL_TAG",
            json.dumps({"structures": [{"begin": "<f>", "schema": json.loads(SCHEMA), "end": "</f>"}], "triggers": ["<f>"]}),
            '<f>{"a": ""}</f>',
            "<f>",
        ),
    ],
)
def test_every_kind_of_constraint_is_read(
    compiler: grammata.Compiler, kind: str, spec: str, accepted: str, rejected: str
) -> None:
    source = source_of(kind, spec, Options())
    assert accepts(compiler, source, accepted)
    assert not accepts(compiler, source, rejected)


def test_options_of_a_request_hold(compiler: grammata.Compiler) -> None:
    schema = '{"type": "object", "properties": {"a": {"type": "null"}}}'
    texts = ('{ "a":null}', '{"a":null}', '{"a": null}', '{"a":null,"b":1}')

    def found(served: Options, **options: Any) -> list[bool]:
        source = source_of("JSON", schema, served.with_request(SimpleNamespace(**options)))
        return [accepts(compiler, source, text) for text in texts]

    assert found(Options()) == [True, True, True, True]
    assert found(Options(), disable_any_whitespace=True) == [False, True, False, True]
    assert found(Options(), whitespace_pattern=" ?") == [True, True, True, True]
    assert found(Options(), whitespace_pattern="") == [False, True, False, True]
    assert found(Options(), disable_additional_properties=True) == [True, True, True, False]
    assert found(Options("compact", "refused")) == [False, True, False, False]


@pytest.mark.parametrize("pattern", ["x", "(", "(?=x)", "[^a]", r"\s*", "[ ]|1", 3])
def test_a_pattern_of_white_space_that_cannot_hold_is_an_error(pattern: Any) -> None:
    with pytest.raises(grammata.GrammataError, match="whitespace|regex"):
        source_of("JSON", "{}", Options().with_request(SimpleNamespace(whitespace_pattern=pattern))).check()


def test_options_that_contradict_each_other_are_an_error() -> None:
    with pytest.raises(UsageError, match="vllm/whitespace"):
        Options().with_request(SimpleNamespace(whitespace_pattern=" ", disable_any_whitespace=True))


@pytest.mark.parametrize("spec", ["[]", "[1]", '"yes"', "{}", "yes or no"])
def test_a_choice_that_is_not_a_list_of_texts_is_an_error(spec: str) -> None:
    with pytest.raises(UsageError, match="vllm/choice"):
        source_of("CHOICE", spec, Options())


def test_a_kind_that_is_not_known_is_an_error() -> None:
    with pytest.raises(UsageError, match="vllm/constraint"):
        source_of("POEM", "", Options())


def test_choices_are_taken_as_they_are(compiler: grammata.Compiler) -> None:
    choices = ["a.b", "[x]", "(?i)", "\\d", "a b", "^$"]
    source = grammata.Source.regex(pattern_of(choices))
    assert all(accepts(compiler, source, choice) for choice in choices)
    assert not any(accepts(compiler, source, text) for text in ("axb", "x", "1", ""))


def test_names_of_special_tokens_are_text_where_a_grammar_spells_them(vocabulary: grammata.Vocabulary) -> None:
    assert names_a_special("say <|mark|>", vocabulary)
    assert not names_a_special("say <end>", vocabulary)
    spelled = with_text_of_specials(vocabulary)
    matcher = grammata.Compiler(spelled).compile_gbnf('root ::= "<|mark|>x"').matcher()
    assert MARK in matcher.mask()
    assert spelled.eos == [END] and spelled.width == vocabulary.width
    assert MARK not in grammata.Compiler(vocabulary).compile_gbnf('root ::= "<|mark|>x"').matcher().mask()


def made(compiler: grammata.Compiler, request: Request | None = None, schema: str = SCHEMA, **options: Any) -> Grammar:
    budget = None if request is None else Budget.of_request(request, SimpleNamespace())
    return Grammar(compiler.compile_json_schema(schema, **options).matcher(), Rows(), budget)


def ids(text: str) -> list[int]:
    return [CHARACTERS.index(character) for character in text]


def test_tokens_after_the_end_are_ignored_and_do_not_count(compiler: grammata.Compiler) -> None:
    grammar = made(compiler)
    assert grammar.accept_tokens("r", [*ids('{"a":"b"}'), END, 5, 6])
    assert grammar.is_terminated()
    assert grammar.accept_tokens("r", [1, 2, 3])
    assert grammar.validate_tokens([END]) == []
    grammar.rollback(0)
    grammar.rollback(-1)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
    assert grammar.validate_tokens([END, 5]) == [END]
    with pytest.raises(grammata.GrammataError):
        grammar.rollback(100)
    grammar.reset()
    assert grammar.validate_tokens(ids("{")) == ids("{")


def test_refused_tokens_and_padding(compiler: grammata.Compiler, caplog: pytest.LogCaptureFixture) -> None:
    grammar = made(compiler)
    assert without_padding([3, 4, -1, 5]) == [3, 4]
    assert grammar.validate_tokens([*ids('{"x'), -1]) == ids('{"')
    assert grammar.validate_tokens([-1, -1]) == []
    assert grammar.accept_tokens("r", [*ids("{"), -1, -1])
    assert not grammar.accept_tokens("request 7", ids("}"))
    assert "request 7" in caplog.text
    assert not grammar.accept_tokens("r", [10**6])


def test_end_tokens_of_a_request_are_masked_until_the_end(compiler: grammata.Compiler) -> None:
    matcher = compiler.compile_json_schema('{"const": 1}').matcher(end_tokens=[OTHER_END])
    grammar, rows = Grammar(matcher, Rows()), numpy.zeros((1, compiler.vocabulary.mask_words), numpy.int32)
    grammar.fill_bitmask(rows, 0)
    assert allowed(rows[0]) == ids("1")
    assert grammar.accept_tokens("r", ids("1"))
    grammar.fill_bitmask(rows, 0)
    assert OTHER_END in allowed(rows[0]) and END not in allowed(rows[0])
    assert grammar.accept_tokens("r", [OTHER_END]) and grammar.is_terminated()


def allowed(row: Any) -> list[int]:
    return [int(token) for token in numpy.flatnonzero(numpy.unpackbits(row.view(numpy.uint8), bitorder="little"))]


@pytest.mark.parametrize("max_tokens", [9, 10, 11, 15, 40])
def test_outputs_are_complete_within_max_tokens_with_drafts(compiler: grammata.Compiler, max_tokens: int) -> None:
    choose = random.Random(max_tokens)
    words = compiler.vocabulary.mask_words
    for _ in range(20):
        request = Request(max_tokens)
        grammar, rows = made(compiler, request), numpy.zeros((4, words), numpy.int32)
        output: list[int] = []
        while not grammar.is_terminated():
            # as vLLM does: a row for each token of a draft, each accepted provisionally
            draft: list[int] = []
            probe = numpy.zeros((1, words), numpy.int32)
            trial = compiler.compile_json_schema(SCHEMA).matcher()
            assert trial.accept_tokens(output) == len(output)
            for _ in range(choose.choice([0, 3])):
                trial.fill_mask(probe[0])
                draft.append(choose.choice(allowed(probe[0])))
                trial.accept_token(draft[-1])
                if draft[-1] == END:
                    break
            for place, token in enumerate(draft):
                grammar.fill_bitmask(rows, place)
                assert grammar.accept_tokens("r", [token])
            if not grammar.is_terminated():
                grammar.fill_bitmask(rows, len(draft))
            grammar.rollback(len(draft))
            taken: list[int] = []
            for place in range(len(draft) + 1):
                if place == len(draft) and draft and draft[-1] == END:
                    break
                options = allowed(rows[place])
                fits = place < len(draft) and draft[place] in options
                taken.append(draft[place] if fits else choose.choice(options))
                if not fits or len(output) + len(taken) == max_tokens or taken[-1] == END:
                    break
            output += taken
            request.num_output_tokens = len(output)
            assert grammar.accept_tokens("r", taken)
            grammar.commit()
            assert len(output) <= max_tokens
            if len(output) == max_tokens and not grammar.is_terminated():
                # the limit that a text fits only without its end token
                assert max_tokens == compiler.compile_json_schema(SCHEMA).matcher().distance().known
                break
        text = compiler.vocabulary.decode([token for token in output if token != END])
        assert json.loads(text).keys() == {"a"}


def test_thoughts_of_a_draft_count(compiler: grammata.Compiler) -> None:
    request = Request(30)
    budget = Budget.of_request(request, SimpleNamespace(model_config=SimpleNamespace(max_model_len=20)))
    assert budget is not None and budget.total == 13
    grammar = Grammar(compiler.compile_json_schema(SCHEMA).matcher(), Rows(), budget)
    grammar.skip(2)
    assert budget.left(1) == 10
    grammar.commit()
    request.num_output_tokens = 4
    assert budget.left(1) == 8


@pytest.mark.parametrize("max_tokens", [None, 0])
def test_requests_without_a_bound_have_no_budget(max_tokens: int | None) -> None:
    assert Budget.of_request(Request(max_tokens), SimpleNamespace()) is None


def test_a_budget_that_no_text_fits_is_reported(compiler: grammata.Compiler, caplog: pytest.LogCaptureFixture) -> None:
    request = Request(3)
    grammar = made(compiler, request)
    error = grammar.check_budget()
    assert error is not None and error.code == "matcher/budget"
    rows = numpy.zeros((1, compiler.vocabulary.mask_words), numpy.int32)
    grammar.fill_bitmask(rows, 0)
    assert "max_tokens" in caplog.text and allowed(rows[0])
    assert made(compiler, Request(400)).check_budget() is None


def test_a_mask_that_fails_ends_its_request_alone(compiler: grammata.Compiler) -> None:
    class Row:
        def fill_(self, value: int) -> None:
            self.value = value

    grammar, row = made(compiler), Row()
    # the same as for an exceeded limit: masks cannot be written to this object
    grammar.fill_bitmask([row], 0)
    assert row.value == -1
    assert not grammar.accept_tokens("r", ids("{")) and grammar.validate_tokens(ids("{")) == []
    assert not grammar.is_terminated()


def test_settings_are_read() -> None:
    assert Settings.from_environment({}) == Settings()
    assert Settings.from_environment({"GRAMMATA_VLLM_REQUIRED": "1"}).required
    assert Settings.from_environment({"GRAMMATA_VLLM": "auto", "GRAMMATA_VLLM_SLOW_MS": "3"}) == Settings(name="auto", slow_seconds=0.003)
    assert Settings(name="xgrammar").closes_objects and not Settings().closes_objects


INVALID = [
    ("GRAMMATA_VLLM", "outlines"),
    ("GRAMMATA_VLLM_BUDGET", "yes"),
    ("GRAMMATA_VLLM_BUGET", "off"),
    ("GRAMMATA_VLLM_LIMITS", "mask_wrk=1"),
]


@pytest.mark.parametrize(("name", "value"), INVALID)
def test_invalid_settings_are_one_line_of_log(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(name, value)
    with caplog.at_level(logging.INFO):
        vllm.register()
    assert len(caplog.messages) == 1 and "\n" not in caplog.messages[0]
    assert name in caplog.messages[0] and "allowed:" in caplog.messages[0]


@pytest.mark.parametrize(("name", "value"), [*INVALID, ("GRAMMATA_VLLM", "off"), ("GRAMMATA_VLLM_REQUIRED", "yes"), ("OTHER", "")])
def test_a_server_that_requires_grammata_ends(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setenv("GRAMMATA_VLLM_REQUIRED", "1")
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match="this vLLM cannot be extended" if name == "OTHER" else name):
        vllm.register()


def test_a_server_that_selects_another_back_end_is_an_error() -> None:
    for name, fine in (("guidance", ["guidance"]), ("xgrammar", ["xgrammar"]), ("auto", ["auto", "guidance"])):
        for selected in ("auto", "guidance", "xgrammar", "outlines"):
            settings = Settings(name=name)  # type: ignore[arg-type]
            if selected in fine:
                _check_selected(settings, selected)
            else:
                with pytest.raises(UsageError, match=f"--structured-outputs-config.backend {selected}"):
                    _check_selected(settings, selected)


def test_limits_hold_for_reading(compiler: grammata.Compiler) -> None:
    limited = Options(limits={"source_bytes": 9, "pattern_bytes": 9})
    for kind, spec in (("JSON", SCHEMA), ("REGEX", "a" * 10), ("GRAMMAR", 'root ::= "abc"'), ("STRUCTURAL_TAG", "{" + " " * 9 + "}")):
        with pytest.raises(grammata.LimitError):
            source_of(kind, spec, limited).check()
    assert limited.with_request(SimpleNamespace(disable_any_whitespace=True)).limits == limited.limits


def test_cut_and_failed_requests_are_counted(compiler: grammata.Compiler) -> None:
    class Counts(Metrics):
        def __init__(self) -> None:
            self.seen: list[str] = []

        def cut(self) -> None:
            self.seen.append("cut")

        def failed(self, code: str) -> None:
            self.seen.append(code)

        def mask(self, seconds: float) -> None:
            self.seen.append("mask")

    counts, request = Counts(), Request(3)
    matcher = compiler.compile_json_schema(SCHEMA).matcher()
    grammar = Grammar(matcher, Rows(), Budget.of_request(request, SimpleNamespace()), counts)
    rows = numpy.zeros((1, compiler.vocabulary.mask_words), numpy.int32)
    grammar.fill_bitmask(rows, 0)
    grammar.fill_bitmask(rows, 0)
    assert counts.seen == ["cut", "mask", "mask"]
    grammar.fill_bitmask([SimpleNamespace(fill_=lambda value: None)], 0)
    assert len(counts.seen) == 5 and "/" in counts.seen[-1] + counts.seen[-2]


def test_without_vllm_there_is_one_line_of_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.delenv("GRAMMATA_VLLM", raising=False)
    monkeypatch.setitem(sys.modules, "vllm", None)
    with caplog.at_level(logging.INFO):
        vllm.register()
    assert len(caplog.messages) == 1 and "\n" not in caplog.messages[0] and "cannot be extended" in caplog.messages[0]
    caplog.clear()
    monkeypatch.setenv("GRAMMATA_VLLM", "off")
    vllm.register()
    assert not caplog.messages


def stand_in(monkeypatch: pytest.MonkeyPatch, version: str, start: str | None) -> Any:
    """Modules with the names of vLLM that the plug-in replaces. `start` is the name of the method that says where in a
    draft the grammar starts."""
    names = ("vllm", "vllm.v1", "vllm.v1.structured_output", *(f"vllm.v1.structured_output.{part}" for part in PARTS))
    modules = {name: ModuleType(name) for name in names}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    modules["vllm"].__version__ = version  # type: ignore[attr-defined]
    manager, guidance, types, request = (modules[name] for name in names[2:])
    manager.GuidanceBackend = guidance.GuidanceBackend = Counted  # type: ignore[attr-defined]
    guidance.validate_guidance_grammar = guidance.has_guidance_unsupported_json_features = print  # type: ignore[attr-defined]
    request.get_structured_output_key = print  # type: ignore[attr-defined]
    types.StructuredOutputBackend = types.StructuredOutputGrammar = type("Abstract", (ABC,), {})  # type: ignore[attr-defined]
    methods = {name: lambda *arguments: None for name in ("__init__", "_create_grammar", "accept_tokens")}
    if start is not None:
        methods[start] = lambda *arguments: (3, 4) if start == "_get_constraint_bounds" else 3
    manager.StructuredOutputManager = type("StructuredOutputManager", (), methods)  # type: ignore[attr-defined]
    return manager


PARTS = ("backend_guidance", "backend_types", "request")


class Counted:
    """The back end that is replaced."""


@pytest.mark.parametrize(("version", "start"), [("0.32.0+cpu", "_get_constraint_bounds"), ("0.31.0", "_get_constraint_start")])
def test_tested_versions_are_extended(
    version: str, start: str, compiler: grammata.Compiler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    host = stand_in(monkeypatch, version, start)
    with caplog.at_level(logging.INFO, "vllm.grammata"):
        vllm.register()
        vllm.register()
    assert host.GuidanceBackend is not Counted
    lines = [line for line in caplog.messages if "metrics" not in line]
    assert len(lines) == 2 and all(f"vLLM {version}, Python 3." in line for line in lines)
    grammar = made(compiler, Request(30))
    request = SimpleNamespace(structured_output_request=SimpleNamespace(grammar=grammar))
    getattr(host.StructuredOutputManager(SimpleNamespace()), start)(request, [1, 2, 3])
    assert grammar._budget is not None and grammar._budget.unseen == 3


def test_another_version_is_extended_with_a_warning(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    host = stand_in(monkeypatch, "0.99.0", "_get_constraint_bounds")
    vllm.register()
    assert host.GuidanceBackend is not Counted
    assert caplog.messages == ["Grammata was tested with vLLM 0.32.0 and 0.31.0, and not with 0.99.0"]


def test_nothing_is_replaced_if_a_part_is_missing(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    host = stand_in(monkeypatch, "0.99.0", None)
    before = dict(vars(host.StructuredOutputManager))
    vllm.register()
    assert host.GuidanceBackend is Counted and dict(vars(host.StructuredOutputManager)) == before
    assert len(caplog.messages) == 1 and "_get_constraint_bounds" in caplog.messages[0] and "vLLM 0.32.0" in caplog.messages[0]
    monkeypatch.setenv("GRAMMATA_VLLM_REQUIRED", "1")
    with pytest.raises(UsageError, match="_get_constraint_bounds"):
        vllm.register()


@pytest.mark.parametrize("required", [False, True])
def test_an_engine_that_cannot_use_grammata_starts_unless_it_must(
    required: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    host = stand_in(monkeypatch, "0.32.0", "_get_constraint_bounds")
    monkeypatch.setenv("GRAMMATA_VLLM_REQUIRED", str(int(required)))
    vllm.register()
    monkeypatch.setattr(host.StructuredOutputManager, "tokenizer", object(), raising=False)
    model = SimpleNamespace(get_vocab_size=lambda: 10)
    for selected, reason in (("auto", "does not select"), ("guidance", "tokens of this tokenizer")):
        config = SimpleNamespace(structured_outputs_config=SimpleNamespace(backend=selected), model_config=model)
        caplog.clear()
        if required:
            with pytest.raises(UsageError, match=reason):
                host.StructuredOutputManager(config)
        else:
            host.StructuredOutputManager(config)
            assert len(caplog.messages) == 1 and reason in caplog.messages[0]


def test_the_tested_versions_are_those_of_the_suite(root: Path) -> None:
    text = (root / "bindings/python/hosts/vllm/environment.py").read_text(encoding="utf-8")
    found = re.search(r"(?m)^VERSIONS = (.*)$", text)
    assert found is not None and ast.literal_eval(found[1]) == TESTED
