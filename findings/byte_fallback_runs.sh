#!/usr/bin/env bash
# What was run: tokenizers 0.23.3 and sentencepiece 0.2.3 decode the same ids of one vocabulary with byte fallback.
#
# Expected: a byte token that is no part of a character becomes U+FFFD, and its neighbours keep their text, as in
# sentencepiece and in a byte-level decoder.
#
# Seen: the decoder `ByteFallback` of tokenizers joins all adjacent byte tokens. If the run as a whole is not UTF-8,
# each of its bytes becomes U+FFFD, also complete characters and line breaks before the stray byte. So the text of an
# output that is cut inside a character shrinks: "é" was printed, and the next token id takes it back.
#
#   ids after "cat"                sentencepiece    tokenizers
#   C3 A9                          "é"              "é"
#   C3 A9 E2                       "é" + 1 U+FFFD   3 U+FFFD
#   0A E2 82                       LF + 2 U+FFFD    3 U+FFFD
#   E2 82 0A                       2 U+FFFD + LF    3 U+FFFD
#
# It matters to a decoder that streams text or counts bytes of printed text: decode from the bytes of the ids instead.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check tokenizers==0.23.3 sentencepiece==0.2.3
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import sentencepiece
from tokenizers import Tokenizer, decoders, models

with open("corpus.txt", "w") as corpus:
    corpus.write("the cat sat on the mat\na dog and a cat\nmats and dogs that sat\n" * 50)
sentencepiece.SentencePieceTrainer.train(
    input="corpus.txt", model_prefix="model", vocab_size=300, byte_fallback=True, model_type="bpe", minloglevel=2
)
pieces = sentencepiece.SentencePieceProcessor(model_file="model.model")
vocabulary = {pieces.id_to_piece(id): id for id in range(pieces.get_piece_size())}
tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
tokenizer.decoder = decoders.Sequence(
    [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
)
MARK = "\ufffd"
CASES = [
    (b"\xc3\xa9", "\u00e9", "\u00e9"),
    (b"\xc3\xa9\xe2", "\u00e9" + MARK, MARK * 3),
    (b"\n\xe2\x82", "\n" + MARK * 2, MARK * 3),
    (b"\xe2\x82\n", MARK * 2 + "\n", MARK * 3),
]
for run, by_pieces, by_tokenizers in CASES:
    ids = [vocabulary["\u2581cat"], *(vocabulary[f"<0x{byte:02X}>"] for byte in run)]
    seen = pieces.decode(ids)[3:], tokenizer.decode(ids)[3:]
    print(run.hex(" "), *map(ascii, seen))
    assert seen == (by_pieces, by_tokenizers), (run, seen)
print("as described")
PYTHON
