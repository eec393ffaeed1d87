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

/// The reason why a call failed.
pub(crate) struct Failure {
    pub(crate) status: GrammataStatus,
    pub(crate) error: Error,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match error.kind() {
            ErrorKind::Grammar => GrammataStatus::Grammar,
            ErrorKind::Vocabulary => GrammataStatus::Vocabulary,
            ErrorKind::Limit => GrammataStatus::Limit,
            ErrorKind::Rejected => GrammataStatus::Rejected,
            ErrorKind::Usage if error.code() == "mask/buffer-too-short" => GrammataStatus::TooShort,
            ErrorKind::Usage => GrammataStatus::Usage,
            ErrorKind::Model => GrammataStatus::Model,
            ErrorKind::Io => GrammataStatus::Io,
            _ => GrammataStatus::Other,
        };
        Failure { status, error }
    }
}

fn failure(status: GrammataStatus, diagnostic: Diagnostic) -> Failure {
    Failure { status, error: Error::new(ErrorKind::Usage, diagnostic) }
}

pub(crate) fn null(name: &str) -> Failure {
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/null", format!("`{name}` is NULL"))
            .help("pass a pointer; check the status of the call that should have made it"),
    )
}

pub(crate) fn misaligned(name: &str, address: usize, alignment: usize) -> Failure {
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/misaligned", format!("`{name}` is misaligned"))
            .found(format!("the address {address:#x}"))
            .allowed(format!("a multiple of {alignment}"))
            .help("pass a pointer to an object of its type, not into bytes"),
    )
}

pub(crate) fn no_such_size(name: &str, count: usize) -> Failure {
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/size", format!("no object is as large as `{name}` would be"))
            .found(format!("{count} elements"))
            .help("check for a negative number that was converted to unsigned"),
    )
}

pub(crate) fn not_utf8(name: &str, error: &std::str::Utf8Error) -> Failure {
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/not-utf-8", format!("`{name}` is not UTF-8"))
            .at(Place::Byte(error.valid_up_to()))
            .help("encode the text as UTF-8"),
    )
}

pub(crate) fn too_short(capacity: usize, needed: usize) -> Failure {
    failure(
        GrammataStatus::TooShort,
        Diagnostic::new("c/buffer-too-short", "the buffer is too short")
            .found(format!("{capacity} elements"))
            .allowed(format!("at least {needed}"))
            .help("ask for the length first, with a capacity of 0"),
    )
}

pub(crate) fn lengths(sum: Option<usize>, length: usize) -> Failure {
    let sum = sum.map_or("more than fits in a number".to_owned(), |sum| format!("{sum} bytes"));
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/lengths", "the lengths of the tokens do not add up to the length of their bytes")
            .found(sum)
            .allowed(format!("{length} bytes"))
            .help("put the bytes of all tokens after each other; a token without bytes has the length 0"),
    )
}

pub(crate) fn token_range(token: u32, width: usize) -> Failure {
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/token-range", "the vocabulary has no such token")
            .found(format!("token {token}"))
            .allowed(format!("0 to {}", width.saturating_sub(1)))
            .help("pass the `width` of the model's logits when the vocabulary is loaded"),
    )
}

pub(crate) fn place(place: usize, count: usize) -> Failure {
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/place", "the archive has no such place")
            .found(format!("place {place}"))
            .allowed(format!("less than {count}"))
            .help("`grammata_archive_count` says how many mask files there are"),
    )
}

pub(crate) fn no_token() -> Failure {
    failure(
        GrammataStatus::Rejected,
        Diagnostic::new("c/no-token", "no token of the vocabulary has the bytes at some place").help(
            "look for the bytes that no single token has; the tokenizer drops them or spells them otherwise",
        ),
    )
}

pub(crate) fn rows(length: usize, needed: Option<usize>) -> Failure {
    let needed = needed.map_or("more than fits in a number".to_owned(), |needed| needed.to_string());
    failure(
        GrammataStatus::TooShort,
        Diagnostic::new("c/buffer-too-short", "the buffer for the masks is too short")
            .found(format!("{length} words of 32 bits"))
            .allowed(format!("at least {needed}"))
            .help("it has a row of `row_words` words for each matcher"),
    )
}

pub(crate) fn busy() -> Failure {
    failure(
        GrammataStatus::Busy,
        Diagnostic::new("c/busy", "the matcher is in use by another call")
            .help("use a matcher from one thread at a time, and once in a batch; fork it for another thread"),
    )
}

pub(crate) fn broken() -> Failure {
    failure(
        GrammataStatus::Panic,
        Diagnostic::new("c/broken", "an earlier call on this matcher met a defect of the library")
            .help("free the matcher; a new one of the same grammar works"),
    )
}

pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    failure(
        GrammataStatus::Panic,
        Diagnostic::new("c/panic", "a defect of the library")
            .cause(text.unwrap_or("a panic without a message"))
            .help("please report it with the input"),
    )
}

pub(crate) fn other_sampler() -> Failure {
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/other-sampler", "the sampler was not made by `grammata_llama_sampler`")
            .help("pass the sampler itself, not the chain that it is in"),
    )
}

pub(crate) fn threads(count: usize, cause: &impl std::fmt::Display) -> Failure {
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/threads", format!("a pool of {count} threads cannot be made"))
            .cause(cause)
            .help("ask for fewer threads; 0 is one for each core"),
    )
}

pub(crate) fn notation(found: &str) -> Failure {
    let all = engine::syntax::Notation::ALL.map(|notation| format!("`{}`", notation.id()));
    failure(
        GrammataStatus::Usage,
        Diagnostic::new("c/notation", "unknown notation")
            .found(found)
            .allowed(all.join(", "))
            .help("name the notation that the source is written in"),
    )
}

pub(crate) fn options(text: &str, error: &serde_json::Error) -> Failure {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let place = Place::LineColumn { line: error.line().max(1), column: error.column().max(1) };
    let diagnostic = Diagnostic::new("c/options", "the options cannot be read")
        .at(place)
        .cause(message)
        .help("options are a JSON object, or NULL; docs/c.md lists them");
    let error = Error::new(ErrorKind::Usage, diagnostic).in_source(&Source::new(text, Notation::Json));
    Failure { status: GrammataStatus::Usage, error }
}
