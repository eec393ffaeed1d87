// A model that is a table of preferences, under a JSON Schema: `node bindings/js/examples/node.mjs TOKENIZER`.

import { readFileSync } from "node:fs";
import init, { Compiler, GrammataError, Vocabulary, applyMask } from "../pkg/node.js";

await init(); // for browsers; Node has loaded the library

const vocabulary = Vocabulary.fromFile(readFileSync(process.argv[2])); // once a model
const compiler = new Compiler(vocabulary);
const schema = { type: "object", properties: { city: { enum: ["Trier", "Köln"] }, people: { type: "integer" } }, required: ["city", "people"] };
const grammar = compiler.compileJsonSchema({ ...schema, additionalProperties: false }, { whitespace: "compact", maxDigits: 6 }); // once a grammar

const matcher = grammar.matcher(); // once a sequence
const mask = new Uint32Array(vocabulary.maskWords);
const logits = new Float32Array(vocabulary.width);
for (let step = 0; !matcher.isFinished; step++) {
  for (let token = 0; token < logits.length; token++) logits[token] = -((token * 31 + step) % 997); // ask the model here
  matcher.fillMaskWithin(30 - step, mask); // the output is complete within 30 tokens
  applyMask(mask, logits);
  matcher.accept(logits.indexOf(Math.max(...logits)));
}
console.log(new TextDecoder().decode(matcher.bytes));

try {
  compiler.compileJsonSchema({ type: "object", properties: { people: { minimum: "0" } } });
} catch (error) {
  if (!(error instanceof GrammataError)) throw error;
  console.log(error.code, error.place, error.found, error.allowed);
}
console.log(grammar.matcher().explain('{"town"').text);
console.log(grammar.sample(2, { seed: 7 }).map((word) => new TextDecoder().decode(word)));
matcher.free();
