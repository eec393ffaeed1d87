//! Errors of the C interface itself.

use engine::diagnostic::{Diagnostic, Place};
use engine::{Error, ErrorKind};
use std::any::Any;

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(crate) fn null(name: &str) -> Error {
    usage(Diagnostic::new("llg/null", format!("`{name}` is NULL")).help("pass a pointer"))
}

pub(crate) fn misaligned(name: &str, alignment: usize) -> Error {
    usage(
        Diagnostic::new("llg/misaligned", format!("`{name}` is misaligned"))
            .allowed(format!("a multiple of {alignment}"))
            .help("pass a pointer to an object of its type, not into bytes"),
    )
}

pub(crate) fn no_such_size(name: &str, count: usize) -> Error {
    usage(
        Diagnostic::new("llg/size", format!("no object is as large as `{name}` would be"))
            .found(format!("{count} elements"))
            .help("check for a negative number that was converted to unsigned"),
    )
}

pub(crate) fn not_utf8(name: &str, error: &std::str::Utf8Error) -> Error {
    usage(
        Diagnostic::new("llg/not-utf-8", format!("`{name}` is not UTF-8"))
            .at(Place::Byte(error.valid_up_to()))
            .help("encode the text as UTF-8"),
    )
}

pub(crate) fn token_range(name: &str, token: u32, width: usize) -> Error {
    usage(
        Diagnostic::new("llg/token-range", format!("`{name}` is not a token of the vocabulary"))
            .found(format!("token {token}"))
            .allowed(format!("0 to {}", width.saturating_sub(1)))
            .help("pass a token of the model that the tokenizer was made for"),
    )
}

pub(crate) fn kind(found: &str) -> Error {
    usage(
        Diagnostic::new("llg/kind", "unknown kind of grammar")
            .found(found)
            .allowed("lark, json_schema, json, json_object, regex")
            .help(
                "grammars of the kind `llguidance` are lists; pass their Lark text or their schema by itself",
            ),
    )
}

pub(crate) fn ended() -> Error {
    Error::new(
        ErrorKind::Rejected,
        Diagnostic::new("llg/ended", "the text has ended already")
            .help("reset the matcher, or make a new one, for the next text"),
    )
}

pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    usage(
        Diagnostic::new("llg/panic", "a defect of the library")
            .cause(text.unwrap_or("a panic without a message"))
            .help("please report it with the input"),
    )
}
