//! Errors of the C interface itself.

use engine::diagnostic::{Diagnostic, Place};
use engine::{Error, ErrorKind};
use std::any::Any;

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

grammata_base::errors! {
    pub(crate) Usage;

    null(name: &str) = "llg/null", "`{name}` is NULL" help("pass a pointer");

    misaligned(name: &str, alignment: usize) = "llg/misaligned", "`{name}` is misaligned"
        allowed("a multiple of {alignment}") help("pass a pointer to an object of its type, not into bytes");

    no_such_size(name: &str, count: usize) = "llg/size", "no object is as large as `{name}` would be"
        found("{count} elements") help("check for a negative number that was converted to unsigned");

    not_utf8(name: &str, error: &std::str::Utf8Error) = "llg/not-utf-8", "`{name}` is not UTF-8"
        at(Place::Byte(error.valid_up_to())) help("encode the text as UTF-8");

    token_range(name: &str, token: u32, width: usize) =
        "llg/token-range", "`{name}` is not a token of the vocabulary"
        found("token {token}")
        allowed("0 to {}", width.saturating_sub(1))
        help("pass a token of the model that the tokenizer was made for");

    kind(found: &str) = "llg/kind", "unknown kind of grammar"
        found(found)
        allowed("lark, json_schema, json, json_object, regex")
        help("grammars of the kind `llguidance` are lists; pass their Lark text or their schema by itself");

    ended() = Rejected "llg/ended", "the text has ended already"
        help("reset the matcher, or make a new one, for the next text");
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
