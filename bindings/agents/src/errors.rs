//! Errors that arise in the bindings, not in the library.

use grammata::{Diagnostic, Error, ErrorKind};
use grammata_python_border::usage;

grammata_base::errors! {
    pub(crate) Usage;

    /// `python/answer`: a policy's answer is not one of the choices.
    answer(found: &str, choices: usize) = "python/answer", "the policy's answer is not one of the choices"
        found(found)
        allowed("a place from 0 to {}, or a choice's label", choices.saturating_sub(1))
        help("`question.choices` has the labels; of a set the answer is a list of places");

    /// `python/policy`: a placeholder for an exception of a policy, until the exception is raised again.
    callback() = "python/policy", "the policy raised an exception" help("see the exception");

    /// `python/call-waits`: a step is not allowed while a call has no result.
    waiting(api: &str) = "python/call-waits", "a call waits for its result"
        found(api)
        allowed("`result` of this call")
        help("give results one by one: `call`, `result`, `call`, `result`; of a failed call `{{\"error\": TEXT}}`");

    /// `python/no-call`: a result is given, but no call waits for one.
    no_call() = "python/no-call", "no call waits for a result"
        allowed("`result` after a `call` that was not refused")
        help("`session.waiting` names the call that waits");

    /// `python/not-an-object`: a value should be a JSON object.
    object(what: &'static str) = "python/not-an-object", "{what} must be a JSON object"
        allowed("a dict with names that are str") help("parse a text with `json.loads` first");
}

/// `python/unknown-name`: a name that does not exist. At most 50 of the known names are listed.
pub(crate) fn unknown<'n>(what: &str, name: &str, known: impl IntoIterator<Item = &'n str>) -> Error {
    let known: Vec<&str> = known.into_iter().take(50).collect();
    usage(
        Diagnostic::new("python/unknown-name", format!("unknown {what}"))
            .found(grammata::diagnostic::excerpt(name))
            .allowed(known.join(", "))
            .help("names are case-sensitive"),
    )
}

/// An error of kind [`ErrorKind::Rejected`] with this code: a text, step, answer or decision that is not allowed.
pub(crate) fn rejected(
    code: &'static str,
    message: &str,
    found: &str,
    allowed: &str,
    help: &'static str,
) -> Error {
    let diagnostic = Diagnostic::new(code, message.to_owned())
        .found(grammata::diagnostic::excerpt(found))
        .allowed(allowed.to_owned())
        .help(help);
    Error::new(ErrorKind::Rejected, diagnostic)
}

/// `procedure/heard`: the messages of the user have more than `most` bytes.
pub(crate) fn heard(bytes: usize, most: usize) -> Error {
    rejected(
        "procedure/heard",
        "the user's messages are too long",
        &format!("{bytes} bytes"),
        &format!("{most} bytes of all messages"),
        "give the part of the message that the request is about",
    )
}

/// `python/not-utf8`: a file is not UTF-8 from this byte on.
pub(crate) fn not_utf8(path: &std::path::Path, byte: usize) -> Error {
    let diagnostic = Diagnostic::new("python/not-utf8", "the file is not text in UTF-8")
        .at(grammata::Place::Byte(byte))
        .allowed("text in UTF-8")
        .help("convert the file to UTF-8");
    Error::new(ErrorKind::Io, diagnostic).in_file(&path.display().to_string())
}
