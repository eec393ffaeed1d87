//! Statuses, and the errors of the C interface itself.

use engine::diagnostic::{Diagnostic, Notation, Place, Source};
use engine::{Error, ErrorKind};
use std::any::Any;

/// The result of a call. Numbers never change; new ones may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum GrammataStatus {
    /// Success.
    Ok = 0,
    /// A grammar, schema, pattern or spec is invalid or describes nothing; its author can correct it.
    Grammar = 1,
    /// A tokenizer or vocabulary cannot be read or is not exact.
    Vocabulary = 2,
    /// A limit was exceeded.
    Limit = 3,
    /// A token or text is not allowed at its place, or no complete text is known within a budget.
    Rejected = 4,
    /// The caller used the library wrongly: NULL, text that is not UTF-8, a token out of range.
    Usage = 5,
    /// A language model cannot be run. No function of this header runs one.
    Model = 6,
    /// A file cannot be read or written.
    Io = 7,
    /// The matcher is in use by another call.
    Busy = 8,
    /// A buffer is too short for the result. `*length` is the length needed.
    TooShort = 9,
    /// A defect of this library. The matcher used in the call can only be freed; everything else stays usable.
    Panic = 10,
    /// An error without a number in this version of the header; the error's text describes it.
    Other = 11,
}

pub(crate) use engine::Result;

impl GrammataStatus {
    /// The status of a call that fails with an error.
    pub(crate) fn of(error: &Error) -> GrammataStatus {
        match (error.code(), error.kind()) {
            ("c/busy", _) => GrammataStatus::Busy,
            ("c/broken" | "c/panic", _) => GrammataStatus::Panic,
            ("c/buffer-too-short" | "mask/buffer-too-short", _) => GrammataStatus::TooShort,
            (_, ErrorKind::Grammar) => GrammataStatus::Grammar,
            (_, ErrorKind::Vocabulary) => GrammataStatus::Vocabulary,
            (_, ErrorKind::Limit) => GrammataStatus::Limit,
            (_, ErrorKind::Rejected) => GrammataStatus::Rejected,
            (_, ErrorKind::Usage) => GrammataStatus::Usage,
            (_, ErrorKind::Model) => GrammataStatus::Model,
            (_, ErrorKind::Io) => GrammataStatus::Io,
            _ => GrammataStatus::Other,
        }
    }

    /// The status of a result.
    pub(crate) fn of_result<T>(result: &Result<T>) -> GrammataStatus {
        result.as_ref().err().map_or(GrammataStatus::Ok, GrammataStatus::of)
    }
}

grammata_base::errors! {
    pub(crate) Usage;

    null(name: &str) = "c/null", "`{name}` is NULL"
        help("pass a pointer; check the status of the call that should have made it");

    misaligned(name: &str, address: usize, alignment: usize) = "c/misaligned", "`{name}` is misaligned"
        found("the address {address:#x}")
        allowed("a multiple of {alignment}")
        help("pass a pointer to an object of its type, not into bytes");

    no_such_size(name: &str, count: usize) = "c/size", "no object is as large as `{name}` would be"
        found("{count} elements") help("check for a negative number that was converted to unsigned");

    not_utf8(name: &str, error: &std::str::Utf8Error) = "c/not-utf-8", "`{name}` is not UTF-8"
        at(Place::Byte(error.valid_up_to())) help("encode the text as UTF-8");

    too_short(capacity: usize, needed: usize) = "c/buffer-too-short", "the buffer is too short"
        found("{capacity} elements")
        allowed("at least {needed}")
        help("ask for the length first, with a capacity of 0");

    lengths(sum: Option<usize>, length: usize) =
        "c/lengths", "the lengths of the tokens do not add up to the length of their bytes"
        found(sum.map_or("more than fits in a number".to_owned(), |sum| format!("{sum} bytes")))
        allowed("{length} bytes")
        help("put the bytes of all tokens after each other; a token without bytes has the length 0");

    token_range(token: u32, width: usize) = "c/token-range", "the vocabulary has no such token"
        found("token {token}")
        allowed("0 to {}", width.saturating_sub(1))
        help("pass the `width` of the model's logits when the vocabulary is loaded");

    event_range(index: usize, count: usize) = "c/event-range", "the matcher has no such event"
        found("event {index}")
        allowed("less than {count}")
        help("`grammata_matcher_new_events` says which events are new");

    place(place: usize, count: usize) = "c/place", "the archive has no such place"
        found("place {place}")
        allowed("less than {count}")
        help("`grammata_archive_count` says how many mask files there are");

    no_token() = Rejected "c/no-token", "no token of the vocabulary has the bytes at some place"
        help("look for the bytes that no single token has; the tokenizer drops them or spells them otherwise");

    rows(length: usize, needed: Option<usize>) = "c/buffer-too-short", "the buffer for the masks is too short"
        found("{length} words of 32 bits")
        allowed("at least {}", needed.map_or("more than fits in a number".to_owned(), |needed| needed.to_string()))
        help("it has a row of `row_words` words for each matcher");

    busy() = "c/busy", "the matcher is in use by another call"
        help("use a matcher from one thread at a time, and once in a batch; fork it for another thread");

    broken() = "c/broken", "an earlier call on this matcher met a defect of the library"
        help("free the matcher; a new one of the same grammar works");

    other_sampler() = "c/other-sampler", "the sampler was not made by `grammata_llama_sampler`"
        help("pass the sampler itself, not the chain that it is in");

    threads(count: usize, cause: &impl std::fmt::Display) = "c/threads", "a pool of {count} threads cannot be made"
        cause(cause) help("ask for fewer threads; 0 is one for each core");

    notation(found: &str) = "c/notation", "unknown notation"
        found(found)
        allowed(engine::syntax::Notation::ALL.map(|notation| format!("`{}`", notation.id())).join(", "))
        help("name the notation that the source is written in");

    panic(text: &str) = "c/panic", "a defect of the library"
        cause(text) help("please report it with the input");
}

pub(crate) fn panicked(cause: &(dyn Any + Send)) -> Error {
    let text = cause.downcast_ref::<&str>().copied();
    let text = text.or_else(|| cause.downcast_ref::<String>().map(String::as_str));
    panic(text.unwrap_or("a panic without a message"))
}

pub(crate) fn options(text: &str, error: &serde_json::Error) -> Error {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let place = Place::LineColumn { line: error.line().max(1), column: error.column().max(1) };
    let diagnostic = Diagnostic::new("c/options", "the options cannot be read")
        .at(place)
        .cause(message)
        .help("options are a JSON object, or NULL; docs/c.md lists them");
    Error::new(ErrorKind::Usage, diagnostic).in_source(&Source::new(text, Notation::Json))
}
