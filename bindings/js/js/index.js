// Browsers and bundlers: call the default export once, and wait for it.

export { default, initSync, Compiler, Grammar, Matcher, Vocabulary } from "./core.js";
export { GrammataError } from "./border.js";
export { applyMask, logitsProcessor } from "./logits.js";
