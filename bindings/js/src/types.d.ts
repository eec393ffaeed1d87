/** What is wrong with an input, or a warning about it. Fields that are unknown are null. */
export interface Diagnostic {
  /** For instance `json-schema/invalid-keyword`. Codes do not change from one release to the next. */
  code: string;
  message: string;
  /** All of it, over several lines. */
  text: string;
  /** Where: a JSON pointer, a line and column, a rule. */
  place: string | null;
  line: number | null;
  column: number | null;
  found: string | null;
  cause: string | null;
  allowed: string | null;
  help: string | null;
}

/** Limits by name, as docs/security.md lists them. */
export type Limits = Record<string, number>;

export interface TokenOptions {
  /** The ids that end a sequence. */
  eos?: number | number[];
  /** Special tokens: ids by name. */
  specials?: Record<string, number>;
  /** The length of the model's logits, if it exceeds the number of tokens. */
  width?: number;
  limits?: Limits;
}

export interface TokenizerOptions extends TokenOptions {
  /** Added tokens that are special in addition to those that the file flags: all, or these. */
  addedSpecial?: boolean | string[];
}

export interface CompilerOptions {
  limits?: Limits;
}

export interface JsonSchemaOptions {
  /** Between the tokens of JSON; "short" (nothing, a space, or a line feed and at most 32 blanks) by default. */
  whitespace?: "short" | "free" | "compact" | "spaced" | `max=${number}` | `pattern=${string}`;
  propertyOrder?: "declared" | "any";
  formats?: "assert" | "annotate";
  undeclared?: "allowed" | "refused";
  numbers?: "any" | "plain";
  /** The maximum length of each run of digits that nothing else bounds. */
  maxDigits?: number;
  /** The documents that the schema refers to, by URI. Nothing is fetched. */
  documents?: Record<string, unknown>;
}

export interface RegexOptions {
  dialect?: "rust" | "ecma";
  unicode?: boolean;
  caseInsensitive?: boolean;
  dotMatchesNewline?: boolean;
  asciiClasses?: boolean;
  search?: boolean;
}

export interface GbnfOptions {
  root?: string;
}

export interface LarkOptions {
  start?: string;
  dialect?: "rust" | "ecma";
}

/** A grammar inside a structural tag. */
export type EmbeddedGrammar =
  | ({ notation: "json-schema"; text: string } & JsonSchemaOptions)
  | ({ notation: "regex"; text: string } & RegexOptions)
  | ({ notation: "gbnf"; text: string } & GbnfOptions)
  | ({ notation: "lark"; text: string } & LarkOptions);

export interface StructuralTagOptions {
  /** The grammars that the tag names. */
  grammars?: Record<string, EmbeddedGrammar>;
}

export interface MatcherOptions {
  /** Ids that end the text instead of the vocabulary's end-of-sequence tokens. */
  endTokens?: number | number[];
  /** What `newEvents` returns: beginnings and ends of JSON values, or of the texts of these rules. */
  events?: "json" | string[];
}

export interface EnumerateOptions {
  limit?: number;
  offset?: number;
}

export interface SampleOptions {
  seed?: number;
  /** The length of the longest word, in bytes; 200 by default. */
  maxBytes?: number;
  /** Whether all words of at most `maxBytes` bytes are equally likely. */
  uniform?: boolean;
}

/** A word of a grammar; an array of bytes and of terminals if it has token terminals. */
export type Word = Uint8Array | (Uint8Array | string)[];

export interface GrammarStatistics {
  states: number;
  configurations: number;
  masksComputed: number;
  resets: number;
  automatonBytes: number;
  cacheBytes: number;
}

export interface Expectation {
  rule: string;
  label: string | null;
  bytes: number[];
  terminals: string[];
  text: string;
}

export interface Explanation {
  /** The number of bytes, from the beginning of the text, that can still become a word. */
  position: number;
  /** The byte at this position. */
  found: number | null;
  isViable: boolean;
  mayEnd: boolean;
  expected: Expectation[];
  text: string;
}

export interface Distance {
  kind: "exact" | "at most" | "unreachable" | "unknown";
  known: number | null;
}

export interface MatcherEvent {
  type: "begin" | "end";
  kind: string;
  rule: string | null;
  /** The JSON pointer of the value. */
  pointer: string;
  /** Offsets in bytes. */
  start: number;
  end: number;
  /** The number of the step that has shown it. */
  step: number;
}
