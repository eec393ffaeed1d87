#!/usr/bin/env bash
# What was run: @huggingface/tokenizers 0.2.0, the tokenizer of transformers.js, and tokenizers 0.23.3 of Python encode
# one text with the same `tokenizer.json`.
#
# Expected: the same tokens, or an error for a part that the port does not have (it has such an error for
# `UnicodeScripts`). Its page lists what differs: some constructs of patterns, and three behaviours of `Split`
# (`MergedWithPrevious`, `MergedWithNext`, `Contiguous`).
#
# Seen: more parts are read as others, silently. `Split` that isolates the matches of an inverted pattern drops the text
# between them. A `Split` that removes a plain text, and a `Punctuation` that removes, keep it. The letters of
# `Whitespace` are ASCII only. The member `single_word` of an added token has no effect.
#
#   part                               text        tokenizers         @huggingface/tokenizers
#   Split, Isolated, inverted          "a b"       "a", " ", "b"      " "
#   Split, Removed, plain text         "a b"       "a", "b"           "a", " ", "b"
#   Punctuation, Removed               "a.b"       "a", "b"           "a", ".", "b"
#   Whitespace                         "né"        "né"               "n", "é"
#   added token "ab", single_word      "ab abn"    "ab", " ",         "ab", " ",
#                                                  "a", "b", "n"      "ab", "n"
#
# It matters if a browser and a server share a vocabulary: prompts get other ids than in training, and a text that one
# side forces is not encoded as the other side expects. Compare the ids of a few texts before you rely on the port.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps tokenizers==0.23.3
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund @huggingface/tokenizers@0.2.0
"$folder/venv/bin/python" - <<'PYTHON'
import json

from tokenizers import AddedToken, Regex, Tokenizer, models
from tokenizers.pre_tokenizers import Punctuation, Split, Whitespace

PIECES = ["a", "b", "n", "é", " ", ".", "né"]
SPACE = Regex(r"\s")
CASES = [
    ("Split, Isolated, inverted", Split(SPACE, "isolated", invert=True), "a b", ["a", " ", "b"]),
    ("Split, Removed, plain text", Split(" ", "removed"), "a b", ["a", "b"]),
    ("Punctuation, Removed", Punctuation("removed"), "a.b", ["a", "b"]),
    ("Whitespace", Whitespace(), "né", ["né"]),
    ("added, single_word", Split(SPACE, "isolated"), "ab abn", ["ab", " ", "a", "b", "n"]),
    # what both read alike
    ("Split, Isolated", Split(SPACE, "isolated"), "a b", ["a", " ", "b"]),
    ("Split, Removed", Split(SPACE, "removed"), "a b", ["a", "b"]),
    ("Punctuation, Isolated", Punctuation("isolated"), "a.b", ["a", ".", "b"]),
]
rows = []
for name, pre_tokenizer, text, tokens in CASES:
    vocabulary = {piece: id for id, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[("n", "é")]))
    tokenizer.pre_tokenizer = pre_tokenizer
    if name.startswith("added"):
        tokenizer.add_tokens([AddedToken("ab", single_word=True)])
    seen = tokenizer.encode(text).tokens
    assert seen == tokens, (name, seen)
    rows.append({"name": name, "text": text, "tokens": seen, "file": json.loads(tokenizer.to_str())})
with open("rows.json", "w") as file:
    json.dump(rows, file)
PYTHON
cat >run.js <<'JAVASCRIPT'
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";

const seen = {
  "Split, Isolated, inverted": [" "],
  "Split, Removed, plain text": ["a", " ", "b"],
  "Punctuation, Removed": ["a", ".", "b"],
  Whitespace: ["n", "é"],
  "added, single_word": ["ab", " ", "ab", "n"],
};
for (const { name, text, tokens, file } of JSON.parse(readFileSync("rows.json", "utf8"))) {
  const own = new Tokenizer(file, {}).encode(text).tokens;
  console.log(name, JSON.stringify(text), JSON.stringify(tokens), JSON.stringify(own));
  assert.deepEqual(own, seen[name] ?? tokens);
}
console.log("as described");
JAVASCRIPT
node run.js
