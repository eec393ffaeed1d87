"""`grammata.compat.xgrammar` without XGrammar: the interface that servers call, and bad input."""

import doctest
import importlib.util
import json
import subprocess
import sys
from typing import Any

import grammata
import numpy
import pytest
from grammata.compat import xgrammar as xgr
from grammata.compat.xgrammar.testing import _is_grammar_accept_string, _json_schema_to_ebnf, _regex_to_ebnf

TOKENS = ["a", "b", "ab", "", "</s>", '"', "{", "}", ":", "1", "<stop>"]
STOP, OTHER_STOP = 4, 10


@pytest.fixture(scope="module")
def info() -> xgr.TokenizerInfo:
    return xgr.TokenizerInfo(TOKENS, vocab_size=40)


@pytest.fixture(scope="module")
def compiler(info: xgr.TokenizerInfo) -> xgr.GrammarCompiler:
    return xgr.GrammarCompiler(info)


def words(grammar: xgr.Grammar | str, texts: list[str]) -> list[str]:
    return [text for text in texts if _is_grammar_accept_string(grammar, text)]


def allowed(matcher: xgr.GrammarMatcher, width: int = 40) -> list[int]:
    bitmask = xgr.allocate_token_bitmask(1, width)
    matcher.fill_next_token_bitmask(bitmask)
    masked = set(xgr.testing._get_masked_tokens_from_bitmask(bitmask, width))
    return [token for token in range(width) if token not in masked]


def test_examples_of_the_descriptions() -> None:
    assert doctest.testmod(xgr).attempted > 0
    assert doctest.testmod(xgr).failed == 0


# --- grammars


@pytest.mark.parametrize(
    ("grammar", "accepted"),
    [
        (xgr.Grammar.from_ebnf('root ::= "a"'), ["a"]),
        (xgr.Grammar.from_ebnf('start ::= "a"', root_rule_name="start"), ["a"]),
        (xgr.Grammar.from_regex("a|b1"), ["a", "b1"]),
        (xgr.Grammar.concat(xgr.Grammar.from_regex("a"), xgr.Grammar.from_ebnf('root ::= "b" [0-9]')), ["ab1"]),
        (xgr.Grammar.union(xgr.Grammar.from_regex("a"), xgr.Grammar.from_json_schema({"const": 7})), ["a", "7"]),
        (xgr.Grammar.builtin_json_grammar(), ['{"a": [1]}']),
        (xgr.Grammar.from_structural_tag({"type": "structural_tag", "format": {"type": "const_string", "value": "ab1"}}), ["ab1"]),
    ],
)
def test_grammars_and_their_texts(grammar: xgr.Grammar, accepted: list[str]) -> None:
    texts = ["a", "b1", "ab1", "7", '{"a": [1]}']
    assert words(grammar, texts) == accepted
    assert words(xgr.Grammar.from_ebnf(str(grammar)), texts) == accepted
    framed = {"type": "sequence", "elements": [{"type": "grammar", "grammar": str(grammar)}, {"type": "const_string", "value": "!"}]}
    if grammar._options.get("root") is None:
        tag = xgr.Grammar.from_structural_tag({"type": "structural_tag", "format": framed})
        assert words(tag, [text + "!" for text in texts]) == [text + "!" for text in accepted]


@pytest.mark.parametrize(
    ("grammar", "accepted"),
    [
        ('root ::= TagDispatch(("<t>", body), excludes=("no",))\nbody ::= [0-9]+ ";"', ["", "a", "a<t>1;", "a<t>1;b<t>2;"]),
        ('root ::= TagDispatch(("<t>", body), loop_after_dispatch=false)\nbody ::= [0-9]+ ";"', ["", "a", "no", "a<t>1;"]),
        ('root ::= TagDispatch(excludes=("<", "o"))  # TagDispatch(', ["", "a"]),
        ('root ::= "Token(1)" | [Token(1)] "TagDispatch()"', []),
    ],
)
def test_macros_of_tags(grammar: str, accepted: list[str]) -> None:
    assert words(grammar, ["", "a", "no", "a<t>1;", "a<t>1;b<t>2;", "a<t>1;no"]) == accepted


@pytest.mark.parametrize(
    ("grammar", "tokens"),
    [
        ("root ::= Token(0, 2)", [0, 2]),
        ("root ::= ExcludeToken(0, 2) Token(1)", [1, 5, 6, 7, 8, 9, 10]),
        ('root ::= TokenTagDispatch((0, body), excludes=(1, 2))\nbody ::= "1"', [0, STOP, 5, 6, 7, 8, 9, 10]),
        ("root ::= TokenTagDispatch(loop_after_dispatch=false, excludes=(1))", [0, 2, STOP, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_macros_of_tokens(compiler: xgr.GrammarCompiler, grammar: str, tokens: list[int]) -> None:
    assert allowed(xgr.GrammarMatcher(compiler.compile_grammar(grammar))) == tokens


@pytest.mark.parametrize(
    "call",
    ["Token()", "Token(root)", "Token(1", "TagDispatch(1)", 'TagDispatch(("", root))', "TagDispatch(more=1)", "TokenTagDispatch((1, root), excludes=(1,))", "TagDispatch(=1)", "Token(1,)=", "Token(%)"],
)
def test_macros_that_cannot_be_read(call: str) -> None:
    with pytest.raises(RuntimeError):
        xgr.Grammar.from_ebnf(f'root ::= "a" {call}')


def test_strict_mode_closes_objects_and_arrays() -> None:
    schema = {"type": "object", "properties": {"a": {"prefixItems": [{"type": "integer"}]}}, "required": ["a"]}
    texts = ['{"a": [1]}', '{"a": [1, 2]}', '{"a": [1], "b": 2}']
    assert words(xgr.Grammar.from_json_schema(schema), texts) == texts[:1]
    assert words(xgr.Grammar.from_json_schema(schema, strict_mode=False), texts) == texts
    tag = {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": schema}}
    assert words(xgr.Grammar.from_structural_tag(tag), texts) == texts[:1]


@pytest.mark.parametrize(
    ("options", "accepted"),
    [
        ({}, ["[1,2]", "[1, 2]", "[1,   2]"]),
        ({"max_whitespace_cnt": 1}, ["[1,2]", "[1, 2]"]),
        ({"any_whitespace": False, "separators": (",", ":")}, ["[1,2]"]),
        ({"any_whitespace": False}, ["[1, 2]"]),
    ],
)
def test_layouts_of_json(options: dict[str, Any], accepted: list[str]) -> None:
    texts = ["[1,2]", "[1, 2]", "[1,   2]"]
    grammar = xgr.Grammar.from_json_schema({"type": "array"}, **options)
    assert words(grammar, texts) == accepted
    assert words(xgr.Grammar.from_ebnf(_json_schema_to_ebnf({"type": "array"}, **options)), texts) == accepted
    if options != {"any_whitespace": False}:
        assert words(xgr.Grammar.union(grammar), texts) == accepted


def test_any_order_keeps_required_members() -> None:
    schema = {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
    texts = ['{"a":1,"b":1}', '{"b":1,"a":1}', '{"b":1}']
    assert words(xgr.Grammar.from_json_schema(schema), texts) == texts[:1]
    assert words(xgr.Grammar.from_json_schema(schema, any_order=True), texts) == texts[:2]
    assert words(xgr.Grammar.union(xgr.Grammar.from_json_schema(schema, any_order=True)), texts) == texts[:2]


def test_both_forms_of_structural_tags() -> None:
    items = [xgr.StructuralTagItem("<f>", {"const": 1}, "</f>"), xgr.StructuralTagItem("<g>", '{"const": 2}', "</g>")]
    texts = ["text", "text<f>1</f> and <g>2</g>", "<f>2</f>"]
    assert words(xgr.Grammar.from_structural_tag(items, ["<"]), texts) == texts[:2]
    tag = xgr.StructuralTag.from_legacy_structural_tag(items, ["<"])
    assert words(xgr.Grammar.from_structural_tag(tag), texts) == texts[:2]
    assert xgr.StructuralTag.from_json(tag.model_dump_json()) == tag
    assert xgr.Grammar.from_structural_tag(tag) == xgr.Grammar.from_structural_tag(items, ["<"])


def test_regular_expressions_are_those_of_ecma() -> None:
    assert words(xgr.Grammar.from_ebnf(_regex_to_ebnf(r"\d")), ["1", "\N{ARABIC-INDIC DIGIT ONE}"]) == ["1"]


# --- what cannot be read


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: xgr.Grammar.from_ebnf("root ::= ("), RuntimeError, "gbnf/"),
        (lambda: xgr.Grammar.from_regex("(a"), RuntimeError, "unclosed"),
        (lambda: xgr.Grammar.from_json_schema("{"), xgr.InvalidJSONError, "not JSON"),
        (lambda: xgr.Grammar.from_json_schema({"type": "strin"}), RuntimeError, "strin"),
        (lambda: xgr.Grammar.from_json_schema(7), ValueError, "int"),
        (lambda: xgr.Grammar.from_json_schema({}, indent=2, any_whitespace=False), RuntimeError, "indent=2"),
        (lambda: xgr.Grammar.from_json_schema({}, max_whitespace_cnt=0), RuntimeError, "max_whitespace_cnt=0"),
        (lambda: xgr.Grammar.from_structural_tag("{"), xgr.InvalidJSONError, "not JSON"),
        (lambda: xgr.Grammar.from_structural_tag("[" * 200 + "]" * 200), xgr.InvalidJSONError, "128"),
        (lambda: xgr.Grammar.from_structural_tag("[" * 100_000 + "]" * 100_000), xgr.InvalidJSONError, ""),
        (lambda: xgr.Grammar.from_structural_tag({"type": "structural_tag"}), xgr.InvalidStructuralTagError, "format"),
        (
            lambda: xgr.Grammar.from_structural_tag({"type": "structural_tag", "format": {"type": "any_txt"}}),
            xgr.InvalidStructuralTagError,
            "any_text",
        ),
        (lambda: xgr.Grammar.from_structural_tag(), TypeError, "nothing"),
        (lambda: xgr.Grammar.from_structural_tag(1), TypeError, "int"),
        (lambda: xgr.Grammar.from_structural_tag([], [], []), TypeError, "triggers"),
        (lambda: xgr.Grammar.from_lark("start: start_"), RuntimeError, ""),
        (lambda: xgr.Grammar.concat(), RuntimeError, "no grammars"),
        (lambda: xgr.Grammar.concat("a"), TypeError, "str"),
        (lambda: xgr.Grammar(), TypeError, "from_ebnf"),
        (lambda: xgr.Grammar.from_ebnf('# grammata: ["no"]'), RuntimeError, "damaged"),
        (lambda: _json_schema_to_ebnf({}, json_format="qwen_xml", any_whitespace=False, indent=2), RuntimeError, "indent=2"),
        (lambda: xgr.Grammar.from_json_schema({"const": "\ud800"}), RuntimeError, "escape"),
        (lambda: _regex_to_ebnf("a", with_rule_name=False), RuntimeError, "with_rule_name"),
    ],
)
def test_errors_of_grammars(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as raised:
        call()
    assert text in str(raised.value)


def test_errors_keep_the_diagnostics() -> None:
    with pytest.raises(RuntimeError) as raised:
        xgr.Grammar.from_regex("(a")
    assert isinstance(raised.value.__cause__, grammata.GrammarError)
    assert raised.value.__cause__.code == "regex/unclosed-group"


# --- vocabularies


def test_vocabularies(info: xgr.TokenizerInfo) -> None:
    assert info.vocab_size == 40
    assert info.stop_token_ids == [STOP]
    assert info.special_token_ids == [3, *range(len(TOKENS), 40)]
    assert info.decoded_vocab[2] == b"ab"
    again = xgr.TokenizerInfo.from_vocab_and_metadata(TOKENS, info.dump_metadata())
    assert again.dump_metadata() == info.dump_metadata()
    assert json.loads(info.dump_metadata()) == {"add_prefix_space": False, "stop_token_ids": [4], "vocab_size": 40, "vocab_type": 0}


@pytest.mark.parametrize(
    ("tokens", "kind", "decoded"),
    [
        (["\u0120a", "\u010a", "é"], xgr.VocabType.BYTE_LEVEL, [b" a", b"\n", b"\xe9"]),
        (["\N{LOWER ONE EIGHTH BLOCK}a", "<0x1B>", "<0xZZ>"], xgr.VocabType.BYTE_FALLBACK, [b" a", b"\x1b", b"<0xZZ>"]),
        (["\u4e00", b"\xff"], xgr.VocabType.RAW, ["\u4e00".encode(), b"\xff"]),
    ],
)
def test_encodings_of_vocabularies(tokens: list[str | bytes], kind: xgr.VocabType, decoded: list[bytes]) -> None:
    assert xgr.TokenizerInfo(tokens, kind).decoded_vocab == decoded


def test_tokenizers_of_transformers(vocabulary: grammata.Vocabulary, root: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers")

    class Fast:
        backend_tokenizer = tokenizers.Tokenizer.from_file(str(root / "tests/data/smollm2/tokenizer.json"))
        eos_token_id = 2

        def get_vocab(self) -> dict[str, int]:
            return dict(self.backend_tokenizer.get_vocab(with_added_tokens=True))

    info = xgr.TokenizerInfo.from_huggingface(Fast(), vocab_size=49_200)
    assert (info.vocab_type, info.vocab_size, info.stop_token_ids) == (xgr.VocabType.BYTE_LEVEL, 49_200, [2])
    assert info.decoded_vocab[1000] == vocabulary.bytes(1000)
    with pytest.raises(ValueError, match="get_vocab"):
        xgr.TokenizerInfo.from_huggingface(object())
    with pytest.raises(ValueError, match="empty"):
        xgr.TokenizerInfo.from_huggingface(Fast(), stop_token_ids=[])


class Fast:
    """The parts of a fast tokenizer of transformers that are read."""

    def __init__(self, value: dict[str, Any], eos: int | None = 0) -> None:
        tokenizers = pytest.importorskip("tokenizers")
        self.backend_tokenizer = tokenizers.Tokenizer.from_str(json.dumps(value))
        self.eos_token_id = eos

    def get_vocab(self) -> dict[str, int]:
        return dict(self.backend_tokenizer.get_vocab(with_added_tokens=True))


def tokenizer_file(model: dict[str, Any], decoder: dict[str, Any] | None, added: list[str]) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    first = len(model["vocab"])
    tokens = [{"id": 0, "content": "</s>", "special": True, **flags}]
    tokens += [{"id": first + place, "content": content, "special": False, **flags} for place, content in enumerate(added)]
    return {
        "version": "1.0",
        "added_tokens": tokens,
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": decoder,
        "model": model,
    }


UNIGRAM = {"type": "Unigram", "unk_id": 1, "vocab": [["</s>", 0.0], ["<unk>", 0.0], ["\u2581the", -2.0], ["in", -3.0]]}
METASPACE = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}


def test_metaspace_without_byte_fallback_is_read_exactly() -> None:
    """The real XGrammar takes U+2581 for text here."""
    tokenizer = Fast(tokenizer_file(UNIGRAM, METASPACE, ["x\u2581y"]))
    info = xgr.TokenizerInfo.from_huggingface(tokenizer)
    assert info.decoded_vocab == [b"</s>", b"<unk>", b" the", b"in", b"x y"]
    assert (info.vocab_type, info.stop_token_ids) == (xgr.VocabType.BYTE_FALLBACK, [0])
    matcher = xgr.GrammarMatcher(xgr.GrammarCompiler(info).compile_grammar(r'root ::= "in" " the"?'))
    assert matcher.accept_token(3) and matcher.accept_token(2)
    names = [token for token, _ in sorted(tokenizer.get_vocab().items(), key=lambda pair: pair[1])]
    again = xgr.TokenizerInfo.from_vocab_and_metadata(names, info.dump_metadata())
    assert again.decoded_vocab == info.decoded_vocab
    small = xgr.TokenizerInfo.from_huggingface(tokenizer, vocab_size=3)
    assert (small.decoded_vocab, small.vocab_size) == ([b"</s>", b"<unk>", b" the"], 3)
    large = xgr.TokenizerInfo.from_huggingface(tokenizer, vocab_size=8, stop_token_ids=3)
    assert (large.vocab_size, large.special_token_ids, large.stop_token_ids) == (8, [5, 6, 7], [3])


def test_added_tokens_are_decoded_by_the_decoder() -> None:
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "vocab": {"</s>": 0, "a": 1}, "merges": []}
    info = xgr.TokenizerInfo.from_huggingface(Fast(tokenizer_file(model, byte_level, ["für", "日本"])))
    assert info.decoded_vocab == [b"</s>", b"a", b"f\xfcr", "日本".encode()]


def test_stop_tokens_are_known_by_name_without_an_end() -> None:
    info = xgr.TokenizerInfo.from_huggingface(Fast(tokenizer_file(UNIGRAM, METASPACE, []), eos=None))
    assert info.stop_token_ids == [0]


def test_tokenizers_without_exact_bytes_are_refused() -> None:
    class ByT5:
        """ByT5 has no file: its ids are bytes, which `get_vocab` lists as characters of Latin-1."""

        eos_token_id = 1

        def get_vocab(self) -> dict[str, int]:
            return {"<pad>": 0, "</s>": 1} | {chr(byte): byte + 3 for byte in range(256)}

    clip = {"type": "BPE", "vocab": {"</s>": 0, "a</w>": 1}, "merges": [], "end_of_word_suffix": "</w>"}
    joined = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, METASPACE]}
    pieces = {"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##", "max_input_chars_per_word": 9, "vocab": {"</s>": 0, "a": 1}}
    for tokenizer in (
        ByT5(),
        Fast(tokenizer_file(clip, {"type": "BPEDecoder", "suffix": "</w>"}, [])),
        Fast(tokenizer_file(pieces, {"type": "WordPiece", "prefix": "##", "cleanup": True}, [])),
        Fast(tokenizer_file(UNIGRAM, joined, [])),
    ):
        with pytest.raises(ValueError, match="Unsupported tokenizer type"):
            xgr.TokenizerInfo.from_huggingface(tokenizer)


def test_tokenizers_of_tiktoken_list_their_bytes() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}

    class Qwen:
        """The parts of Qwen's first tokenizer."""

        tokenizer = tiktoken.Encoding("small", pat_str=r"\w+|\W+", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 256})
        eos_token_id = 256

        def get_vocab(self) -> dict[Any, int]:
            return {**ranks, "<|endoftext|>": 256}

    info = xgr.TokenizerInfo.from_huggingface(Qwen())
    assert info.decoded_vocab[0xE9] == b"\xe9" and info.stop_token_ids == [256]


@pytest.mark.parametrize("metadata", ["", "{}", "[]", '{"vocab_type": 9, "vocab_size": 1, "stop_token_ids": [], "add_prefix_space": true}'])
def test_damaged_metadata(metadata: str) -> None:
    with pytest.raises(RuntimeError, match="metadata"):
        xgr.TokenizerInfo.from_vocab_and_metadata(["a"], metadata)
    with pytest.raises(RuntimeError, match="vocab_size=1"):
        xgr.TokenizerInfo(["a", "b"], vocab_size=1)


# --- matchers


def test_a_sequence(compiler: xgr.GrammarCompiler) -> None:
    matcher = xgr.GrammarMatcher(compiler.compile_regex("ab|a1*"))
    assert allowed(matcher) == [0, 2]
    assert not matcher.accept_token(1)
    assert matcher.accept_token(0)
    assert allowed(matcher) == [1, STOP, 9]
    fork = matcher.fork()
    assert matcher.accept_string(b"11") and matcher.is_completed() and not matcher.is_terminated()
    assert matcher.accept_token(STOP) and matcher.is_terminated()
    assert not matcher.accept_token(9) and not matcher.accept_string("1")
    with pytest.raises(RuntimeError, match="terminated"):
        allowed(matcher)
    with pytest.raises(RuntimeError, match="terminated"):
        matcher.find_jump_forward_string()
    matcher.rollback(2)
    assert not matcher.is_terminated() and allowed(matcher) == [1, STOP, 9]
    assert fork.accept_token(1) and allowed(fork) == [STOP]
    matcher.reset()
    assert allowed(matcher) == [0, 2]
    with pytest.raises(RuntimeError):
        matcher.rollback(1)


def test_stop_tokens_of_one_matcher(compiler: xgr.GrammarCompiler) -> None:
    compiled = compiler.compile_regex("a")
    matcher = xgr.GrammarMatcher(compiled, override_stop_tokens=OTHER_STOP)
    assert matcher.stop_token_ids == [OTHER_STOP]
    assert matcher.accept_token(0) and allowed(matcher) == [OTHER_STOP]
    assert not matcher.accept_token(STOP) and matcher.accept_token(OTHER_STOP) and matcher.is_terminated()
    assert xgr.GrammarMatcher(compiled).stop_token_ids == [STOP]
    text = xgr.GrammarMatcher(compiler.compile_regex("<[/a-z]+>"), override_stop_tokens=[OTHER_STOP])
    assert allowed(text) == []
    for wrong in ([], [40], -1):
        with pytest.raises(RuntimeError, match="override_stop_tokens"):
            xgr.GrammarMatcher(compiled, override_stop_tokens=wrong)


def test_termination_without_a_stop_token(compiler: xgr.GrammarCompiler) -> None:
    matcher = xgr.GrammarMatcher(compiler.compile_regex("a1?"), terminate_without_stop_token=True)
    assert not matcher.is_terminated()
    assert matcher.accept_token(0) and matcher.is_terminated() and matcher.accept_token(9)


def test_jump_forward_strings_have_whole_characters(compiler: xgr.GrammarCompiler) -> None:
    def forced(pattern: str) -> str:
        return xgr.GrammarMatcher(compiler.compile_regex(pattern)).find_jump_forward_string()

    assert forced("aé[àá]") == "aé"
    assert forced("a*") == ""


def test_options_of_matchers(compiler: xgr.GrammarCompiler) -> None:
    compiled = compiler.compile_regex("a")
    with pytest.warns(DeprecationWarning, match="max_rollback_tokens"):
        assert xgr.GrammarMatcher(compiled, max_rollback_tokens=3).max_rollback_tokens == -1
    assert xgr.GrammarMatcher(compiled, default_temperature=1).temperature == 1.0
    for wrong in (-1.0, float("nan")):
        with pytest.raises(RuntimeError, match="default_temperature"):
            xgr.GrammarMatcher(compiled, default_temperature=wrong)
    with pytest.raises(ValueError, match="CompiledGrammar"):
        xgr.GrammarMatcher("a")
    with pytest.raises(TypeError, match="max_rollback"):
        xgr.GrammarMatcher(compiled, max_rollback=3)


@pytest.mark.parametrize("budget", [2, 3, 7])
def test_budgets(compiler: xgr.GrammarCompiler, budget: int) -> None:
    """The choices are those of a search over all texts of at most `budget` tokens."""
    pattern = '"(a|b)*"'
    lengths = {"a": 1, "b": 1, "ab": 2, '"': 1}

    def expected(text: str) -> list[int]:
        left = budget - len(text)
        names = ['"'] if not text else [name for name in lengths if left >= (1 if name == '"' else 2)]
        return sorted(TOKENS.index(name) for name in names)

    for choice in range(4):
        matcher, tokens = xgr.GrammarMatcher(compiler.compile_regex(pattern), budget=budget), ""
        while not matcher.is_completed():
            assert allowed(matcher) == expected(tokens), tokens
            token = allowed(matcher)[-1 - choice % len(allowed(matcher))]
            assert matcher.accept_token(token)
            tokens += "."
        assert len(tokens) <= budget
        assert allowed(matcher) == [STOP]
        matcher.rollback(1)
        assert not matcher.is_completed()
    with pytest.raises(RuntimeError, match="2 tokens"):
        xgr.GrammarMatcher(compiler.compile_regex(pattern), budget=1)


def test_full_masks_of_budgets_are_reported() -> None:
    info = xgr.TokenizerInfo(["a", "b"], stop_token_ids=[])
    matcher = xgr.GrammarMatcher(xgr.GrammarCompiler(info).compile_regex("(a|b)*|b(ab)?"), budget=1)
    bitmask = xgr.allocate_token_bitmask(1, 2)
    assert not matcher.fill_next_token_bitmask(bitmask)
    assert matcher.accept_token(1) and matcher.fill_next_token_bitmask(bitmask) and not bitmask.any()


def test_draft_trees_within_budgets(compiler: xgr.GrammarCompiler) -> None:
    matcher = xgr.GrammarMatcher(compiler.compile_regex("1(a|b)*1"), budget=4)
    assert matcher.accept_token(9)
    bitmask = xgr.allocate_token_bitmask(4, 40)
    # a root and the draft a, b, a: the third token leaves no room for the last `1`
    tree = ([1, 2, 3, -1], [-1] * 4, [9, 0, 1, 0])
    assert matcher.traverse_draft_tree(*map(numpy.array, tree), bitmask)
    masked = [set(xgr.testing._get_masked_tokens_from_bitmask(bitmask, 40, row)) for row in range(4)]
    assert [[token for token in range(40) if token not in row] for row in masked] == [[0, 1, 2, 9], [0, 1, 2, 9], [9], []]


@pytest.mark.parametrize("budget", [None, 2, 4])
def test_the_logits_processor(info: xgr.TokenizerInfo, compiler: xgr.GrammarCompiler, budget: int | None) -> None:
    """Greedy search of a model that prefers `a`, in a batch of two prompts, twice with one processor."""
    processor = xgr.contrib.hf.LogitsProcessor(compiler.compile_regex("1a*b"), budget=budget)
    for _ in range(2):
        rows = numpy.array([[7, 7], [7, 8]])
        for _ in range(4):
            scores = numpy.zeros((2, 40), dtype=numpy.float32)
            scores[:, 0] = 1
            rows = numpy.concatenate([rows, processor(rows, scores).argmax(axis=1)[:, None]], axis=1)
        ended = {None: [9, 0, 0, 0], 2: [9, 1, STOP], 4: [9, 0, 0, 1]}[budget]
        assert rows[:, 2 : 2 + len(ended)].tolist() == [ended] * 2
    with pytest.raises(RuntimeError, match="2 tokens"):
        xgr.contrib.hf.LogitsProcessor(compiler.compile_regex("1a*b"), budget=1)


def test_batches(compiler: xgr.GrammarCompiler) -> None:
    matchers = [xgr.GrammarMatcher(compiler.compile_regex(pattern)) for pattern in ("a+", "b+")]
    batch = xgr.BatchGrammarMatcher()
    bitmask = xgr.allocate_token_bitmask(3, 40)
    batch.batch_fill_next_token_bitmask(matchers, bitmask, [2, 0])
    assert [xgr.testing._is_single_token_bitmask(bitmask, 40, row)[0] for row in range(3)] == [True, False, True]
    assert batch.batch_accept_token(matchers, [0, 0]) == [True, False]
    assert batch.batch_accept_string(matchers, ["b", "b"]) == [False, True]
    batch.batch_rollback(matchers, [1, 1])
    with pytest.raises(RuntimeError, match="1 values for 2 matchers"):
        batch.batch_accept_token(matchers, [0])


def test_draft_trees(compiler: xgr.GrammarCompiler) -> None:
    matcher = xgr.GrammarMatcher(compiler.compile_regex("(ab1)+"), default_temperature=0.5)
    bitmask, temperatures = xgr.allocate_token_bitmask(6, 40), numpy.zeros(6, dtype=numpy.float32)

    def rows() -> list[list[int]]:
        masked = [set(xgr.testing._get_masked_tokens_from_bitmask(bitmask, 40, row)) for row in range(6)]
        return [[token for token in range(40) if token not in row] for row in masked]

    def traverse(children: list[int], siblings: list[int], **named: Any) -> bool:
        parts = (children, siblings, [7, 0, 1, 9, 1, STOP])
        return matcher.traverse_draft_tree(*map(numpy.array, parts), bitmask, **named)

    # 0 - 1 (a) - 2 (b) - 3 (1) - 5 (end); 4 (b) is a sibling of 1
    assert traverse([1, 2, 3, 5, -1, -1], [-1, 4, -1, -1, -1, -1], temperatures=temperatures)
    assert rows() == [[0, 2], [1], [9], [0, 2, STOP], [], []]
    assert temperatures.tolist() == [0.5, 0.5, 0.5, 0.5, -1, -1]
    assert allowed(matcher) == [0, 2] and not matcher.is_terminated()
    assert not traverse([1, 2, 3, 5, -1, -1], [-1, 4, -1, -1, -1, -1], time_threshold=1e-9)
    assert allowed(matcher) == [0, 2]
    for children, siblings in (
        ([1, 2, 0, 5, -1, -1], [-1] * 6),
        ([1, 2, 9, 5, -1, -1], [-1] * 6),
        ([1, 2, 3, 5, -1, -1], [4, -1, -1, -1, -1, -1]),
        ([-1] * 5, [-1] * 5),
    ):
        with pytest.raises(RuntimeError, match="draft tree"):
            traverse(children, siblings)
        assert allowed(matcher) == [0, 2]


# --- compilers


def test_the_cache_of_a_compiler(info: xgr.TokenizerInfo) -> None:
    compiler = xgr.GrammarCompiler(info, max_threads=1, cache_limit_bytes=-1)
    assert compiler.get_cache_size_bytes() == 0
    compiled = compiler.compile_json_schema({"type": "integer"})
    assert compiler.get_cache_size_bytes() > 0 and compiled.memory_size_bytes > 0
    assert compiled.tokenizer_info is info and "integer" in str(compiled.grammar)
    compiler.clear_cache()
    assert compiler.get_cache_size_bytes() == 0 and allowed(xgr.GrammarMatcher(compiled)) == [9]
    plain = xgr.GrammarCompiler(info, cache_enabled=False)
    plain.compile_builtin_json_grammar()
    assert plain.get_cache_size_bytes() == 0
    for options in ({"max_threads": 0}, {"cache_limit_bytes": -2}):
        with pytest.raises(RuntimeError, match=next(iter(options))):
            xgr.GrammarCompiler(info, **options)
    with pytest.raises(ValueError, match="TokenizerInfo"):
        xgr.GrammarCompiler(TOKENS)
    with pytest.raises(ValueError, match="int"):
        compiler.compile_grammar(1)


def test_tokens_of_structural_tags_are_looked_up(compiler: xgr.GrammarCompiler) -> None:
    def tag(token: str | int) -> dict[str, Any]:
        return {"type": "structural_tag", "format": {"type": "token", "token": token}}

    assert allowed(xgr.GrammarMatcher(compiler.compile_structural_tag(tag("ab")))) == [2]
    assert allowed(xgr.GrammarMatcher(compiler.compile_structural_tag(tag(1)))) == [1]
    with pytest.raises(xgr.InvalidStructuralTagError, match="no token"):
        compiler.compile_structural_tag(tag("none"))


# --- bitmasks


def test_bitmasks() -> None:
    bitmask = xgr.allocate_token_bitmask(2, 33)
    assert bitmask.shape == xgr.get_bitmask_shape(2, 33) == (2, 2)
    assert bitmask.dtype == xgr.bitmask_dtype
    bitmask[0, 0] = 5
    logits = numpy.zeros((2, 34), dtype=numpy.float32)
    xgr.apply_token_bitmask_inplace(logits, bitmask, vocab_size=33)
    assert numpy.flatnonzero(numpy.isfinite(logits[0])).tolist() == [0, 2, 32, 33]
    assert numpy.isfinite(logits[1]).all()
    xgr.reset_token_bitmask(bitmask)
    assert (bitmask == -1).all()
    bools = numpy.array([[True, False, True]])
    words = xgr.testing.bool_mask_to_bitmask(bools)
    assert xgr.testing._get_masked_tokens_from_bitmask(words, 3) == [1]
    assert (xgr.testing.bitmask_to_bool_mask(words, 3) == bools).all()


@pytest.mark.parametrize(
    ("bitmask", "index", "text"),
    [
        (numpy.zeros((1, 2), dtype=numpy.int64), 0, "int64"),
        (numpy.zeros((1, 3), dtype=numpy.int32), 0, "(1, 3)"),
        (numpy.zeros((1, 2), dtype=numpy.int32), 1, "no row 1"),
        (numpy.zeros(2, dtype=numpy.int32), 1, "no row 1"),
        ([0, 0], 0, "None"),
    ],
)
def test_wrong_bitmasks(compiler: xgr.GrammarCompiler, bitmask: Any, index: int, text: str) -> None:
    matcher = xgr.GrammarMatcher(compiler.compile_regex("a"))
    with pytest.raises(RuntimeError) as raised:
        matcher.fill_next_token_bitmask(bitmask, index)
    assert text in str(raised.value)


def test_a_full_mask_need_not_be_applied() -> None:
    info = xgr.TokenizerInfo(["a", "b", "</s>"])
    compiler = xgr.GrammarCompiler(info)
    bitmask = xgr.allocate_token_bitmask(1, 3)
    assert not xgr.GrammarMatcher(compiler.compile_regex("[ab]*")).fill_next_token_bitmask(bitmask)
    assert xgr.GrammarMatcher(compiler.compile_regex("[ab]+")).fill_next_token_bitmask(bitmask)


def test_logits_that_do_not_fit() -> None:
    logits, bitmask = numpy.zeros((2, 8), dtype=numpy.float32), xgr.allocate_token_bitmask(1, 8)
    with pytest.raises(ValueError, match="indices"):
        xgr.apply_token_bitmask_inplace(logits, bitmask)
    with pytest.raises(ValueError, match="vocab_size=9"):
        xgr.apply_token_bitmask_inplace(logits[:1], bitmask, vocab_size=9)
    with pytest.raises(ValueError, match="triton"):
        xgr.apply_token_bitmask_inplace(logits[:1], bitmask, backend="triton")


# --- installation


@pytest.mark.skipif(importlib.util.find_spec("xgrammar") is not None, reason="XGrammar is installed")
def test_installation_where_xgrammar_is_not() -> None:
    program = """
        from grammata.compat import xgrammar
        xgrammar.install()
        xgrammar.install()
        import xgrammar as xgr
        from xgrammar.testing import _is_grammar_accept_string
        from xgrammar.structural_tag import StructuralTag
        from xgrammar.contrib.hf import LogitsProcessor
        assert LogitsProcessor is xgr.contrib.hf.LogitsProcessor
        assert xgr is xgrammar and xgr.Grammar.__module__ == "grammata.compat.xgrammar.grammar"
        assert _is_grammar_accept_string('root ::= "a"', "a")
    """
    lines = [line.strip() for line in program.splitlines()]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_installation_replaces_classes_in_all_modules(tmp_path: Any) -> None:
    package = tmp_path / "xgrammar"
    package.mkdir()
    (package / "__init__.py").write_text("from .grammar import Grammar\nfrom . import other\nkept = 1\n")
    (package / "grammar.py").write_text("class Grammar: pass\n")
    (package / "other.py").write_text("from .grammar import Grammar as Renamed\n")
    (package / "contrib").mkdir()
    (package / "contrib" / "__init__.py").write_text("from . import hf\n")
    (package / "contrib" / "hf.py").write_text("class LogitsProcessor: pass\n")
    for name in ("compiler", "exception", "matcher", "tokenizer_info", "testing"):
        (package / f"{name}.py").write_text("")
    program = """
        from grammata.compat import xgrammar
        xgrammar.install()
        xgrammar.install()
        import xgrammar as theirs
        assert theirs is not xgrammar and theirs.kept == 1
        assert theirs.Grammar is theirs.grammar.Grammar is theirs.other.Renamed is xgrammar.Grammar
        import xgrammar.contrib
        assert xgrammar.contrib.hf.LogitsProcessor.__module__ == "grammata.compat.xgrammar.contrib.hf"
    """
    lines = [line.strip() for line in program.splitlines()]
    path = ":".join([str(tmp_path), *sys.path])
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, env={"PYTHONPATH": path})
