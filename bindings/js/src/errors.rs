//! Errors of the package itself: arguments that are not what a method takes.

use grammata::diagnostic::did_you_mean;
use grammata::limits::LimitKind;
use grammata::{Diagnostic, Error, ErrorKind};
use std::fmt::Display;

grammata_base::errors! {
    pub(crate) Usage;

    /// A value that JSON cannot write. `what` names it.
    not_json(what: &'static str, cause: &impl Display) = "js/not-json", "{what} cannot be written as JSON"
        cause(cause)
        allowed("strings, numbers, booleans, null, arrays and plain objects, or a string of JSON")
        help("convert other values first");

    /// An option, or what an option has inside, is of another type or has another value.
    option(name: &str, found: &str, allowed: &str) = "js/option", "`{name}` has no such value"
        found(found) allowed(allowed) help("the package's TypeScript types list the values of each option");

    token_range(found: f64) = "js/token-range", "not a token id"
        found("{found}")
        allowed("a whole number from 0 to {}", u32::MAX)
        help("pass ids as the tokenizer has them: less than `vocabulary.width`");

    number(name: &'static str, found: f64) = "js/number", "`{name}` is not a count"
        found("{found}")
        allowed("a whole number from 0 to {}", u32::MAX)
        help("leave the argument out to use its default");

    tokens(found: &'static str) = "js/tokens", "not a list of token ids"
        found(found)
        allowed("an array of numbers, or a Uint32Array")
        help("for example `[1, 2, 3]`");

    bytes(found: &str) = "js/bytes", "not a text"
        found(found)
        allowed("a string, a Uint8Array or an ArrayBuffer")
        help("a string means its UTF-8");

    words(found: &str) = "js/words", "a mask is written into a Uint32Array"
        found(found)
        allowed("a Uint32Array of `vocabulary.maskWords` words")
        help("`new Uint32Array(vocabulary.maskWords)`, once for all masks");

    token_list(found: &str) = "js/token-list", "not a list of tokens"
        found(found)
        allowed("an array of strings, Uint8Arrays and null, one for each id from 0")
        help("`Vocabulary.fromFile` reads the files of tokenizers");

    no_events() = "js/no-events", "the matcher reports no events"
        found("a matcher without the option `events`")
        help("make it with `grammar.matcher({{events: \"json\"}})`");
}

/// `js/option`: there is no option of this name.
pub(crate) fn unknown_option(name: &str, known: &[&'static str]) -> Error {
    let help = did_you_mean(name, known.iter().copied(), "leave it out");
    Error::new(
        ErrorKind::Usage,
        Diagnostic::new("js/option", "unknown option").found(name).allowed(known.join(", ")).help(help),
    )
}

/// `js/limits`: no limit has this name.
pub(crate) fn unknown_limit(name: &str) -> Error {
    let names: Vec<&str> = LimitKind::ALL.iter().map(|kind| kind.name()).collect();
    let help = did_you_mean(name, names.iter().copied(), "docs/security.md lists the limits");
    Error::new(
        ErrorKind::Usage,
        Diagnostic::new("js/limits", "unknown limit").found(name).allowed(names.join(", ")).help(help),
    )
}
