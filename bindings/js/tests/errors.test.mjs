// Errors carry what was wrong, where, and what is allowed.

import assert from "node:assert/strict";
import test from "node:test";
import { Compiler, GrammataError, Vocabulary, small, smollm2, thrown } from "./support.mjs";

const compiler = small();
const matcher = () => compiler.compileRegex("(ab)+").matcher();

/** What is called, and the kind, code and some fields of its error. */
const CASES = [
  [() => compiler.compileJsonSchema({ properties: { a: { minimum: "3" } } }), "grammar", "json-schema/invalid-keyword", { place: "#/properties/a/minimum", found: '"3"', allowed: "a number" }],
  [() => compiler.compileJsonSchema('{"a": '), "grammar", "json-schema/not-json", { place: "line 1, column 6" }],
  [() => compiler.compileJsonSchema({ $ref: "urn:x" }), "grammar", "json-schema/remote-reference", { found: "urn:x" }],
  [() => compiler.compileJsonSchema({ type: () => 1 }), "usage", "js/not-json", {}],
  [() => compiler.compileJsonSchema(undefined), "usage", "js/not-json", {}],
  [() => compiler.compileJsonSchema({}, { whitespce: "free" }), "usage", "js/option", { found: "whitespce" }],
  [() => compiler.compileJsonSchema({}, { whitespace: "wide" }), "usage", "js/option", { found: "wide" }],
  [() => compiler.compileJsonSchema({}, 3), "usage", "js/option", { found: "3", allowed: "an object" }],
  [() => compiler.compileRegex("(a"), "grammar", "regex/unclosed-group", { found: "(" }],
  [() => compiler.compileRegex("a", { dialect: "perl" }), "usage", "js/option", { allowed: "rust, ecma" }],
  [() => compiler.compileGbnf("root ::= missing"), "grammar", "gbnf/undefined-rule", {}],
  [() => compiler.compileLark("start: missing"), "grammar", "lark/undefined", { found: "missing" }],
  [() => compiler.compileStructuralTag({ type: "structural_tag" }), "grammar", null, {}],
  [() => new Compiler(smollm2(), { limits: { cache_byte: 1 } }), "usage", "js/limits", { found: "cache_byte" }],
  [() => new Compiler(smollm2(), { limits: { grammar_nodes: 5 } }).compileJsonSchema({}), "limit", "limit/exceeded", {}],
  [() => Vocabulary.fromFile("{}"), "vocabulary", null, {}],
  [() => Vocabulary.fromFile(undefined), "usage", "js/bytes", { found: "undefined" }],
  [() => Vocabulary.fromTokens("abc"), "usage", "js/token-list", {}],
  [() => Vocabulary.fromTokens(["a", 3]), "usage", "js/token-list", { found: "number at index 1" }],
  [() => Vocabulary.fromTokens(["a"], { eos: 7 }), "vocabulary", null, {}],
  [() => matcher().accept(1), "rejected", null, {}],
  [() => matcher().accept(-1), "usage", "js/token-range", { found: "-1" }],
  [() => matcher().accept(2 ** 32), "usage", "js/token-range", {}],
  [() => matcher().accept(0.5), "usage", "js/token-range", {}],
  [() => matcher().accept("x"), "usage", "js/token-range", { found: "NaN" }],
  [() => matcher().accept(4000), "rejected", null, {}],
  [() => matcher().acceptBytes("ax"), "rejected", "matcher/rejected", {}],
  [() => matcher().acceptBytes(7), "usage", "js/bytes", { found: "number" }],
  [() => matcher().acceptTokens([0, "1"]), "usage", "js/tokens", {}],
  [() => matcher().acceptTokens(3), "usage", "js/tokens", {}],
  [() => matcher().rollback(), "usage", null, {}],
  [() => matcher().rollback(-1), "usage", "js/number", { found: "-1" }],
  [() => matcher().fillMask([0]), "usage", "js/words", {}],
  [() => matcher().fillMask(new Int32Array(1)), "usage", "js/words", {}],
  [() => matcher().fillMask(new Uint32Array(0)), "usage", "mask/buffer-too-short", {}],
  [() => matcher().fillMaskWithin(0, new Uint32Array(1)), "rejected", null, {}],
  [() => matcher().newEvents(), "usage", "js/no-events", {}],
  [() => compiler.compileRegex("a").matcher({ events: "xml" }), "usage", "js/option", { found: "xml" }],
  [() => compiler.compileRegex("a{3}").sample(1, { maxBytes: 2 }), "usage", null, {}],
];

test("errors have their fields", () => {
  for (const [call, kind, code, fields] of CASES) {
    const error = thrown(call);
    const where = `${call}: ${error.stack}`;
    assert.ok(error instanceof GrammataError && error instanceof Error, where);
    assert.equal(error.name, "GrammataError");
    assert.equal(error.kind, kind, where);
    if (code !== null) assert.equal(error.code, code, where);
    assert.match(error.code, /^[a-z-]+\/[a-z-]+$/, where);
    assert.ok(error.message.startsWith(`[${error.code}] `), where);
    assert.ok(error.help, where);
    assert.ok(error.allowed !== null || error.found !== null || error.place !== null, where);
    for (const [name, value] of Object.entries(fields)) assert.equal(error[name], value, where);
    assert.equal(error.diagnostics[0].code, error.code);
  }
});

test("all errors of a source are reported", () => {
  const error = thrown(() => compiler.compileGbnf("root ::= a b\nx ::= [a\n"));
  assert.ok(error.diagnostics.length >= 1);
  for (const diagnostic of error.diagnostics) assert.ok(diagnostic.line >= 1 && diagnostic.column >= 1);
});

test("warnings are no errors", () => {
  const grammar = compiler.compileRegex("ac?d?");
  assert.deepEqual(grammar.warnings.map((warning) => warning.code), ["mask/missing-bytes"]);
  assert.deepEqual(compiler.compileRegex("ab").warnings, []);
});

test("messages name options of JavaScript", () => {
  const texts = CASES.map(([call]) => thrown(call).message);
  for (const text of texts) assert.doesNotMatch(text, /Options::|Limits::|LoadOptions|_mask\(/, text);
  const limited = thrown(CASES.find(([, , code]) => code === "limit/exceeded")[0]);
  assert.match(limited.message, /limits: \{grammar_nodes/);
});
