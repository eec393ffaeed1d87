"""Vocabularies from every source, and wrong ones."""

import json
import re
from types import SimpleNamespace

import grammata
import grammata.compat.xgrammar
import pytest
import sentencepiece
import tiktoken
import tokenizers


def test_sources_of_one_tokenizer_agree(root, vocabulary):
    path = root / "tests/data/smollm2/tokenizer.json"
    library = tokenizers.Tokenizer.from_file(str(path))

    class Fast:
        """The parts of a fast tokenizer of transformers that are read."""

        backend_tokenizer = library
        eos_token_id = 2

    assert grammata.Vocabulary.from_file_bytes(path.read_bytes()) == vocabulary
    assert grammata.Vocabulary.from_tokenizers(library) == vocabulary
    own = grammata.Vocabulary.from_transformers(Fast())
    assert own.eos == [2]
    assert grammata.Vocabulary.from_transformers(Fast(), eos=vocabulary.eos) == vocabulary
    assert hash(own) == hash(grammata.Vocabulary.from_tokenizers(library, eos=2))
    assert grammata.Vocabulary.from_file(str(path), width=50_000).width == 50_000
    assert len(vocabulary) == vocabulary.width == 49_152
    assert vocabulary.mask_words == 1_536


def test_bytes_are_those_of_the_tokenizer(vocabulary, root):
    library = tokenizers.Tokenizer.from_file(str(root / "tests/data/smollm2/tokenizer.json"))
    text = "Grüße, {\"name\": \"日本\"}\n"
    ids = library.encode(text, add_special_tokens=False).ids
    assert vocabulary.decode(ids) == text.encode()
    greedy = vocabulary.encode_greedy(text)
    assert greedy is not None and vocabulary.decode(greedy) == text.encode()


def test_tiktoken():
    encoding = tiktoken.Encoding(
        "small",
        pat_str=r"\w+|\W+",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)} | {b"ab": 256},
        special_tokens={"<|endoftext|>": 300, "<|fim|>": 301},
    )
    vocabulary = grammata.Vocabulary.from_tiktoken(encoding)
    assert vocabulary.bytes(256) == b"ab"
    assert vocabulary.bytes(280) is None
    assert vocabulary.specials == {"<|endoftext|>": 300, "<|fim|>": 301}
    assert vocabulary.eos == [300]
    assert grammata.Vocabulary.from_tiktoken(encoding, eos=[301], width=400).width == 400


def slow_tokenizer(path, added):
    """A tokenizer with the parts of a slow one of transformers that are read. Its ids are the model's plus 1."""
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))

    class Slow:
        sp_model = model
        eos_token_id = model.eos_id() + 1
        added_tokens_decoder = added

        def __len__(self):
            return model.get_piece_size() + 1 + len(added) - (0 in added)

        def convert_ids_to_tokens(self, token):
            return model.id_to_piece(token - 1)

    return Slow()


def test_slow_tokenizers_with_sentencepiece(root):
    path = root / "tests/cases/vocabulary/bpe.model"
    added = {
        0: SimpleNamespace(content="<mask>", special=True),
        401: SimpleNamespace(content="<think>", special=False),
        402: SimpleNamespace(content="<|im_end|>", special=True),
    }
    tokenizer = slow_tokenizer(path, added)
    vocabulary = grammata.Vocabulary.from_transformers(tokenizer)
    own = grammata.Vocabulary.from_file(path)
    for token in range(own.width):
        assert vocabulary.bytes(token + 1) == own.bytes(token)
        assert vocabulary.special(token + 1) == own.special(token)
    assert vocabulary.width == 403
    assert vocabulary.eos == [token + 1 for token in own.eos] == [3]
    assert vocabulary.special(0) == "<mask>"
    assert vocabulary.bytes(401) == b"<think>"
    assert vocabulary.special(402) == "<|im_end|>"
    text = " {\"name\": \"Grüße 日本\"}\n"
    ids = [token + 1 for token in tokenizer.sp_model.encode(text.strip(" "))]
    assert vocabulary.decode(ids).decode() == text
    for added_special in (True, ["<think>"]):
        special = grammata.Vocabulary.from_transformers(tokenizer, added_special=added_special, width=500)
        assert special.special(401) == "<think>"
        assert special.width == 500
    with pytest.raises(grammata.UsageError) as caught:
        grammata.Vocabulary.from_transformers(tokenizer, added_special=["<thought>"])
    assert "<thought>" in caught.value.found


def test_slow_added_tokens_are_decoded_as_pieces(root):
    path = root / "tests/cases/vocabulary/bpe.model"
    added = {0: SimpleNamespace(content="<mask>", special=True), 401: SimpleNamespace(content="x\u2581y", special=False)}
    assert grammata.Vocabulary.from_transformers(slow_tokenizer(path, added)).bytes(401) == b"x y"


def test_tokenizers_of_mistral_common_are_read_from_their_file(root):
    path = root / "tests/cases/vocabulary/tekken.json"
    inner = SimpleNamespace(file_path=path)
    backend = SimpleNamespace(
        tokenizer=SimpleNamespace(instruct_tokenizer=SimpleNamespace(tokenizer=inner)),
        eos_token_id=2,
        get_vocab=lambda: {"a\ufffd": 3},
    )
    assert grammata.Vocabulary.from_transformers(backend) == grammata.Vocabulary.from_file(path)
    assert grammata.Vocabulary.from_transformers(backend, eos=3, width=300).width == 300
    info = grammata.compat.xgrammar.TokenizerInfo.from_huggingface(backend, vocab_size=286)
    assert info.decoded_vocab[24 + 0xE9] == b"\xe9" and info.stop_token_ids == [2]


def test_ends_past_the_ranks_of_a_file(tmp_path):
    file = tmp_path / "small.tiktoken"
    file.write_text("YQ== 0\nYg== 1\n= 2\n")
    with pytest.raises(grammata.VocabularyError) as caught:
        grammata.Vocabulary.from_file(file, eos=[4])
    assert "width=" in caught.value.help and "specials=" in caught.value.help
    assert grammata.Vocabulary.from_file(file, eos=[4], width=8).width == 8
    assert grammata.Vocabulary.from_file(file, specials={"<end>": 3}, eos=3).bytes(2) is None


def test_what_is_no_tokenizer():
    for make in (
        grammata.Vocabulary.from_tokenizers,
        grammata.Vocabulary.from_transformers,
        grammata.Vocabulary.from_tiktoken,
    ):
        with pytest.raises(grammata.UsageError) as caught:
            make(object())
        assert caught.value.code == "python/tokenizer"
        assert "object" in caught.value.found
        assert "tekken.json" in caught.value.help


def test_bad_files(tmp_path):
    with pytest.raises(grammata.FileError) as caught:
        grammata.Vocabulary.from_file(tmp_path / "none.json")
    assert caught.value.code == "io/file"
    file = tmp_path / "tokenizer.json"
    file.write_text('{"model": ')
    with pytest.raises(grammata.VocabularyError) as caught:
        grammata.Vocabulary.from_file(file)
    assert str(file) in str(caught.value)
    with pytest.raises(grammata.LimitError) as caught:
        grammata.Vocabulary.from_file(file, limits={"tokenizer_bytes": 1})
    assert 'limits={"tokenizer_bytes": …}' in caught.value.help
    with pytest.raises(grammata.VocabularyError) as caught:
        grammata.Vocabulary.from_file_bytes('["a", "b"]')
    assert "eos=" in caught.value.help


def test_the_end_is_an_id():
    with pytest.raises(TypeError, match="special_id"):
        grammata.Vocabulary.from_tokens(["a", None], specials={"<end>": 1}, eos="<end>")
    assert grammata.Vocabulary.from_tokens(["a", None], eos=(1,)).eos == [1]


def test_tokens_that_do_not_fit():
    with pytest.raises(grammata.VocabularyError):
        grammata.Vocabulary.from_tokens(["a", "b"], width=1)
    with pytest.raises(grammata.VocabularyError):
        grammata.Vocabulary.from_tokens([])
    with pytest.raises(TypeError):
        grammata.Vocabulary.from_tokens([1, 2])
    for wrong in (-1, 1 << 32, 1 << 100):
        with pytest.raises(grammata.UsageError) as caught:
            grammata.Vocabulary.from_tokens(["a"]).bytes(wrong)
        assert caught.value.code == "python/token-range"
        assert re.search(r"\d", caught.value.found)
    with pytest.raises(TypeError):
        grammata.Vocabulary.from_tokens(["a"]).bytes("a")


def test_added_tokens_that_are_special():
    added = [{"id": 2, "content": "</s>", "special": True}, {"id": 3, "content": "<think>", "special": False}]
    model = {"type": "BPE", "vocab": {"a": 0, "<": 1}, "merges": []}
    text = json.dumps({"added_tokens": added, "decoder": {"type": "ByteLevel"}, "model": model})
    for given, specials in [(None, {"</s>": 2}), (False, {"</s>": 2}), ([], {"</s>": 2})]:
        assert grammata.Vocabulary.from_file_bytes(text, added_special=given).specials == specials
    for given in (True, ["<think>"], ("<think>", "</s>")):
        vocabulary = grammata.Vocabulary.from_file_bytes(text, added_special=given)
        assert vocabulary.specials == {"</s>": 2, "<think>": 3} and vocabulary.bytes(3) is None
    with pytest.raises(grammata.VocabularyError) as caught:
        grammata.Vocabulary.from_file_bytes(text, added_special=["<thin>"])
    assert caught.value.code == "vocabulary/no-added-token" and "<think>" in caught.value.help
    for wrong in ("<think>", 3):
        with pytest.raises(TypeError):
            grammata.Vocabulary.from_file_bytes(text, added_special=wrong)
