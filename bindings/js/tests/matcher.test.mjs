// Matchers: steps, forks, budgets, explanations, events; words of grammars; vocabularies.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Compiler, Vocabulary, digest, ids, small, smollm2, thrown, tokenizer } from "./support.mjs";

const text = (bytes) => new TextDecoder().decode(bytes);
const PERSON = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
};

test("steps, rollbacks and ends", () => {
  const matcher = small().compileRegex("(ab)+").matcher();
  assert.deepEqual(ids(matcher.mask()), [0, 2]);
  matcher.accept(2);
  assert.equal(matcher.tryAccept(1), false);
  assert.deepEqual(ids(matcher.mask()), [0, 2, 12]);
  assert.equal(matcher.isAccepting, true);
  assert.equal(matcher.isTokenAllowed(12), true);
  assert.equal(matcher.acceptTokens([0, 1, 1]), 2);
  assert.equal(matcher.acceptTokens(new Uint32Array([2])), 1);
  assert.equal(text(matcher.bytes), "ababab");
  assert.equal(matcher.steps, 4);
  matcher.rollback(2);
  assert.equal(text(matcher.bytes), "aba");
  assert.equal(matcher.isAccepting, false);
  matcher.rollback();
  matcher.accept(12);
  assert.equal(matcher.isFinished, true);
  matcher.reset();
  assert.equal(matcher.steps, 0);
});

test("forks are independent, and rollbacks restore masks", () => {
  const compiler = new Compiler(smollm2());
  const grammar = compiler.compileJsonSchema(PERSON);
  const matcher = grammar.matcher();
  const digests = [];
  const tokens = smollm2().encodeGreedy('{"name": "Zoë", "age": 41}');
  const forks = [];
  for (const token of tokens) {
    digests.push(digest(matcher.mask()));
    forks.push(matcher.fork());
    matcher.accept(token);
  }
  assert.equal(matcher.isAccepting, true);
  // each fork is where it was made, whatever the others did
  forks.forEach((fork, place) => {
    assert.equal(digest(fork.mask()), digests[place]);
    fork.acceptTokens(tokens.slice(place));
    assert.equal(text(fork.bytes), '{"name": "Zoë", "age": 41}');
    fork.rollback(tokens.length - place);
    assert.equal(digest(fork.mask()), digests[place]);
    fork.free();
  });
  for (let place = tokens.length - 1; place >= 0; place--) {
    matcher.rollback();
    assert.equal(digest(matcher.mask()), digests[place]);
  }
});

test("a longer array has zeros after the mask", () => {
  const matcher = small().compileRegex("a").matcher();
  const words = new Uint32Array(3).fill(7);
  matcher.fillMask(words);
  assert.deepEqual([...words], [1, 0, 0]);
  const part = new Uint32Array(new Uint32Array([9, 9, 9, 9]).buffer, 4, 2);
  matcher.fillMask(part);
  assert.deepEqual([...new Uint32Array(part.buffer)], [9, 1, 0, 9]);
});

test("outputs are complete within budgets", () => {
  const grammar = new Compiler(smollm2()).compileJsonSchema(PERSON);
  const words = new Uint32Array(smollm2().maskWords);
  let state = 7;
  for (let budget = 12; budget < 40; budget++) {
    const matcher = grammar.matcher();
    let left = budget;
    while (!matcher.isAccepting) {
      matcher.fillMaskWithin(left, words);
      const allowed = ids(words);
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      matcher.accept(allowed[state % allowed.length]);
      left -= 1;
    }
    assert.ok(left >= 0);
    JSON.parse(text(matcher.bytes));
  }
  const matcher = grammar.matcher();
  const { kind, known } = matcher.distance();
  assert.ok(kind === "exact" || kind === "at most", kind);
  matcher.checkBudget(known);
  assert.deepEqual(small().compileRegex("(ab){3}").matcher().distance(), { kind: "exact", known: 3 });
  assert.deepEqual(small().compileRegex("d").matcher().distance(), { kind: "unreachable", known: null });
  const error = thrown(() => matcher.checkBudget(1));
  assert.equal(error.kind, "rejected");
});

test("forced bytes and explanations", () => {
  const matcher = new Compiler(smollm2()).compileJsonSchema(PERSON, { whitespace: "compact" }).matcher();
  assert.equal(text(matcher.forcedBytes()), '{"name":"');
  const forced = text(smollm2().decode(matcher.forcedTokens()));
  assert.ok(forced.length > 0 && '{"name":"'.startsWith(forced), forced);
  matcher.acceptBytes('{"name":"x","age":');
  assert.deepEqual(text(matcher.allowedBytes()), "-0123456789");
  const found = matcher.explain("true");
  assert.deepEqual([found.isViable, found.position, String.fromCharCode(found.found)], [false, 18, "t"]);
  assert.ok(found.expected[0].rule.startsWith("#") && found.text.includes("expected"), found.text);
  assert.deepEqual(found.expected[0].bytes.map((byte) => String.fromCharCode(byte)).join(""), "-0123456789");
  assert.equal(matcher.explain("41}").isViable, true);
  assert.equal(matcher.explain("41}").mayEnd, true);
  assert.equal(matcher.explainToken(smollm2().encodeGreedy("true")[0]).isViable, false);
  assert.equal(matcher.tryAcceptBytes(new TextEncoder().encode("4")), true);
});

test("events of JSON values and of rules", () => {
  const grammar = new Compiler(smollm2()).compileJsonSchema(PERSON);
  const matcher = grammar.matcher({ events: "json" });
  matcher.acceptBytes('{"name": "x"');
  assert.deepEqual(
    matcher.newEvents().map(({ type, kind, pointer }) => `${type} ${kind} ${pointer}`),
    ["begin object ", "begin string /name", "end string /name"],
  );
  assert.deepEqual(matcher.newEvents(), []);
  matcher.acceptBytes(', "age": 3}');
  const last = matcher.newEvents().at(-1);
  assert.deepEqual([last.type, last.kind, last.start, last.end], ["end", "object", 0, 23]);
  const rules = small().compileGbnf('root ::= item item\nitem ::= "a" | "b"').matcher({ events: ["item"] });
  rules.acceptBytes("ab");
  assert.deepEqual(rules.newEvents().filter(({ type }) => type === "end").map(({ rule, start }) => [rule, start]), [["item", 0], ["item", 1]]);
});

test("end tokens of a request", () => {
  const grammar = small().compileRegex("a+");
  const matcher = grammar.matcher({ endTokens: [4, 5] });
  assert.deepEqual([...matcher.endTokens], [4, 5]);
  matcher.accept(0);
  assert.deepEqual(ids(matcher.mask()), [0, 4, 5]);
});

test("words are counted, listed and drawn", () => {
  const compiler = small();
  assert.equal(compiler.compileRegex("[ab]{1,3}").count(), 14n);
  assert.equal(compiler.compileRegex("[ab]{0,200}").count(), 2n ** 201n - 1n);
  assert.equal(compiler.compileRegex("a*").count(), undefined);
  assert.deepEqual(compiler.compileRegex("(ab|b)+").enumerate({ limit: 3 }).map(text), ["b", "ab", "bb"]);
  assert.deepEqual(compiler.compileRegex("(ab|b)+").enumerate({ limit: 1, offset: 2 }).map(text), ["bb"]);
  const grammar = compiler.compileRegex("[ab]{8}");
  const drawn = grammar.sample(20, { seed: 5, uniform: true }).map(text);
  assert.ok(drawn.every((word) => /^[ab]{8}$/.test(word)) && new Set(drawn).size > 10);
  assert.deepEqual(grammar.sample(20, { seed: 5, uniform: true }).map(text), drawn);
  const [word] = compiler.compileGbnf('root ::= "a" <[12]> "b"').enumerate();
  assert.equal(word.length, 3);
  assert.deepEqual([text(word[0]), typeof word[1], text(word[2])], ["a", "string", "b"]);
});

test("vocabularies from files and tokens", () => {
  const content = readFileSync(tokenizer);
  const expected = smollm2().fingerprint;
  for (const form of [content.toString(), content.buffer.slice(content.byteOffset, content.byteOffset + content.length), JSON.parse(content)]) {
    assert.deepEqual(Vocabulary.fromFile(form).fingerprint, expected);
  }
  assert.deepEqual([smollm2().size, smollm2().width, smollm2().maskWords], [49152, 49152, 1536]);
  const wide = Vocabulary.fromFile(content, { width: 50000, eos: [2], addedSpecial: true });
  assert.deepEqual([wide.width, [...wide.eos]], [50000, [2]]);
  const vocabulary = Vocabulary.fromTokens(["a", new Uint8Array([0xff]), null], { specials: { "<s>": 2 }, eos: [2], width: 64 });
  assert.deepEqual([vocabulary.size, vocabulary.maskWords, [...vocabulary.eos]], [3, 2, [2]]);
  assert.deepEqual(vocabulary.bytes(1), new Uint8Array([0xff]));
  assert.equal(vocabulary.bytes(2), undefined);
  assert.deepEqual([vocabulary.special(2), vocabulary.specialId("<s>"), vocabulary.specialId("x")], ["<s>", 2, undefined]);
  assert.deepEqual(vocabulary.specials, { "<s>": 2 });
  assert.equal(vocabulary.encodeGreedy("b"), undefined);
  const sentence = "Grüße, 世界 🌍!";
  assert.equal(text(smollm2().decode(smollm2().encodeGreedy(sentence))), sentence);
});

test("memory is returned when objects are freed", () => {
  const grammar = new Compiler(smollm2()).compileJsonSchema(PERSON);
  for (let round = 0; round < 20000; round++) {
    const matcher = grammar.matcher();
    matcher.acceptBytes('{"name": "');
    matcher.free();
  }
  assert.ok(grammar.memoryUsage() < 64 << 20);
  const matcher = grammar.matcher();
  matcher.free();
  assert.throws(() => matcher.mask());
});
