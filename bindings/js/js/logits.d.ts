import type { Grammar, MatcherOptions } from "./core.js";

/** Sets the logits of all tokens that the mask does not allow to minus infinity. Tokens beyond the mask are not allowed. */
export function applyMask(mask: Uint32Array, logits: Float32Array): void;

export interface LogitsProcessorOptions extends MatcherOptions {
  /** The output is complete within this many new tokens, the end included: give `max_new_tokens`. */
  maxNewTokens?: number;
}

export interface LogitsProcessorFunction extends Iterable<LogitsProcessorFunction> {
  <T extends { data: any; dims: readonly number[] }>(inputIds: bigint[][], logits: T): T;
}

/**
 * A logits processor for `generate` of transformers.js: `logits_processor: [logitsProcessor(grammar)]`. Each row of a
 * batch has a matcher; a list of grammars has one for each row. It may be used for several calls that do not overlap.
 */
export function logitsProcessor(grammar: Grammar | Grammar[], options?: LogitsProcessorOptions): LogitsProcessorFunction;
