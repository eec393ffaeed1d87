#!/usr/bin/env bash
# What was run: @valibot/to-json-schema 1.8.0 on the date and time actions of valibot 1.5.0, with ajv 8.20.0 and
# ajv-formats 3.0.1 as judges of the schema.
#
# Expected: a value that the schema allows is one that Valibot reads, or the conversion fails as it does for
# `isoDateTimeSecond`.
#
# Seen: `isoDateTime` (`2026-12-01T10:30`, no seconds and no zone) is converted to the format `date-time`, and `isoTime`
# (`10:30`) to the format `time`. Both formats demand seconds and a zone. So the schema and the validator have no value
# in common. `isoTimestamp` and `isoTimeSecond` are converted rightly; the table of the package marks all four as
# supported.
#
#   action          schema                   allowed by the schema       read by Valibot
#   isoDateTime     format: date-time        2026-12-01T10:30:00Z        2026-12-01T10:30
#   isoTime         format: time             10:30:00Z                   10:30
#   isoTimestamp    format: date-time        2026-12-01T10:30:00Z        2026-12-01T10:30:00Z
#
# It matters to a decoder that enforces formats: every output of the model is refused. Use `v.isoTimestamp()`, or
# `v.regex(…)`, which becomes a pattern.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' >package.json
npm install --silent --no-audit --no-fund valibot@1.5.0 @valibot/to-json-schema@1.8.0 ajv@8.20.0 ajv-formats@3.0.1
cat >run.js <<'JAVASCRIPT'
import assert from "node:assert";
import { toJsonSchema } from "@valibot/to-json-schema";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import * as v from "valibot";

const ajv = new Ajv.default();
addFormats.default(ajv);
const TEXTS = [
  "2026-12-01T10:30:00Z", "2026-12-01T10:30:00.5+01:00", "2026-12-01T10:30", "2026-12-01 10:30",
  "10:30:00Z", "10:30:00+01:00", "10:30:00", "10:30",
];
const times = ["2026-12-01T10:30:00Z", "2026-12-01T10:30:00.5+01:00"];
const rows = [
  ["isoDateTime", "date-time", times, ["2026-12-01T10:30", "2026-12-01 10:30"]],
  ["isoTime", "time", ["10:30:00Z", "10:30:00+01:00"], ["10:30"]],
  ["isoTimestamp", "date-time", times, times],
];
for (const [action, format, allowed, read] of rows) {
  const type = v.pipe(v.string(), v[action]());
  const schema = toJsonSchema(type);
  const bySchema = TEXTS.filter(ajv.compile(schema));
  const byType = TEXTS.filter((text) => v.safeParse(type, text).success);
  console.log(action, schema.format, "schema", bySchema, "Valibot", byType);
  assert.equal(schema.format, format);
  assert.deepEqual(bySchema, allowed);
  assert.deepEqual(byType, read);
}
assert.equal(toJsonSchema(v.pipe(v.string(), v.isoTimeSecond())).format, undefined);
assert.throws(() => toJsonSchema(v.pipe(v.string(), v.isoDateTimeSecond())), /cannot be converted/);
console.log("as described");
JAVASCRIPT
node run.js
