"""Exceptions: their fields, their text, and pickling."""

import pickle

import grammata
import pytest


# what the program `grammata` prints, with the place of a text in that of a file
PRINTED = r"""error[regex/unclosed-group] unclosed group
  at: line 1, column 1
  1 | (a
    | ^
  found: (
  help: close the group with `)`, or write `\(` for the character"""


def test_they_print_as_the_program_does(bytewise):
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_regex("(a")
    error = caught.value
    assert str(error) == PRINTED
    assert isinstance(error, grammata.GrammataError)
    first = error.diagnostic
    assert (first.code, first.line, first.column, first.found) == ("regex/unclosed-group", 1, 1, "(")
    assert (error.code, error.place, error.found, error.allowed, error.help) == (
        first.code,
        "line 1, column 1",
        first.found,
        first.allowed,
        first.help,
    )


def test_several_of_one_source(bytewise):
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_gbnf('root ::= a b\n')
    assert [one.code for one in caught.value.diagnostics] == ["gbnf/undefined-rule"] * 2
    assert str(caught.value).count("error[") == 2 and not caught.value.is_cut
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_gbnf("root ::= " + " ".join(f"rule-{i}" for i in range(99)))
    assert caught.value.is_cut and str(caught.value).endswith("reading stopped here")


def test_places_of_schemas(bytewise):
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_json_schema({"properties": {"a": {"type": "strin"}}})
    assert caught.value.diagnostic.pointer == "/properties/a/type"
    assert caught.value.place == "#/properties/a/type"


def test_they_travel_between_processes(bytewise):
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_regex("(")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is grammata.GrammarError
    assert (str(again), again.diagnostics) == (str(caught.value), caught.value.diagnostics)


def test_control_characters_are_escaped(bytewise):
    name = "a\x1b[31mX\x1b]0;pwn\x07\x9b\u202e\nerror[x] forged"
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_json_schema({"properties": {name: {"minimum": "x"}}})
    error = caught.value
    shown = r"a\u{1b}[31mX\u{1b}]0;pwn\u{7}\u{9b}\u{202e}\nerror[x] forged"
    assert error.place == f"#/properties/{shown}/minimum"
    assert shown in str(error)
    assert all(line == line.strip("\x1b\x07\x9b\u202e") and not line.startswith("error[x]") for line in str(error).split("\n"))
    assert not set(str(error)) & set("\x1b\x07\x9b\u202e")
    # the pointer is data, as the document has it
    assert error.diagnostic.pointer == f"/properties/{name}/minimum"


def test_look_around_in_lark(bytewise):
    source = "start: NAME\nNAME.2: /(?!or$)[a-z]+/\n"
    for dialect in ["rust", "ecma"]:
        grammar = bytewise.compile_lark(source, dialect=dialect)
        assert [warning.code for warning in grammar.warnings] == ["lark/priority"]
        assert grammar.matcher().explain(b"ore").may_end and not grammar.matcher().explain(b"or").may_end
    # what a terminal looks at outside of its own text is refused
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_lark("start: AND NAME\nAND: /and\\b/\nNAME: /[a-z]+/\n")
    assert caught.value.code == "regex/looks-outside"
    with pytest.raises(grammata.UsageError):
        bytewise.compile_lark(source, dialect="perl")


def test_small_slips_are_named(bytewise, root):
    """A file's name in place of a schema, a folder in place of a tokenizer's file, and a token that is refused."""
    with pytest.raises(grammata.GrammarError) as caught:
        bytewise.compile_json_schema("person.json")
    assert caught.value.code == "json-schema/not-json" and "name of a file" in caught.value.help
    with pytest.raises(grammata.FileError) as caught:
        grammata.Vocabulary.from_file(root / "tests/data/smollm2")
    assert caught.value.code == "io/no-file" and caught.value.help.endswith("smollm2/tokenizer.json`")
    with pytest.raises(grammata.RejectedError) as caught:
        bytewise.compile_regex("ab").matcher().accept_token(32)
    assert caught.value.found == 'token 32 (" "): a space after ""'
    assert not hasattr(grammata, "atexit") and not hasattr(grammata, "os")
