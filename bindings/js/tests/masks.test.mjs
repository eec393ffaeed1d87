// Masks of the package are those of the engine on this machine, bit by bit, along the same walks.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { Compiler, compile, digest, setting, smollm2, tokenizer } from "./support.mjs";

/** Number of random schemas, and of tokens of each walk. */
const [RANDOM, STEPS, BUDGET] = ["1500", "32", 40];

/** All cases with the walks of the engine. */
function reference() {
  const file = join(mkdtempSync(join(tmpdir(), "grammata-js-")), "cases.json");
  const cases = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8"));
  const sample = new URL("../../../tests/data/maskbench-sample.jsonl", import.meta.url);
  for (const line of readFileSync(sample, "utf8").trim().split("\n")) {
    const { id, schema } = JSON.parse(line);
    cases.push({ name: `sample ${id}`, notation: "json-schema", text: JSON.stringify(schema) });
  }
  writeFileSync(file, JSON.stringify(cases));
  const options = { encoding: "utf8", maxBuffer: 1 << 30 };
  const run = spawnSync(setting("GRAMMATA_REFERENCE"), [tokenizer, file, RANDOM, STEPS], options);
  assert.equal(run.status, 0, run.stderr);
  return run.stdout.trim().split("\n").map((line) => JSON.parse(line));
}

/** Takes one walk; returns the number of masks compared. */
function follow(grammar, walk, name) {
  const matcher = grammar.matcher();
  const words = new Uint32Array(grammar.vocabulary.maskWords);
  walk.masks.forEach((expected, step) => {
    const where = `${name}, step ${step}`;
    matcher.fillMask(words);
    assert.equal(digest(words), expected, where);
    if (step % 8 === 0) assert.deepEqual(matcher.mask(), words, where);
    let within;
    try {
      matcher.fillMaskWithin(Math.max(BUDGET - step, 0), words);
      within = digest(words);
    } catch (error) {
      within = error.code;
      assert.ok(words.every((word) => word === 0), where);
    }
    assert.equal(within, walk.within[step], where);
    if (step < walk.tokens.length) matcher.accept(walk.tokens[step]);
  });
  matcher.free();
  return walk.masks.length;
}

test("masks are those of the engine", () => {
  const lines = reference();
  const compiler = new Compiler(smollm2());
  const counts = { grammars: 0, refused: 0, masks: 0, notations: new Set() };
  for (const { name, notation, text, error, result } of lines) {
    let grammar;
    try {
      grammar = compile(compiler, { notation, text });
    } catch (refusal) {
      assert.equal(refusal.code, error, name);
      counts.refused += 1;
      continue;
    }
    assert.equal(error, null, name);
    counts.grammars += 1;
    counts.notations.add(notation);
    for (const walk of result.walks) counts.masks += follow(grammar, walk, name);
    grammar.free();
  }
  assert.equal(counts.notations.size, 5);
  assert.ok(counts.grammars > 1000 && counts.masks > 10000 && counts.refused >= 5, JSON.stringify(counts));
  console.log(`${counts.masks} masks of ${counts.grammars} grammars; ${counts.refused} refused by both`);
});
