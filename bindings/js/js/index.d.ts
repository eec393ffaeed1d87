export { default, initSync, Compiler, Grammar, Matcher, Vocabulary } from "./core.js";
export type * from "./core.js";
export { GrammataError } from "./border.js";
export { applyMask, logitsProcessor } from "./logits.js";
export type { LogitsProcessorFunction, LogitsProcessorOptions } from "./logits.js";
