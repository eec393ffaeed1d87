// Times of the package and of the engine on this machine, on the same walks: `node bench/masks.mjs`, with the settings of
// the tests. A line is printed for the load of the tokenizer, compiling, first masks and all masks, each in microseconds.

import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const begun = performance.now();
const { Compiler, Vocabulary } = await import("../pkg/node.js");
const loaded = performance.now();
const { compile, setting } = await import("../tests/support.mjs");

/** Number of random schemas, and of tokens of each walk. */
const [RANDOM, STEPS] = ["600", "48"];

const library = new URL("../pkg/core_bg.wasm", import.meta.url);
const size = statSync(library).size;
const packed = gzipSync(readFileSync(library), { level: 9 }).length;
console.log(`library: ${size} bytes, ${packed} with gzip; loaded in ${(loaded - begun).toFixed(1)} ms`);

const content = readFileSync(setting("GRAMMATA_TOKENIZER"));
const time = (name, call) => {
  const begun = performance.now();
  const result = call();
  console.log(`${name}: ${(performance.now() - begun).toFixed(1)} ms`);
  return result;
};
const vocabulary = time("tokenizer.json", () => Vocabulary.fromFile(content));
const compiler = new Compiler(vocabulary);
time("tables of the vocabulary", () => compiler.prepare());

const cases = fileURLToPath(new URL("../tests/cases.json", import.meta.url));
const run = spawnSync(setting("GRAMMATA_REFERENCE"), [setting("GRAMMATA_TOKENIZER"), cases, RANDOM, STEPS], {
  encoding: "utf8",
  maxBuffer: 1 << 30,
});
const lines = run.stdout.trim().split("\n").map((line) => JSON.parse(line)).filter((line) => line.error === null);

const times = { package: { compile: [], first: [], all: [], warm: [] }, engine: { compile: [], first: [], all: [] } };
const words = new Uint32Array(vocabulary.maskWords);
for (const line of lines) {
  const start = performance.now();
  const grammar = compile(compiler, line);
  times.package.compile.push((performance.now() - start) * 1000);
  times.engine.compile.push(line.result.compileNanos / 1000);
  line.result.walks.forEach((walk, index) => {
    for (const target of [times.package.all, times.package.warm]) {
      const matcher = grammar.matcher();
      walk.nanos.forEach((nanos, step) => {
        const start = performance.now();
        matcher.fillMask(words);
        const taken = (performance.now() - start) * 1000;
        target.push(taken);
        if (target === times.package.all) {
          times.engine.all.push(nanos / 1000);
          if (index === 0 && step === 0) {
            times.package.first.push(taken);
            times.engine.first.push(nanos / 1000);
          }
        }
        if (step < walk.tokens.length) matcher.accept(walk.tokens[step]);
      });
      matcher.free();
    }
  });
}

console.log(`\n${lines.length} grammars, ${times.package.all.length} masks; microseconds`);
console.log("what             | side    |   mean |    p50 |    p90 |    p99 |     max");
for (const what of ["compile", "first", "all", "warm"]) {
  for (const side of ["package", "engine"]) {
    const sorted = times[side][what]?.toSorted((a, b) => a - b);
    if (sorted === undefined) continue;
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1);
    const mean = (sorted.reduce((sum, one) => sum + one, 0) / sorted.length).toFixed(1);
    const cells = [mean, at(0.5), at(0.9), at(0.99), at(1)].map((cell) => cell.padStart(6));
    console.log(`${what.padEnd(16)} | ${side} | ${cells.join(" | ")}`);
  }
}
