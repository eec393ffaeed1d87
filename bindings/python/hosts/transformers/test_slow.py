"""Slow tokenizers: those of `transformers` with a SentencePiece model."""

from pathlib import Path

import grammata
import pytest
from transformers.tokenization_utils_sentencepiece import SentencePieceBackend

MODELS = Path(__file__).parents[4] / "tests/cases/vocabulary"


@pytest.mark.parametrize("name", ["bpe", "unigram"])
def test_tokens_are_those_of_the_model(name):
    path = MODELS / f"{name}.model"
    names = {"unk_token": "<unk>", "bos_token": "</s>", "eos_token": "</s>", "pad_token": "<pad>"}
    tokenizer = SentencePieceBackend(vocab_file=str(path), additional_special_tokens=["<|im_end|>"], **names)
    vocabulary = grammata.Vocabulary.from_transformers(tokenizer)
    model = grammata.Vocabulary.from_file(path)
    assert vocabulary.width == len(tokenizer) == model.width + 1
    assert vocabulary.eos == model.eos == [tokenizer.eos_token_id]
    for token in range(model.width):
        assert vocabulary.bytes(token) == model.bytes(token)
        assert vocabulary.special(token) == model.special(token)
    assert vocabulary.special(model.width) == "<|im_end|>"
    text = "a slow tokenizer"
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert vocabulary.decode(ids).decode().removeprefix(" ") == text
