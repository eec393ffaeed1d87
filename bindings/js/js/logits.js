// Masks applied to logits, and a logits processor for transformers.js.

import { GrammataError } from "./border.js";

/** Sets the logits of all tokens that the mask does not allow to minus infinity. */
export function applyMask(mask, logits) {
  const full = logits.length >>> 5;
  for (let word = 0; word < full; word++) {
    const bits = mask[word] | 0;
    if (bits === -1) continue;
    const start = word << 5;
    if (bits === 0) {
      logits.fill(-Infinity, start, start + 32);
      continue;
    }
    for (let bit = 0; bit < 32; bit++) {
      if (((bits >>> bit) & 1) === 0) logits[start + bit] = -Infinity;
    }
  }
  for (let token = full << 5; token < logits.length; token++) {
    if (((mask[token >>> 5] >>> (token & 31)) & 1) === 0) logits[token] = -Infinity;
  }
}

/** One row of a batch: its matcher, and the ids that it was called with last. */
class Row {
  constructor(grammar, ids, options) {
    this.grammar = grammar;
    this.options = options;
    this.words = new Uint32Array(grammar.vocabulary.maskWords);
    this.matcher = null;
    this.begin(ids);
  }

  begin(ids) {
    this.matcher?.free();
    this.matcher = this.grammar.matcher(this.options.matcher);
    this.ends = new Set(this.matcher.endTokens);
    this.prompt = ids.length;
    this.ids = ids.slice();
    this.hasEnded = false;
  }

  /** Accepts what was generated since the last call; begins again if the ids do not continue those of the last call. */
  follow(ids) {
    const known = this.ids.length;
    const continues = ids.length > known && this.ids.every((id, index) => id === ids[index]);
    if (!continues) return this.begin(ids);
    for (const id of ids.slice(known)) {
      const token = Number(id);
      // rows that have ended are filled up until the last row ends
      if (this.hasEnded) continue;
      this.matcher.accept(token);
      this.hasEnded = this.ends.has(token) && this.matcher.isFinished;
    }
    this.ids = ids.slice();
  }

  mask() {
    if (this.hasEnded) {
      this.words.fill(0);
      for (const token of this.ends) this.words[token >>> 5] |= 1 << (token & 31);
    } else if (this.options.maxNewTokens === undefined) {
      this.matcher.fillMask(this.words);
    } else {
      // the end takes one of them, and counts for transformers.js
      const left = this.options.maxNewTokens - (this.ids.length - this.prompt) - 1;
      this.matcher.fillMaskWithin(Math.max(left, 0), this.words);
    }
    return this.words;
  }
}

/**
 * A logits processor for `generate` of transformers.js: `logits_processor: [logitsProcessor(grammar)]`. Each row of a
 * batch has a matcher; a list of grammars has one for each row.
 */
export function logitsProcessor(grammars, options = {}) {
  const { maxNewTokens, ...matcher } = options;
  const rows = [];
  const grammarOf = (row, count) => {
    if (!Array.isArray(grammars)) return grammars;
    if (grammars.length === count) return grammars[row];
    const [found, allowed] = [`${count} rows, ${grammars.length} grammars`, "one grammar, or one for each row"];
    const help = "give `logitsProcessor` as many grammars as there are prompts";
    const message = "the batch does not have a row for each grammar";
    const text = `[js/rows] ${message}\n  found: ${found}\n  allowed: ${allowed}\n  help: ${help}`;
    const diagnostic = { code: "js/rows", message, text, place: null, line: null, column: null, cause: null };
    throw new GrammataError("usage", text, [{ ...diagnostic, found, allowed, help }], false);
  };
  const processor = (inputIds, logits) => {
    const width = logits.dims.at(-1);
    inputIds.forEach((ids, index) => {
      const grammar = grammarOf(index, inputIds.length);
      if (rows[index] === undefined) rows[index] = new Row(grammar, ids, { maxNewTokens, matcher });
      else rows[index].follow(ids);
      applyMask(rows[index].mask(), logits.data.subarray(index * width, (index + 1) * width));
    });
    return logits;
  };
  // `generate` spreads what it is given
  processor[Symbol.iterator] = function* () {
    yield processor;
  };
  return processor;
}
