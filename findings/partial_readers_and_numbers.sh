#!/usr/bin/env bash
# What was run: readers of JSON that is cut, on every prefix of one document: jiter 0.19.0 (the reader of the client
# `openai`), pydantic_core 2.50.5, and from npm partial-json 0.1.7, best-effort-json-parser 1.5.1, jsonrepair 3.15.0.
#
# Expected: jiter withholds unfinished strings and literals, so it also withholds a number that may continue; no reader
# takes back a member that it has shown, and none shows one that was not written.
#
# Seen, for the prefixes of {"a":-1.5e3,"b":2}:
#   - jiter and pydantic_core show a = -1, show no `a` after "-1.", show -1.5, none after "-1.5e", then -1500.0. The
#     member comes and goes, with a wrong value in between, although half of a string or literal is never shown.
#   - partial-json does the same at the point, and keeps -1.5 at the exponent.
#   - best-effort-json-parser and jsonrepair show 0 for a lone minus sign; jsonrepair shows "b": null when only the name
#     was written.
#
# It matters to whoever acts on members as they complete: take a value only when the text after it has begun.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jiter==0.19.0 pydantic_core==2.50.5
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import jiter
import pydantic_core

TEXT = '{"a":-1.5e3,"b":2}'
SEEN = {
    '{"a":-': {}, '{"a":-1': {"a": -1}, '{"a":-1.': {}, '{"a":-1.5': {"a": -1.5}, '{"a":-1.5e': {},
    '{"a":-1.5e3': {"a": -1500.0}, '{"a":-1.5e3,"b"': {"a": -1500.0},
}
for prefix, seen in SEEN.items():
    assert TEXT.startswith(prefix)
    read = jiter.from_json(prefix.encode(), partial_mode=True)
    print("jiter", prefix, read)
    assert read == seen, (prefix, read)
    assert pydantic_core.from_json(prefix, allow_partial=True) == seen, prefix
# half of a literal or of a string is withheld
assert jiter.from_json(b'{"a":tru', partial_mode=True) == {} == jiter.from_json(b'{"a":"x', partial_mode=True)
PYTHON
npm install --silent --no-audit --no-fund partial-json@0.1.7 best-effort-json-parser@1.5.1 jsonrepair@3.15.0
cat > run.mjs <<'JAVASCRIPT'
import assert from 'node:assert'
import { parse } from 'partial-json'
import * as bestEffort from 'best-effort-json-parser'
import { jsonrepair } from 'jsonrepair'

const readers = {
  'partial-json': parse,
  'best-effort-json-parser': text => bestEffort.parse(text),
  jsonrepair: text => JSON.parse(jsonrepair(text)),
}
const seen = [
  ['partial-json', '{"a":-1', { a: -1 }],
  ['partial-json', '{"a":-1.', {}],
  ['partial-json', '{"a":-1.5', { a: -1.5 }],
  ['partial-json', '{"a":-1.5e', { a: -1.5 }],
  ['best-effort-json-parser', '{"a":-', { a: -0 }],
  ['jsonrepair', '{"a":-', { a: -0 }],
  ['jsonrepair', '{"a":-1.5e3,"b"', { a: -1500, b: null }],
]
for (const [name, prefix, value] of seen) {
  const read = readers[name](prefix)
  console.log(name, prefix, read)
  assert.equal(JSON.stringify(read), JSON.stringify(value))
}
console.log('as described')
JAVASCRIPT
node run.mjs
