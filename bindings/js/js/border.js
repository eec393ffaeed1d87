// What the library calls: errors, and JSON of values.

/** The error of every call with input that is refused. */
export class GrammataError extends Error {
  constructor(kind, message, diagnostics, isCut) {
    super(message);
    this.name = "GrammataError";
    this.kind = kind;
    const [first = {}] = diagnostics;
    this.code = first.code ?? null;
    this.place = first.place ?? null;
    this.found = first.found ?? null;
    this.allowed = first.allowed ?? null;
    this.help = first.help ?? null;
    this.diagnostics = diagnostics;
    this.isCut = isCut;
  }
}

export function error(kind, message, diagnostics, isCut) {
  return new GrammataError(kind, message, JSON.parse(diagnostics), isCut);
}

// The module is not fit for use after a panic: what the call held stays locked.
export function panicked(message) {
  const help = "please report this; reload the module, because this instance must not be used again";
  const diagnostic = { code: "js/panic", message, text: message, place: null, line: null, column: null };
  const rest = { found: null, cause: null, allowed: null, help };
  throw new GrammataError("internal", `[js/panic] ${message}\n  help: ${help}`, [{ ...diagnostic, ...rest }], false);
}

export function toJson(value) {
  return JSON.stringify(value, (name, inner) => {
    if (typeof inner === "function" || typeof inner === "symbol") {
      throw new TypeError(`${name || "the value"} is a ${typeof inner}`);
    }
    return inner;
  });
}

export function fromJson(text) {
  return JSON.parse(text);
}

export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
