// What the tests share: the package, the vocabulary of SmolLM2, and digests of masks.

import { readFileSync } from "node:fs";

export * from "../pkg/node.js";
import { Compiler, Vocabulary } from "../pkg/node.js";

/** A setting of `cargo xtask full js`. */
export function setting(name) {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run the tests by \`cargo xtask full js\``);
  return value;
}

export const tokenizer = setting("GRAMMATA_TOKENIZER");

let vocabulary;

/** The vocabulary of SmolLM2. */
export function smollm2() {
  vocabulary ??= Vocabulary.fromFile(readFileSync(tokenizer));
  return vocabulary;
}

/** A compiler for a vocabulary of few tokens. */
export function small() {
  const tokens = ["a", "b", "ab", "ba", "{", "}", '"', ":", "1", "2", " ", "c", null];
  return new Compiler(Vocabulary.fromTokens(tokens, { specials: { "<end>": 12 }, eos: 12 }));
}

/** The ids of a mask. */
export function ids(mask) {
  return [...mask].flatMap((word, index) => {
    return Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => (word >>> bit) & 1).map((bit) => 32 * index + bit);
  });
}

/** The digest of a mask, as `examples/reference.rs` computes it: two hashes of 32 bits. */
export function digest(words) {
  let [first, second] = [0x811c9dc5, 1];
  for (const word of words) {
    first = Math.imul(first ^ word, 0x01000193);
    second = Math.imul((second + word) | 0, 0x85ebca6b);
    second ^= second >>> 15;
  }
  const hex = (number) => (number >>> 0).toString(16).padStart(8, "0");
  return hex(first) + hex(second);
}

/** Compiles a source by the name of its notation. */
export function compile(compiler, { notation, text }) {
  const methods = {
    "json-schema": "compileJsonSchema",
    regex: "compileRegex",
    gbnf: "compileGbnf",
    lark: "compileLark",
    "structural-tag": "compileStructuralTag",
  };
  return compiler[methods[notation]](text);
}

/** The error that a function throws. */
export function thrown(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
