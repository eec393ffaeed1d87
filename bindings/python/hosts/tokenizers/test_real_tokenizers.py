"""Real tokenizers, id by id: the bytes that Grammata reads are those that the tokenizer's own library decodes.

`GRAMMATA_TOKENIZERS` is a folder with `tokenizer.json` files of other packages (`NAME.json`) and rank files
(`NAME.tiktoken`). The files of mistral-common come with its package. `cargo xtask full real-tokenizers` sets this up.
"""

import json
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import grammata
import mistral_common
import pytest
import sentencepiece
import tiktoken
import tiktoken.load
import tokenizers
import transformers
from grammata.compat import xgrammar
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

ROOT = pathlib.Path(__file__).resolve().parents[4]
FOLDER = pathlib.Path(os.environ["GRAMMATA_TOKENIZERS"])
MISTRAL = pathlib.Path(mistral_common.__file__).parent / "data"
FAST = sorted(FOLDER.glob("*.json")) + [ROOT / "tests/data/smollm2/tokenizer.json"]
TEKKEN = sorted(MISTRAL.glob("tekken*.json"))
PIECES = sorted(one for one in MISTRAL.iterdir() if ".model" in one.suffixes or ".model.v" in one.name)
RANKS = sorted(FOLDER.glob("*.tiktoken"))

ADDED = ["für", "naïve", "x\N{LOWER ONE EIGHTH BLOCK}y", " 日本", "<think>"]
"""Tokens that are added to each fast tokenizer; the characters of the first two stand for other bytes in byte level."""

_LETTERS = xgrammar.tokenizer_info._BYTE_LEVEL


def name(path: pathlib.Path) -> str:
    return path.name if path.parent != ROOT / "tests/data/smollm2" else "smollm2"


def test_there_are_twenty() -> None:
    assert len(FAST) + len(TEKKEN) + len(PIECES) + len(RANKS) >= 20, [FAST, TEKKEN, PIECES, RANKS]


def differing(
    vocabulary: grammata.Vocabulary,
    decode: Callable[[list[list[int]]], list[str]],
    spell: Callable[[int], str | None],
    ids: Sequence[int],
) -> list[Any]:
    """The ids whose bytes are not those of the library's text after another token, since a decoder may drop the space of
    the first one. Texts with replacement characters do not determine the bytes: they are compared with the spelling of
    the token, if `spell` knows it."""
    front = vocabulary.encode_greedy("x")[0]
    (before,) = decode([[front]])
    wrong: list[Any] = []
    for token, whole in zip(ids, decode([[front, token] for token in ids]), strict=True):
        own, text = vocabulary.bytes(token), whole[len(before) :]
        if own is not None and own.decode(errors="replace") != text:
            spelt = spell(token)
            if spelt is None or own != bytes.fromhex(spelt):
                wrong.append((token, own, text))
    return wrong


def fast(path: pathlib.Path) -> transformers.PreTrainedTokenizerFast:
    end = next(
        token["content"] for token in json.loads(path.read_bytes())["added_tokens"] if token["special"]
    )
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), eos_token=end)


def spelling(tokenizer: Any) -> Callable[[int], str | None]:
    """The bytes of tokens in byte level or byte fallback, in hexadecimal digits, by the text of the token."""

    def spell(token: int) -> str | None:
        text = tokenizer.convert_ids_to_tokens(token)
        if text.startswith("<0x") and len(text) == 6:
            return text[3:5]
        return bytes(_LETTERS[letter] for letter in text).hex() if set(text) <= _LETTERS.keys() else None

    return spell


@pytest.mark.parametrize("path", FAST, ids=name)
def test_fast_tokenizers(path: pathlib.Path) -> None:
    tokenizer = fast(path)
    library = tokenizer.backend_tokenizer

    def decode(sequences: list[list[int]]) -> list[str]:
        return list(library.decode_batch(sequences, skip_special_tokens=False))

    plain = grammata.Vocabulary.from_transformers(tokenizer)
    assert plain == grammata.Vocabulary.from_file(path, eos=plain.eos)
    assert not differing(plain, decode, spelling(tokenizer), range(len(plain)))
    tokenizer.add_tokens(ADDED)
    vocabulary = grammata.Vocabulary.from_transformers(tokenizer)
    ids = [tokenizer.convert_tokens_to_ids(token) for token in ADDED]
    assert all(vocabulary.bytes(token) for token in ids)
    assert not differing(vocabulary, decode, spelling(tokenizer), [*ids, *range(0, len(plain), 97)])
    decoded = xgrammar.TokenizerInfo.from_huggingface(tokenizer).decoded_vocab
    for token in range(len(vocabulary)):
        own = vocabulary.bytes(token)
        assert own is None or decoded[token] == own, token


@pytest.mark.parametrize("path", TEKKEN, ids=name)
def test_tekken(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "tekken.json").write_bytes(path.read_bytes())
    tokenizer = transformers.MistralCommonBackend.from_pretrained(tmp_path)
    inner = Tekkenizer.from_file(path)
    vocabulary = grammata.Vocabulary.from_transformers(tokenizer)
    assert vocabulary.width == len(tokenizer) and vocabulary.eos == [tokenizer.eos_token_id]
    info = xgrammar.TokenizerInfo.from_huggingface(tokenizer)
    decoded = info.decoded_vocab
    for token in range(vocabulary.width):
        if inner.is_special(token):
            assert vocabulary.special(token) == inner.id_to_piece(token)
        else:
            assert vocabulary.bytes(token) == inner.id_to_byte_piece(token) == decoded[token]


@pytest.mark.parametrize("path", PIECES, ids=name)
def test_sentencepiece(path: pathlib.Path) -> None:
    model = sentencepiece.SentencePieceProcessor(model_file=str(path))
    vocabulary = grammata.Vocabulary.from_file(path, eos=[model.eos_id()])
    assert vocabulary.width == model.get_piece_size()
    front = model.piece_to_id("x")
    for token in range(vocabulary.width):
        own = vocabulary.bytes(token)
        if model.is_control(token) or model.is_unknown(token):
            assert own is None and vocabulary.special(token) == model.id_to_piece(token)
        elif model.is_byte(token):
            assert own == bytes.fromhex(model.id_to_piece(token)[3:5])
        else:
            assert own is not None and model.decode([front, token]) == "x" + own.decode()


@pytest.mark.parametrize("path", RANKS, ids=name)
def test_rank_files(path: pathlib.Path) -> None:
    ranks = tiktoken.load.load_tiktoken_bpe(str(path))
    width = max(ranks.values()) + 2
    vocabulary = grammata.Vocabulary.from_file(path, eos=[width - 1], width=width)
    by_rank = {rank: token for token, rank in ranks.items()}
    for token in range(width - 1):
        # a rank without bytes is an unused id
        assert vocabulary.bytes(token) == (by_rank.get(token) or None), token
    with pytest.raises(grammata.VocabularyError, match="width="):
        grammata.Vocabulary.from_file(path, eos=[width - 1])


def test_what_has_no_exact_bytes_is_refused() -> None:
    tokenizer = transformers.ByT5Tokenizer()
    with pytest.raises(ValueError, match="Unsupported tokenizer type"):
        xgrammar.TokenizerInfo.from_huggingface(tokenizer)
    with pytest.raises(grammata.UsageError, match="tekken.json"):
        grammata.Vocabulary.from_transformers(tokenizer)
    model = tokenizers.models.BPE(vocab={"a</w>": 0, "b": 1}, merges=[], end_of_word_suffix="</w>")
    clip = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(model))
    with pytest.raises(ValueError, match="Unsupported tokenizer type"):
        xgrammar.TokenizerInfo.from_huggingface(clip)
