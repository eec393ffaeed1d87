// The logits processor for transformers.js, called as `generate` calls it, with a scripted model.

import assert from "node:assert/strict";
import test from "node:test";
import { Compiler, applyMask, logitsProcessor, small, smollm2, thrown } from "./support.mjs";

/** Logits as transformers.js has them: rows of one array. */
function tensor(rows, width, score) {
  const data = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    for (let token = 0; token < width; token++) data[row * width + token] = score(row, token);
  }
  return { data, dims: [rows, width] };
}

/** Generates greedily, as `generate` does, until each row has its end token; returns the new ids of each row. */
function generate(prompts, processors, { width, score, end, most = 64 }) {
  const ids = prompts.map((prompt) => prompt.map(BigInt));
  const list = [...processors];
  const done = prompts.map(() => false);
  for (let step = 0; step < most && done.includes(false); step++) {
    let logits = tensor(ids.length, width, (row, token) => score(row, token, ids[row].length - prompts[row].length));
    for (const processor of list) logits = processor(ids, logits);
    ids.forEach((row, index) => {
      const scores = logits.data.subarray(index * width, (index + 1) * width);
      let best = 0;
      scores.forEach((score, token) => { if (score > scores[best]) best = token; });
      assert.ok(scores[best] > -Infinity, "no token is allowed");
      row.push(BigInt(best));
      done[index] ||= best === end;
    });
  }
  return ids.map((row, index) => row.slice(prompts[index].length).map(Number));
}

test("logits without their bits are minus infinity", () => {
  for (const length of [1, 31, 32, 33, 64, 100]) {
    const mask = new Uint32Array(4).map((_, index) => [0x80000001, 0, 0xffffffff, 5][index]);
    const logits = new Float32Array(length).map((_, index) => index);
    applyMask(mask, logits);
    logits.forEach((value, token) => {
      const allowed = (mask[token >>> 5] >>> (token & 31)) & 1;
      assert.equal(value, allowed ? token : -Infinity, `${token} of ${length}`);
    });
  }
});

test("a batch follows its grammars, and a second call begins again", () => {
  const compiler = small();
  const grammars = [compiler.compileRegex("(ab){2}"), compiler.compileRegex("b{5}")];
  const processor = logitsProcessor(grammars);
  const settings = { width: 16, end: 12, score: (row, token) => ((token * 7 + row) % 5) - token / 100 };
  const expected = [/^(ab){2}$/, /^b{5}$/];
  for (const prompts of [[[3, 3], [1, 2]], [[3, 3], [1, 2]], [[4], [5]]]) {
    const found = generate(prompts, [processor], settings);
    found.forEach((ids, row) => {
      const end = ids.indexOf(12);
      const text = new TextDecoder().decode(compiler.vocabulary.decode(ids.slice(0, end)));
      assert.match(text, expected[row]);
      // a row that has ended is filled with its end token
      assert.ok(ids.slice(end).every((id) => id === 12), `${ids}`);
    });
  }
  const error = thrown(() => processor([[1n]], tensor(1, 16, () => 0)));
  assert.deepEqual([error.code, error.kind], ["js/rows", "usage"]);
});

test("one grammar is for all rows, and the processor is its own list", () => {
  const processor = logitsProcessor(small().compileRegex("a+b"));
  const found = generate([[0], [1], [2]], processor, { width: 13, end: 12, score: (_, token) => -token });
  assert.equal(found.length, 3);
  for (const ids of found) assert.equal(ids[0], 0);
});

test("outputs end within max_new_tokens", () => {
  const vocabulary = smollm2();
  const schema = { type: "object", properties: { note: { type: "string" } }, required: ["note"] };
  const grammar = new Compiler(vocabulary).compileJsonSchema(schema, { whitespace: "compact" });
  const [end] = vocabulary.eos;
  const open = vocabulary.encodeGreedy("abc")[0];
  for (const maxNewTokens of [6, 9, 20]) {
    const processor = logitsProcessor(grammar, { maxNewTokens });
    // the model would never end the string
    const score = (_, token) => (token === open ? 5 : -token / 1e5);
    const [ids] = generate([[1, 2, 3]], processor, { width: vocabulary.width, end, score, most: maxNewTokens });
    assert.equal(ids.at(-1), end);
    const text = new TextDecoder().decode(vocabulary.decode(ids));
    assert.equal(typeof JSON.parse(text).note, "string");
  }
});

test("a token that the grammar does not allow is an error", () => {
  const processor = logitsProcessor(small().compileRegex("ab"));
  processor([[3n]], tensor(1, 13, () => 0));
  assert.equal(thrown(() => processor([[3n, 1n]], tensor(1, 13, () => 0))).kind, "rejected");
});
