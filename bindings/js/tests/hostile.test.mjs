// Hostile inputs are errors, or take bounded time; the instance goes on afterwards.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Compiler, GrammataError, Vocabulary, digest, small, smollm2, thrown, tokenizer } from "./support.mjs";

/** Calls what must not end in anything but a result or an error of the package. */
function bounded(name, call) {
  const begun = performance.now();
  let error = null;
  try {
    call();
  } catch (caught) {
    error = caught;
  }
  assert.ok(error === null || error instanceof GrammataError, `${name}: ${error?.stack}`);
  assert.notEqual(error?.kind, "internal", `${name}: ${error?.message}`);
  assert.ok(performance.now() - begun < 60000, name);
  return error;
}

const compiler = new Compiler(smollm2());
const before = digest(compiler.compileJsonSchema({}).matcher().mask());

/** Whether the instance still gives the mask that it gave at first. */
function lives(name) {
  assert.equal(digest(compiler.compileJsonSchema({}).matcher().mask()), before, name);
}

const deep = (open, close, depth) => open.repeat(depth) + close.repeat(depth);
const MEGABYTES = 10 << 20;

/** Sources that are long, deep, ambiguous or damaged; whether they must be refused. */
const SOURCES = [
  ["a schema of 10 MB", true, () => compiler.compileJsonSchema(`{"enum": ["${"x".repeat(MEGABYTES)}"`)],
  ["an enum of 10 MB", false, () => compiler.compileJsonSchema(JSON.stringify({ enum: Array.from({ length: 600000 }, (_, i) => `value ${i}`) }))],
  ["a schema of 17 MB", true, () => compiler.compileJsonSchema(`{"title": "${"x".repeat(17 << 20)}"}`)],
  ["a GBNF grammar of 10 MB", false, () => compiler.compileGbnf('root ::= "a"\n' + "x ::= [a-z]+ | root\n".repeat(MEGABYTES / 20))],
  ["GBNF with 10 MB of parentheses", true, () => compiler.compileGbnf("root ::= " + deep("(", ")", MEGABYTES / 2))],
  ["GBNF with 100,000 parentheses", false, () => compiler.compileGbnf("root ::= " + deep("(", ")", 100000).replace("()", '("a")'))],
  ["a Lark grammar of 10 MB", true, () => compiler.compileLark("start: " + deep("(", ")", MEGABYTES / 2))],
  ["Lark with 100,000 parentheses", false, () => compiler.compileLark("start: " + deep("(", ")", 100000).replace("()", '("a")'))],
  ["a pattern of 10 MB", true, () => compiler.compileRegex("a".repeat(MEGABYTES))],
  ["a pattern with 400,000 parentheses", false, () => compiler.compileRegex(deep("(", ")", 400000))],
  ["counts of counts", false, () => compiler.compileRegex("((((a{1,1000}){1,1000}){1,1000}){1,1000})")],
  ["classes of Unicode", false, () => compiler.compileRegex("(\\w\\W\\d\\D\\s\\S\\p{L}\\P{L}){200}")],
  ["a deep schema", true, () => compiler.compileJsonSchema(deep('{"not": ', "}", 100000))],
  ["a schema of 120 levels", false, () => compiler.compileJsonSchema('{"items": '.repeat(60) + "{}" + "}".repeat(60))],
  ["references in a circle", true, () => compiler.compileJsonSchema({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } })],
  ["conditions without end", false, () => compiler.compileJsonSchema({ allOf: Array.from({ length: 40 }, (_, i) => ({ anyOf: [{ required: [`a${i}`] }, { not: { required: [`b${i}`] } }] })) })],
  ["a rule that calls itself", true, () => compiler.compileGbnf("root ::= root")],
  ["nothing", true, () => compiler.compileGbnf("")],
  ["a lone surrogate", false, () => compiler.compileRegex("\ud800a")],
  ["a NUL", false, () => compiler.compileJsonSchema({ const: "\0" })],
  ["a tag of deep formats", true, () => compiler.compileStructuralTag(deep('{"type": "sequence", "elements": [', "]}", 5000))],
];

for (const [name, mustFail, call] of SOURCES) {
  test(name, () => {
    const error = bounded(name, () => {
      const grammar = call();
      const matcher = grammar.matcher();
      for (let step = 0; step < 4; step++) {
        const mask = matcher.mask();
        const word = mask.findIndex((bits) => bits !== 0);
        if (word < 0) break;
        matcher.accept(32 * word + (31 - Math.clz32(mask[word] & -mask[word])));
      }
      grammar.free();
    });
    if (mustFail) assert.ok(error !== null, name);
    lives(name);
  });
}

test("damaged tokenizers", () => {
  const content = readFileSync(tokenizer);
  const damaged = [
    ["nothing", new Uint8Array(0)],
    ["half", content.subarray(0, content.length / 2)],
    ["zeros", new Uint8Array(1 << 20)],
    ["a long line", "x".repeat(MEGABYTES)],
    ["100 MB", new Uint8Array(100 << 20).fill(123)],
    ["brackets", "[".repeat(MEGABYTES)],
    ["an id beyond all bounds", '{"model": {"type": "BPE", "vocab": {"a": 4294967295}, "merges": []}}'],
    ["a negative id", '{"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}'],
    ["no vocabulary", '{"model": {"type": "BPE"}}'],
    ["an unknown model", content.toString().replace('"BPE"', '"XYZ"')],
    ["an unknown decoder", content.toString().replaceAll('"ByteLevel"', '"Unknown"')],
  ];
  for (const [name, form] of damaged) assert.ok(bounded(name, () => Vocabulary.fromFile(form)), name);
  let state = 1;
  for (let round = 0; round < 40; round++) {
    const copy = new Uint8Array(content);
    for (let change = 0; change < 20; change++) {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      copy[state % copy.length] = state >>> 24;
    }
    bounded(`round ${round}`, () => Vocabulary.fromFile(copy));
  }
  lives("tokenizers");
});

test("large arguments", () => {
  const matcher = small().compileRegex("[ab]*").matcher();
  bounded("an array of 100 MB", () => matcher.fillMask(new Uint32Array(25 << 20)));
  bounded("a million tokens", () => assert.equal(matcher.acceptTokens(new Uint32Array(1 << 20)), 1 << 20));
  bounded("5 MB of text", () => matcher.acceptBytes("ab".repeat(5 << 19)));
  bounded("a million steps back", () => matcher.rollback(1 << 20));
  assert.ok(bounded("too many steps back", () => matcher.rollback(2 ** 32 - 1)));
  bounded("an enumeration", () => small().compileRegex("[ab]{64}").enumerate({ limit: 100000 }));
  lives("arguments");
});

test("values of JavaScript that throw", () => {
  const trap = new Proxy({}, { get: () => { throw new RangeError("trap"); }, ownKeys: () => { throw new RangeError("trap"); } });
  const circle = {};
  circle.self = circle;
  const matcher = small().compileRegex("[ab]*").matcher();
  const calls = [
    () => compiler.compileJsonSchema(trap),
    () => compiler.compileJsonSchema({}, trap),
    () => compiler.compileJsonSchema(circle),
    () => compiler.compileJsonSchema({ const: 10n }),
    () => matcher.acceptTokens(new Proxy([1], { get: (list, name) => { if (name === "0") throw new RangeError("trap"); return list[name]; } })),
    () => Vocabulary.fromTokens([trap]),
    () => matcher.acceptBytes(trap),
  ];
  for (const call of calls) assert.ok(bounded(`${call}`, call), `${call}`);
  // detached memory
  const words = new Uint32Array(1);
  structuredClone(words.buffer, { transfer: [words.buffer] });
  assert.equal(thrown(() => matcher.fillMask(words)).code, "mask/buffer-too-short");
  matcher.accept(0);
  lives("traps");
});

test("a limit ends the call, not the matcher", () => {
  const limited = new Compiler(smollm2(), { limits: { mask_work: 50 } });
  const matcher = limited.compileJsonSchema({}).matcher();
  const error = thrown(() => matcher.mask());
  assert.equal(error.code, "limit/exceeded");
  assert.equal(error.kind, "limit");
  assert.equal(thrown(() => matcher.mask()).code, "limit/exceeded");
});
