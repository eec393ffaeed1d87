#!/usr/bin/env bash
# What was run: the schemas that `z.toJSONSchema` of zod 4.6.7 writes for texts with a format, in xgrammar 0.2.9; then
# Zod on texts that XGrammar accepts.
#
# Expected: XGrammar keeps both keywords, or says that it ignores one, as it does for a format beside a length.
#
# Seen: Zod writes a format and the exact pattern of what it reads. XGrammar follows the format alone and says nothing.
# A record with listed names has the names in `required`, which is dropped in the same way if `propertyNames` lists
# them.
#
#   type                                  text                             XGrammar    Zod
#   z.iso.datetime()                      "2026-12-01T10:30:00+01:00"      accepts     refuses (only Z)
#   z.iso.datetime({precision: 0})        "2026-12-01T10:30:00.5Z"         accepts     refuses
#   z.email({pattern: /^[a-z]+@x\.org$/}) "a@b.com"                        accepts     refuses
#   z.record(z.enum(["a", "b"]), …)       {"a": 1}                         accepts     refuses
#   z.string().regex(/^a$/)               "b"                              refuses     refuses
#
# It matters to whoever decodes for Zod: the first type is the usual one for times, and its outputs fail at the reader.
# Drop `format` where a `pattern` stands beside it, and write records with listed names as objects.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund zod@4.6.7
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check --no-deps \
    xgrammar==0.2.9 apache-tvm-ffi==0.1.15.post2 numpy==2.4.6 \
    pydantic==2.14.4 pydantic-core==2.50.5 annotated-types==0.8.0 typing-inspection==0.4.5 typing_extensions==4.16.0
cat >zod.js <<'JAVASCRIPT'
import { writeFileSync } from "node:fs";
import * as z from "zod";

const rows = [
  ["datetime", z.iso.datetime(), "2026-12-01T10:30:00Z", "2026-12-01T10:30:00+01:00"],
  ["datetime, precision 0", z.iso.datetime({ precision: 0 }), "2026-12-01T10:30:00Z", "2026-12-01T10:30:00.5Z"],
  ["email, pattern", z.email({ pattern: /^[a-z]+@x\.org$/ }), "a@x.org", "a@b.com"],
  ["record of listed names", z.record(z.enum(["a", "b"]), z.int()), { a: 1, b: 2 }, { a: 1 }],
  ["regex", z.string().regex(/^a$/), "a", "b"],
];
const written = rows.map(([name, type, good, bad]) => ({
  name,
  schema: z.toJSONSchema(type),
  good,
  bad,
  zod: [type.safeParse(good).success, type.safeParse(bad).success],
}));
writeFileSync("rows.json", JSON.stringify(written));
JAVASCRIPT
node zod.js
cat >show.py <<'PY'
import json
import sys
import types


class Stub(types.ModuleType):
    """torch and transformers, which xgrammar imports and does not need for a text."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {})
        setattr(self, name, made)
        return made


for name in ("torch", "torch.utils", "torch.utils.cpp_extension", "transformers"):
    sys.modules[name] = Stub(name)
torch = sys.modules["torch"]
torch.__version__, torch.utils = "2.15.0", sys.modules["torch.utils"]
torch.tensor = lambda *values, **options: None
torch.cuda = types.SimpleNamespace(is_available=lambda: False)

from xgrammar import Grammar  # noqa: E402
from xgrammar.testing import _is_grammar_accept_string as accepts  # noqa: E402

with open("rows.json") as file:
    rows = json.load(file)
for row in rows:
    grammar = Grammar.from_json_schema(json.dumps(row["schema"]))
    seen = [accepts(grammar, json.dumps(row[which])) for which in ("good", "bad")]
    keywords = ", ".join(sorted(set(row["schema"]) & {"format", "pattern", "propertyNames", "required"}))
    print(f'{row["name"]} ({keywords}): Zod {row["zod"]}, XGrammar {seen}')
PY
cat >expected <<'END'
datetime (format, pattern): Zod [True, False], XGrammar [True, True]
datetime, precision 0 (format, pattern): Zod [True, False], XGrammar [True, True]
email, pattern (format, pattern): Zod [True, False], XGrammar [True, True]
record of listed names (propertyNames, required): Zod [True, False], XGrammar [True, True]
regex (pattern): Zod [True, False], XGrammar [True, False]
END
"$folder/venv/bin/python" show.py 2>messages | tee seen
diff expected seen
# nothing is said about the keywords that have no effect
diff /dev/null messages
