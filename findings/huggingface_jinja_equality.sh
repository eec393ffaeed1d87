#!/usr/bin/env bash
# What was run: @huggingface/jinja 0.5.11, which renders chat templates for transformers.js, and jinja2 3.1.6, which
# does it for transformers, on one template with the same values.
#
# Expected: the same text, or an error for what the port does not have (it has none for `round` or `"a" < "b"`, and says
# so).
#
# Seen: `==` and `!=` compare as JavaScript does. Lists and objects are equal only to themselves, so `tools != []` is
# true for an empty list; a text and a number are compared as numbers; a value that is not defined equals none. The
# conditions `tools` and `tools|length == 0` are right.
#
#   condition                       values           jinja2    @huggingface/jinja
#   tools != []                     tools = []       False     true
#   message.content == []           content = []     True      false
#   message.args == {}              args = {}        True      false
#   message.id == 1                 id = "1"         False     true
#   message.content == 0            content = ""     False     true
#   message.tool_calls == none      absent           False     true
#   message.content == none         content = none   True      true
#
# It matters because the prompt changes and nothing fails: with the first condition a model without tools gets the
# paragraph that announces tools. Compare with `length`, `is defined` and `is none` in templates that both must render.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jinja2==3.1.6
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund @huggingface/jinja@0.5.11
cat >rows.json <<'JSON'
[
  ["tools != []", {"tools": []}, "no", "yes"],
  ["message.content == []", {"message": {"content": []}}, "yes", "no"],
  ["message.args == {}", {"message": {"args": {}}}, "yes", "no"],
  ["message.id == 1", {"message": {"id": "1"}}, "no", "yes"],
  ["message.content == 0", {"message": {"content": ""}}, "no", "yes"],
  ["message.tool_calls == none", {"message": {}}, "no", "yes"],
  ["message.content == none", {"message": {"content": null}}, "yes", "yes"],
  ["message.role == 'user'", {"message": {"role": "user"}}, "yes", "yes"],
  ["tools", {"tools": []}, "no", "no"],
  ["tools|length == 0", {"tools": []}, "yes", "yes"]
]
JSON
"$folder/venv/bin/python" - <<'PYTHON'
import json

from jinja2.sandbox import ImmutableSandboxedEnvironment

environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
with open("rows.json") as file:
    rows = json.load(file)
for condition, values, expected, _ in rows:
    template = environment.from_string("{% if " + condition + " %}yes{% else %}no{% endif %}")
    seen = template.render(**values)
    print("jinja2", condition, seen)
    assert seen == expected, condition
PYTHON
cat >run.js <<'JAVASCRIPT'
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { Template } from "@huggingface/jinja";

for (const [condition, values, , expected] of JSON.parse(readFileSync("rows.json", "utf8"))) {
  const seen = new Template(`{% if ${condition} %}yes{% else %}no{% endif %}`).render(values);
  console.log("@huggingface/jinja", condition, seen);
  assert.equal(seen, expected, condition);
}
assert.throws(() => new Template("{{ 'a' < 'b' }}").render({}), /Unknown operator/);
console.log("as described");
JAVASCRIPT
node run.js
