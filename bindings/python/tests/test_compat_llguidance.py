"""`grammata.compat.llguidance` without llguidance: the interface that servers call, errors by value, and misuse."""

import ctypes
import doctest
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import grammata
import numpy
import pytest
from grammata.compat import llguidance as llg
from grammata.compat.llguidance import hf, tiktoken
from grammata.compat.llguidance import numpy as masks

PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False}


@pytest.fixture(scope="module")
def byte() -> llg.LLTokenizer:
    return llg.LLTokenizer("byte")


@pytest.fixture(scope="module")
def smollm2(root: Path) -> llg.LLTokenizer:
    return llg.LLTokenizer(str(root / "tests/data/smollm2/tokenizer.json"))


def matcher(tokenizer: llg.LLTokenizer, grammar: Any, **named: Any) -> llg.LLMatcher:
    made = llg.LLMatcher(tokenizer, grammar, **named)
    assert made.get_error() == ""
    return made


def accepts(tokenizer: llg.LLTokenizer, grammar: Any, text: str | list[int]) -> bool:
    one = matcher(tokenizer, grammar)
    tokens = list(text.encode()) if isinstance(text, str) else text
    return one.try_consume_tokens(tokens) == len(tokens) and one.is_accepting()


def allowed(one: llg.LLMatcher) -> list[int]:
    bias = one.compute_logit_bias()
    assert set(bias) <= {0, 200}
    words = int.from_bytes(one.compute_bitmask(), "little")
    tokens = [token for token, value in enumerate(bias) if value]
    assert tokens == [token for token in range(words.bit_length()) if words >> token & 1]
    return tokens


def test_examples_of_the_descriptions() -> None:
    assert doctest.testmod(llg).attempted > 0
    assert doctest.testmod(llg).failed == 0


# --- grammars


@pytest.mark.parametrize(
    ("grammar", "accepted", "refused"),
    [
        ("start: /[0-9]+/", "12", "a"),
        (llg.grammar_from("lark", 'start: "a" | "b"'), "b", "c"),
        (llg.grammar_from("grammar", 'start: "a" | "b"'), "a", "c"),
        (llg.grammar_from("grammar", 'root ::= "a" tail\ntail ::= [0-9]'), "a1", "a"),
        (llg.grammar_from("gbnf", 'root ::= "::="'), "::=", "a"),
        (llg.grammar_from("regex", r"a/b|\d"), "a/b", "b"),
        (llg.grammar_from("regex", ""), "", "b"),
        (llg.grammar_from("choice", '["yes", "n\\"ö"]'), 'n"ö', "no"),
        (llg.grammar_from("choice", json.dumps(["\U0001f600\n\x00/"])), "\U0001f600\n\x00/", "/"),
        (llg.grammar_from("json", '{"type": "integer"}'), "1", "x"),
        (llg.grammar_from("llguidance", '{"grammars": [{"lark_grammar": "start: \\"a\\""}]}'), "a", "b"),
        ({"grammars": [{"json_schema": True}]}, "{}", "x"),
        (llg.LLMatcher.grammar_from_json_schema(PERSON), '{ "name" : "A" }', ' {"name":"A"}'),
        (llg.LLMatcher.grammar_from_json_schema(PERSON, {"whitespace_flexible": False}), '{"name":"A"}', '{"name": "A"}'),
        (
            llg.LLMatcher.grammar_from_json_schema(
                PERSON, overrides={"item_separator": ", ", "key_separator": ": ", "whitespace_flexible": False}
            ),
            '{"name": "A"}',
            '{"name":"A"}',
        ),
        (llg.LLMatcher.grammar_from_json_schema(PERSON, {"whitespace_pattern": "[ ]?"}), '{ "name":"A"}', "{  "),
        (llg.LLMatcher.grammar_from_json_schema({**PERSON, "x-guidance": {"whitespace_flexible": False}}), '{"name":"A"}', '{ "name"'),
        (
            llg.LLMatcher.grammar_from_json_schema(
                {**PERSON, "x-guidance": {"whitespace_flexible": False}}, {"whitespace_flexible": False}, {"whitespace_flexible": True}
            ),
            '{ "name":"A"}',
            "{ x",
        ),
    ],
)
def test_grammars(byte: llg.LLTokenizer, grammar: Any, accepted: str, refused: str) -> None:
    assert accepts(byte, grammar, accepted)
    assert not accepts(byte, grammar, refused)
    assert llg.LLMatcher.validate_grammar(grammar) == llg.LLMatcher.validate_grammar(grammar, byte) == ""


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ("", "Empty grammar"),
        ("start: missing", "missing"),
        ('{"grammars": []}', "a list of grammars"),
        ("{", "Expecting"),
        ('{"grammars":' + "[" * 100_000, "nested too deeply"),
        ('start: "\ud800"', "surrogates"),
        ('{"grammars": [{"lark_grammar": 3}]}', "a text"),
        ('{"grammars": [{"name": "a"}]}', "one of the keys"),
        ('{"grammars": [{"lark_grammar": "start: \\"a\\""}, {"lark_grammar": "start: \\"a\\""}]}', "name each other"),
        ('{"grammars": [{"lark_grammar": "start: \\"a\\""}], "max_tokens": 3}', "max_tokens"),
        (llg.LLMatcher.grammar_from_regex("("), "invalid regex"),
        (llg.LLMatcher.grammar_from_json_schema({"type": "intege"}), "intege"),
        (llg.LLMatcher.grammar_from_json_schema(PERSON, {"item_separator": ";"}), "separators"),
        (llg.LLMatcher.grammar_from_json_schema(PERSON, {"item_separator": ", ", "key_separator": ": "}), "separators"),
        (llg.LLMatcher.grammar_from_json_schema(PERSON, {"json_allowed_escapes": "n"}), "json_allowed_escapes"),
        (llg.LLMatcher.grammar_from_json_schema(PERSON, {"indent": 2}), "indent"),  # type: ignore[typeddict-unknown-key]
        (llg.LLMatcher.grammar_from_json_schema({"allOf": [{"type": "string"}, {"type": "null"}]}), ""),
    ],
)
def test_errors_of_grammars_are_values(byte: llg.LLTokenizer, grammar: str, message: str) -> None:
    one = llg.LLMatcher(byte, grammar)
    assert message in one.get_error() and one.get_error()
    assert one.is_error() and one.is_stopped() and not one.is_accepting() and one.stop_reason() == "InternalError"
    assert allowed(one) == byte.eos_tokens
    assert not one.consume_token(97) and one.consume_token(byte.eos_token)
    assert one.validate_tokens([97]) == 0 and one.validate_tokens([byte.eos_token]) == 1
    assert not one.rollback(1) and not one.reset() and one.try_consume_tokens([97]) == 0
    assert one.compute_ff_tokens() == [] and one.compute_ff_bytes() == b"" and one.get_grammar_warnings() == []
    assert one.deep_copy().get_error() == one.get_error()
    assert llg.LLMatcher.validate_grammar(grammar, byte) == one.get_error()
    assert llg.LLMatcher.validate_grammar_with_warnings(grammar, byte) == (True, [one.get_error()])


def test_errors_of_arguments_are_exceptions(byte: llg.LLTokenizer) -> None:
    with pytest.raises(ValueError):
        llg.LLMatcher.grammar_from_json_schema("{")
    with pytest.raises(ValueError, match="Expecting object schema"):
        llg.LLMatcher.grammar_from_json_schema("true", {"lenient": True})
    with pytest.raises(ValueError, match="options are an object"):
        llg.LLMatcher.grammar_from_json_schema(PERSON, "[]")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Unknown grammar type"):
        llg.grammar_from("yacc", "")  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        llg.grammar_from("choice", "[]")
    with pytest.raises(TypeError, match="LLTokenizer"):
        llg.LLMatcher("byte", "start: /a/")  # type: ignore[arg-type]


def test_warnings(byte: llg.LLTokenizer) -> None:
    grammar = llg.LLMatcher.grammar_from_json_schema({"type": "string", "format": "of-mine"})
    is_error, messages = llg.LLMatcher.validate_grammar_with_warnings(grammar, byte)
    assert not is_error and "of-mine" in messages[0]
    assert llg.LLMatcher(byte, grammar).get_grammar_warnings() == messages
    assert llg.LLMatcher.validate_grammar_with_warnings("start: <[1]>")[1] != []
    assert llg.LLMatcher.validate_grammar_with_warnings("start: <[1]>", byte) == (False, [])


def test_any_token(byte: llg.LLTokenizer) -> None:
    one = matcher(byte, 'start: <[*]> "<[*]>" /<[*]>/ // <[*]>')
    assert len(allowed(one)) == byte.vocab_size
    assert one.consume_token(256) and one.try_consume_tokens(list(b"<[*]><*>")) == 8 and one.is_stopped()


@pytest.mark.parametrize(
    ("name", "value"), [("max_items_in_row", 1), ("initial_lexer_fuel", 1), ("step_max_items", 1), ("max_grammar_size", 1)]
)
def test_what_is_not_offered_raises(byte: llg.LLTokenizer, name: str, value: int) -> None:
    with pytest.raises(llg.UnsupportedError, match=name):
        llg.LLParserLimits(**{name: value})
    with pytest.raises(ValueError, match="LLMatcher"):
        llg.LLInterpreter(byte, "start: /a/")
    assert not llg.LLParserLimits(verbose_errors=False).verbose_errors


def test_older_functions() -> None:
    compiled = json.loads(llg.JsonCompiler().compile('{"type": "object"}'))
    assert compiled["grammars"][0]["json_schema"]["x-guidance"]["item_separator"] == ", "
    assert llg.LarkCompiler().compile("start: /a/") == "start: /a/"
    with pytest.raises(ValueError, match="invalid regex"):
        llg.RegexCompiler().compile("(")
    assert llg.RegexCompiler().compile("(", check=False)
    assert llg.regex_to_lark("a/b\n") == r"a\/b\n"
    assert llg.regex_to_lark(r"\d\D\w\\d\/", "d") == r"[0-9][^0-9]\w\\d\/"
    assert llg.get_version().startswith("llguidance@1.9.1 ")


# --- structural tags


def test_structural_tags(byte: llg.LLTokenizer) -> None:
    tags = [
        llg.StructTag(trigger="<f", begin="<f=a>", grammar={"type": "object"}, end="</f>"),
        llg.StructTag(trigger="<f", begin="<f=b>", grammar=llg.LLMatcher.grammar_from_json_schema(PERSON), end="</f>"),
    ]
    grammar = llg.StructTag.to_grammar(tags)
    for text in ("", "x < y", '<f=a>{}</f>1\n<f=b>{"name": "A"}</f>!', "</f>", '<f=a>{"x": 1}</f>'):
        assert accepts(byte, grammar, text), text
    for text in ("<f=a>{}</f", "<f=c>", "<f=b>{}</f>", "<f=a> {}</f>", "<f=a>{} </f>"):
        assert not accepts(byte, grammar, text), text
    tags.append(llg.StructTag(trigger="<|tool|>", begin="<|tool|>call(", grammar='start: /[0-9]+/ ("," /[0-9]+/)*', end=")"))
    grammar = llg.StructTag.to_grammar(tags)
    tool = 256
    assert accepts(byte, grammar, [*b"a", tool, *b"call(1,2)", tool, *b"call(3)", *b"b<f=a>{}</f>"])
    assert not accepts(byte, grammar, [tool, *b"cull"])
    assert accepts(byte, grammar, "<|tool|>cull")
    assert accepts(byte, llg.StructTag.to_grammar(tags[2:]), [*b"a", tool, *b"call(1)"])
    # without `assume_special` the name is text
    text = llg.StructTag.to_grammar(tags[2:], assume_special=False)
    assert accepts(byte, text, "a<|tool|>call(1)") and not accepts(byte, text, "a<|tool|>cull")


def test_bad_structural_tags() -> None:
    with pytest.raises(AssertionError):
        llg.StructTag(trigger="", begin="a", grammar={}, end="")
    with pytest.raises(AssertionError):
        llg.StructTag(trigger="a", begin="b", grammar={}, end="")
    with pytest.raises(AssertionError):
        llg.StructTag.to_grammar([])
    with pytest.raises(llg.UnsupportedError, match="text_regex"):
        llg.StructTag.to_grammar([llg.StructTag(trigger="a", begin="a", grammar={}, end="")], text_regex="[a-z]*")


# --- tokens


def test_rollback_and_copies(byte: llg.LLTokenizer) -> None:
    one = matcher(byte, "start: /[aA] [bB]/")
    copy = one.deep_copy()
    assert one.consume_tokens(list(b"a ")) and not one.is_stopped()
    assert one.rollback(1) and one.consume_tokens(list(b" b")) and one.is_stopped() and one.stop_reason() == "NoExtension"
    assert allowed(one) == byte.eos_tokens
    assert one.rollback(1) and one.stop_reason() == "NotStopped"
    assert one.reset() and one.consume_token(ord("A"))
    assert copy.validate_tokens(list(b"a b")) == 3 and not copy.rollback(1) and copy.is_error()


def test_the_end_token(byte: llg.LLTokenizer) -> None:
    end = byte.eos_token
    one = matcher(byte, "start: /a+/")
    assert end not in allowed(one) and one.consume_token(97) and end in allowed(one)
    assert one.consume_token(end) and one.stop_reason() == "EndOfSentence" and allowed(one) == [end]
    # an end token is a step if the text could have continued
    assert one.rollback(2) and not one.is_accepting()
    one = matcher(byte, "start: /a/")
    assert one.consume_token(97) and one.stop_reason() == "NoExtension"
    # after the end, it changes nothing
    assert one.consume_token(end) and one.stop_reason() == "NoExtension" and one.rollback(1) and not one.is_stopped()
    assert one.consume_tokens([97, end]) and one.rollback(2)
    assert one.try_consume_tokens([97, end]) == 1 and one.validate_tokens([end]) == 0
    assert not one.consume_tokens([end]) and one.is_error()


def test_tokens_that_are_not_allowed(byte: llg.LLTokenizer) -> None:
    one = matcher(byte, "start: /a/")
    assert one.try_consume_tokens([98]) == 0 and not one.is_error()
    assert not one.consume_token(98) and "doesn't satisfy the grammar" in one.get_error()
    for call in ("consume_token", "validate_tokens", "try_consume_tokens", "consume_tokens"):
        for token in (byte.vocab_size, -1):
            one = matcher(byte, "start: /a/")
            assert not getattr(one, call)(token if call == "consume_token" else [token])
            assert "out of range" in one.get_error()


def test_forced_tokens(smollm2: llg.LLTokenizer) -> None:
    grammar = llg.LLMatcher.grammar_from_json_schema(PERSON, {"whitespace_flexible": False})
    one = matcher(smollm2, grammar)
    assert one.compute_ff_bytes() == b'{"name":"'
    tokens = one.compute_ff_tokens()
    # the last token may become a longer one
    assert smollm2.decode_bytes(tokens) == b'{"name' and one.consume_tokens(tokens)
    assert one.compute_ff_bytes() == b'":"'
    one = matcher(smollm2, "start: /yes!/")
    assert smollm2.decode_bytes(one.compute_ff_tokens()) == b"yes!"


def test_budgets(smollm2: llg.LLTokenizer) -> None:
    grammar = llg.LLMatcher.grammar_from_json_schema(PERSON)
    for budget in (6, 9, 14):
        one = matcher(smollm2, grammar, budget=budget)
        count = 0
        while not one.is_stopped():
            assert one.consume_token(allowed(one)[(7 * count) % len(allowed(one))])
            count += 1
        assert count <= budget and not one.is_error()
    assert "budget" in llg.LLMatcher(smollm2, grammar, budget=2).get_error()


# --- masks


def test_masks_at_addresses(byte: llg.LLTokenizer) -> None:
    one = matcher(byte, "start: /[ab]/")
    bitmask = masks.allocate_token_bitmask(3, byte.vocab_size)
    masks.fill_next_token_bitmask(one, bitmask, 1)
    assert bitmask[1].tobytes() == one.compute_bitmask() and (bitmask[[0, 2]] == -1).all()
    size = bitmask.shape[1] * 4
    address = bitmask.ctypes.data
    for pointer, count, message in ((0, size, "Null"), (address + 2, size, "aligned"), (address, size - 4, "buffer size")):
        with pytest.raises(ValueError, match=message):
            one.unsafe_compute_mask_ptr(pointer, count)
    one.unsafe_compute_mask_ptr_with_draft_token(address, size, [97, 97])
    assert bitmask[1].tobytes() == one.deep_copy()._end_mask() and (bitmask[2] == -1).all()


def test_batches(byte: llg.LLTokenizer) -> None:
    executor = llg.LLExecutor(num_threads=2)
    texts, digits = matcher(byte, "start: /[a-z]+/"), matcher(byte, "start: /[0-9]/ /[a-z]*/")
    failed, stopped = llg.LLMatcher(byte, "start: x"), matcher(byte, "start: /a/")
    stopped.consume_token(97)
    bitmask = masks.allocate_token_bitmask(6, byte.vocab_size)
    masks.fill_next_token_bitmask_par(executor, [(texts, 5), (digits, 0), (failed, 1), (stopped, 3)], bitmask)
    for row, one in ((5, texts), (0, digits), (1, failed), (3, stopped)):
        assert bitmask[row].tobytes() == one.compute_bitmask()
    assert (bitmask[[2, 4]] == -1).all()
    bitmask[...] = -1
    masks.fill_next_token_bitmask_par_with_draft_tokens(executor, [(digits, 0, [49, 97]), (texts, 3, [97, 49])], bitmask)
    after = digits.deep_copy()
    for row, token in ((0, 49), (1, 97), (2, 98)):
        assert bitmask[row].tobytes() == after.compute_bitmask()
        after.consume_token(token)
    # nothing is written after the token that is not allowed
    assert (bitmask[5] == -1).all() and not (bitmask[4] == -1).all()
    assert digits.validate_tokens([49]) == 1
    bitmask[...] = -1
    masks.fill_next_token_bitmask_par_with_draft_tokens(executor, [(digits, 0, [49, -1]), (texts, 3, [byte.vocab_size, 97])], bitmask)
    assert (bitmask == -1).all(axis=1).tolist() == [False, False, True, False, True, True]
    assert not digits.is_error() and not texts.is_error()
    assert masks.consume_token_par(executor, [(digits, 49), (texts, 49)]) == [True, False]


def test_misuse_of_batches(byte: llg.LLTokenizer) -> None:
    executor = llg.LLExecutor()
    one, other = matcher(byte, "start: /a/"), matcher(byte, "start: /a/")
    bitmask = masks.allocate_token_bitmask(2, byte.vocab_size)
    cases: list[tuple[Any, type[Exception], str]] = [
        ([], ValueError, "No interpreters"),
        ([(one, 2)], ValueError, "out of bounds"),
        ([(one, -1)], ValueError, "out of bounds"),
        ([(one, 0), (one, 1)], RuntimeError, "Already borrowed"),
        ([1], TypeError, "tuple"),
        ([(byte, 0)], TypeError, "LLMatcher"),
        ([(one, 0, 0)], ValueError, "Expecting"),
        ([(one, "0")], TypeError, "integer"),
        (((one, 0),), TypeError, "list"),
    ]
    for entries, kind, message in cases:
        with pytest.raises(kind, match=message):
            masks.fill_next_token_bitmask_par(executor, entries, bitmask)
    for drafts, message in (([(one, 0, [])], "not be empty"), ([(one, 1, [97])], "out of bounds")):
        with pytest.raises(ValueError, match=message):
            masks.fill_next_token_bitmask_par_with_draft_tokens(executor, drafts, bitmask)
    assert (bitmask == -1).all()
    with pytest.raises(AssertionError):
        masks.fill_next_token_bitmask(other, bitmask.astype(numpy.int64))
    with pytest.raises(AssertionError):
        masks.fill_next_token_bitmask_par(executor, [(other, 0)], bitmask[:, ::2])


def test_masking_of_logits() -> None:
    for width, words in ((40, 2), (64, 2), (70, 2), (1, 1)):
        bitmask = numpy.random.default_rng(width).integers(-(2**31), 2**31, (3, words), dtype=numpy.int32)
        logits = numpy.zeros((3, width), numpy.float32)
        masks.apply_token_bitmask_inplace(logits, bitmask)
        bits = numpy.unpackbits(bitmask.view(numpy.uint8), axis=1, bitorder="little").astype(bool)
        for row in range(3):
            assert numpy.isfinite(logits[row]).tolist() == [token < 32 * words and bool(bits[row, token]) for token in range(width)]
        single = numpy.zeros(width, numpy.float32)
        masks.apply_token_bitmask_inplace(single, bitmask[0])
        assert (single == logits[0]).all()


# --- tokenizers


def test_the_byte_tokenizer(byte: llg.LLTokenizer) -> None:
    assert byte.vocab_size == 262 and byte.eos_token == 261 and byte.is_canonical
    assert byte.tokenize_str("aé") == list("aé".encode()) and byte.decode_str([97, 0xC3]) == "a\ufffd"
    assert byte.is_special_token(256) and not byte.is_special_token(97) and byte.decode_str([256]) == "<|tool|>"
    assert byte.tokenize_str("<|tool|>x", parse_special=True) == [256, 120]
    assert byte.tokenize_partial(b"a\xff<|tool|>b\xff[13]\xff") == ([97, 256, 98, 13], b"")
    assert byte.with_slices(byte.json_slices()).vocab_size == 262 and byte.general_slices()
    assert byte.dbg_tokens([97, 98]) == '"a\u2027b"'


def test_tokenizer_files(smollm2: llg.LLTokenizer, root: Path) -> None:
    path = root / "tests/data/smollm2/tokenizer.json"
    assert smollm2.vocab_size == 49152 and smollm2.eos_tokens == [0]
    for text in ("Hello, world", '{"größe": 3.5}', "naïve 日本 \n\tx"):
        tokens = smollm2.tokenize_str(text)
        assert smollm2.decode_str(tokens) == text
        whole, rest = smollm2.tokenize_partial(text.encode())
        assert smollm2.decode_bytes(whole) + rest == text.encode() and tokens[: len(whole)] == whole
        assert smollm2.decode_str(smollm2.greedy_tokenize(text)) == text
    assert smollm2.tokenize_bytes(b"\xff") == [] and len(smollm2.tokenize_str("<|im_end|>")) > 1
    assert len(smollm2.tokenize_str("<|im_end|>", parse_special=True)) == 1
    wide = llg.LLTokenizer(path.read_text(), n_vocab=49160, eos_token=[2, 0])
    assert (wide.vocab_size, wide.eos_token, wide.eos_tokens) == (49160, 2, [2, 0])
    assert {0, 2} <= set(allowed(matcher(wide, "start: /a*/")))
    for named in ({"n_vocab": 100}, {"eos_token": []}, {"eos_token": 49152}, {"eos_token": "0"}):
        with pytest.raises(ValueError):
            llg.LLTokenizer(str(path), **named)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="TokenizerWrapper"):
        llg.LLTokenizer(7)
    with pytest.raises(OSError):
        llg.LLTokenizer("no such file")


def test_tokenizers_of_other_libraries(root: Path) -> None:
    import tokenizers

    class Fast:
        """The part of a fast tokenizer of `transformers` that is used."""

        eos_token_id = 2
        backend_tokenizer = tokenizers.Tokenizer.from_file(str(root / "tests/data/smollm2/tokenizer.json"))

    made = hf.from_tokenizer(Fast())
    assert made.eos_tokens == [2] and made.decode_str(made.tokenize_str("a b")) == "a b"
    with pytest.raises(ValueError, match="fast tokenizers"):
        hf.from_tokenizer(object())

    class Guidance:
        """A tokenizer as the Guidance library has it."""

        eos_token_id, bos_token_id, special_token_ids = 3, None, [2]
        tokens = (b"a", b"b", b"<s>", b"</s>")

        def __call__(self, text: str) -> list[int]:
            return ["a", "b"].index(text[0]) and [1] or [0]

    wrapped = llg.LLTokenizer(llg.TokenizerWrapper(Guidance()))
    assert wrapped.eos_tokens == [3] and wrapped.is_special_token(2) and wrapped.tokenize_str("b") == [1]
    assert llg.LLTokenizer(llg.TokenizerWrapper(Guidance()), eos_token=[3, 2]).eos_tokens == [3, 2]


def test_tiktoken() -> None:
    import tiktoken as real

    ranks = {bytes([value]): value for value in range(256)} | {b"ab": 256}
    encoding = real.Encoding("small", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 257})
    made = tiktoken.lltokenizer_from_encoding(encoding, n_vocab=300)
    assert (made.vocab_size, made.eos_tokens, made.tokenize_str("ab")) == (300, [257], [256])
    assert made.tokenize_str("a<|endoftext|>b", parse_special=True) == [97, 257, 98]
    assert len(made.tokenize_str("<|endoftext|>")) > 1
    assert allowed(matcher(made, "start: /ab/")) == [97, 256]


def test_llama_cpp_by_an_address() -> None:
    """A function of C's stands in for `llama_tokenize`: a token for each byte."""
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_int32),
        ctypes.c_int32,
        ctypes.c_bool,
        ctypes.c_bool,
    )

    @kind
    def tokenize(vocab: int, text: int, length: int, tokens: Any, count: int, add: bool, special: bool) -> int:
        for place, value in enumerate(ctypes.string_at(text, length)):
            tokens[place] = value
        return length

    address = ctypes.cast(tokenize, ctypes.c_void_p).value
    tokens = [*(bytes([value]) for value in range(256)), b"\xff<end>"]
    made = llg.LLTokenizer.from_llamacpp(tokens=tokens, vocab_ptr=8, tokenize_fptr=address or 0, eos_token=256)
    assert made.tokenize_str("aé") == list("aé".encode()) and made.is_special_token(256)
    with pytest.raises(ValueError, match="Null"):
        llg.LLTokenizer.from_llamacpp(tokens=tokens, vocab_ptr=0, tokenize_fptr=0, eos_token=256)


# --- installation


def test_install_without_llguidance() -> None:
    if importlib.util.find_spec("llguidance") is not None:
        pytest.skip("llguidance is installed; `cargo xtask full llguidance` tests that")
    program = """
from grammata.compat import llguidance as ours
ours.install(); ours.install()
import llguidance, llguidance.hf, llguidance.numpy, llguidance.torch
from llguidance import LLMatcher, StructTag
assert llguidance is ours and LLMatcher is ours.LLMatcher
assert llguidance.numpy.LLMatcher is ours.LLMatcher
try:
    import llguidance.mlx
except ImportError:
    print("no mlx")
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    if importlib.util.find_spec("mlx") is None:
        assert done.stdout == "no mlx\n"


def test_the_version_of_the_engine() -> None:
    assert grammata.__version__ in llg.get_version()


@pytest.mark.parametrize(
    ("options", "accepted", "rejected"),
    [
        ({"whitespace_flexible": False}, '{"a":1}', '{"a": 1}'),
        ({"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}, '{"a": 1}', '{"a":1}'),
        ({"whitespace_pattern": "\\t?"}, '{\t"a":\t1}', '{"a": 1}'),
        ({"coerce_one_of": True, "lenient": None}, '{ "a" : 1 }', '{"a": "1"}'),
    ],
)
def test_options_inside_of_lark(options, accepted, rejected):
    """The options of a schema in `%json {…}` have the effect that they have at the root of a schema."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
    text = json.dumps({**schema, "x-guidance": options})
    tokenizer = llg.LLTokenizer("byte")
    for grammar in (f"start: %json {text}", llg.LLMatcher.grammar_from_json_schema(text)):
        matcher = llg.LLMatcher(tokenizer, grammar)
        assert not matcher.is_error(), matcher.get_error()
        assert matcher.deep_copy().consume_tokens(list(accepted.encode()))
        assert not matcher.deep_copy().consume_tokens(list(rejected.encode()))
    assert "unsupported option" in llg.LLMatcher(tokenizer, 'start: %json {"x-guidance": {"indent": 2}}').get_error()
