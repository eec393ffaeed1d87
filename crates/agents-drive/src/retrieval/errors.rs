//! The errors of writing queries.

use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{Error, ErrorKind};

fn data(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// Returns the error for a prompt whose template cannot be parsed or rendered.
pub(super) fn prompt(found: String, place: Place) -> Error {
    data(
        Diagnostic::new("retrieval/prompt", "the template of a prompt cannot be used")
            .at(place)
            .cause(found)
            .allowed("a Jinja template over request, examples (request, answer) and context")
            .help("put the request where it belongs: {{ request }}"),
    )
}

/// Returns the error for a chat template that does not contain the user's message verbatim.
#[cfg(feature = "huggingface")]
pub(super) fn user_message() -> Error {
    data(
        Diagnostic::new(
            "retrieval/chat-template",
            "the chat template changes or leaves out the user's message",
        )
        .allowed("a template that writes the message's content as it is")
        .help("use the model without its chat template"),
    )
}
