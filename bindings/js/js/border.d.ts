import type { Diagnostic } from "./core.js";

/** The error of every call with input that is refused. */
export class GrammataError extends Error {
  /**
   * What was wrong: the grammar, the vocabulary, a limit, a token or text that the grammar does not allow, or the use of
   * the package. After an `internal` error the instance must not be used again.
   */
  readonly kind: "grammar" | "vocabulary" | "limit" | "rejected" | "usage" | "internal";
  /** The fields of the first diagnostic. */
  readonly code: string | null;
  readonly place: string | null;
  readonly found: string | null;
  readonly allowed: string | null;
  readonly help: string | null;
  /** All that was reported, at most 20. */
  readonly diagnostics: Diagnostic[];
  /** Whether there were more. */
  readonly isCut: boolean;
}
