//! The errors of retrieval.

use grammata::diagnostic::{Diagnostic, Place, excerpt};
use grammata::error::{Error, ErrorKind};
use grammata::limits::{LimitKind, Limits};
use std::path::Path;

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

fn data(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

fn at_line(line: usize) -> Place {
    Place::LineColumn { line, column: 1 }
}

/// Checks the length of a catalogue or request file.
pub(super) fn check_size(text: &str, limits: &Limits) -> Result<(), Error> {
    if text.len() > limits.catalogue_bytes {
        let found = format!("{} bytes", text.len());
        return Err(Limits::exceeded(LimitKind::CatalogueBytes, limits.catalogue_bytes, found));
    }
    Ok(())
}

/// Returns the error for a line that is not JSON of the expected form. `number` counts from 1.
pub(super) fn line(what: &str, allowed: &str, number: usize, cause: &serde_json::Error) -> Error {
    data(
        Diagnostic::new("retrieval/line", format!("a line is not {what}"))
            .at(Place::LineColumn { line: number, column: cause.column().max(1) })
            .cause(cause)
            .allowed(allowed)
            .help("write one JSON object on each line"),
    )
}

/// Returns the error for a tool id that is empty or not unique.
pub(super) fn tool_id(what: &str, id: &str, line: usize) -> Error {
    data(
        Diagnostic::new("retrieval/tool-id", what)
            .at(at_line(line))
            .found(excerpt(id))
            .allowed("an id that no other tool of the catalogue has")
            .help("give each tool an id of its own"),
    )
}

/// Returns the error for a request whose id an earlier request has.
pub(super) fn request_id(id: &str, line: usize) -> Error {
    data(
        Diagnostic::new("retrieval/request-id", "two requests have one id")
            .at(at_line(line))
            .found(excerpt(id))
            .allowed("an id that no other request has")
            .help("give each request an id of its own"),
    )
}

/// Returns the error for a request that states the needed tools not at all, or both as `relevant` and as
/// `relevant_any`.
pub(super) fn relevance(line: usize, allowed: &str) -> Error {
    data(
        Diagnostic::new("retrieval/relevance", "a request does not say in one way which tools it needs")
            .at(at_line(line))
            .allowed(allowed)
            .help("write either `relevant` or `relevant_any`"),
    )
}

/// Returns the error for a request that needs a tool that the catalogue lacks.
pub(super) fn unknown_tool(id: &str, request: &str, line: usize) -> Error {
    data(
        Diagnostic::new("retrieval/unknown-tool", "a request needs a tool that the catalogue lacks")
            .at(at_line(line))
            .found(format!("`{}`, for the request `{}`", excerpt(id), excerpt(request)))
            .allowed("the id of a tool of the catalogue")
            .help("add the tool to the catalogue, or leave the request out"),
    )
}

/// Returns the error for `k` being 0, so that no tool is requested.
pub(super) fn no_places() -> Error {
    usage(
        Diagnostic::new("retrieval/k", "no tool is asked for")
            .found("k = 0")
            .allowed("k of at least 1")
            .help("ask for as many tools as the prompt has room for"),
    )
}

/// Returns the error for a query, or an embedder of queries, whose vectors have another dimension than the index.
pub(super) fn query_dimension(found: usize, expected: usize) -> Error {
    usage(
        Diagnostic::new("retrieval/dimension", "a query's vector has another dimension than the index")
            .found(format!("{found} coordinates"))
            .allowed(format!("{expected} coordinates"))
            .help("embed queries with the embedder that the index was made with"),
    )
}

/// Returns the error for a dense search without vectors or without an embedder.
pub(super) fn no_vectors(missing: &str) -> Error {
    usage(
        Diagnostic::new("retrieval/no-vectors", format!("a dense search needs {missing}"))
            .allowed("vectors of the tools and the embedder that made them")
            .help("embed the catalogue, or search by words alone (`Ranker::Lexical`)"),
    )
}

/// Returns the error for a number of vectors that differs from the number of documents.
pub(super) fn row_count(found: usize, expected: usize) -> Error {
    usage(
        Diagnostic::new("retrieval/row-count", "the numbers of vectors and documents differ")
            .found(format!("{found} vectors"))
            .allowed(format!("{expected} vectors"))
            .help("embed the documents of the same catalogue"),
    )
}

pub(super) fn other_embedder() -> Error {
    usage(
        Diagnostic::new("retrieval/other-embedder", "the index was made with another embedder")
            .found("another fingerprint of model, tokenizer and maximum of tokens")
            .allowed("the embedder that made the index")
            .help("load that embedder, or rebuild the index with this one"),
    )
}

/// Returns the error for an invalid field in the file of an index.
pub(super) fn index_field(field: &str, found: impl AsRef<str>, allowed: &str) -> Error {
    data(
        Diagnostic::new("retrieval/index-file", format!("{field} of an index is invalid"))
            .found(found)
            .allowed(allowed)
            .help("rebuild the index from the catalogue: the file is truncated, changed, or not an index"),
    )
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

/// Returns the error for an index that another writer has open.
pub(super) fn locked(path: &Path) -> Error {
    let diagnostic = Diagnostic::new("retrieval/locked", "another writer has the index open")
        .in_file(path.display().to_string())
        .allowed("one writer at a time")
        .help("wait till it is done; readers need no lock");
    Error::new(ErrorKind::Io, diagnostic)
}

/// Returns the error for an invalid name of a collection.
pub(super) fn collection_name(name: &str) -> Error {
    usage(
        Diagnostic::new("retrieval/collection-name", "invalid name of a collection")
            .found(excerpt(name))
            .allowed("1 to 255 of the letters A to Z and a to z, digits, `_` and `-`")
            .help("name one collection for each embedder, as in `tools-minilm`"),
    )
}

/// Returns the error for a collection that is not the requested index.
pub(super) fn other_collection(name: &str, found: &str) -> Error {
    usage(
        Diagnostic::new("retrieval/other-collection", "a collection of a server is not the index wanted")
            .found(format!("`{}`: {found}", excerpt(name)))
            .allowed("a collection that this index has made, for vectors of the same dimension")
            .help("name another collection, which is then made"),
    )
}

pub(super) fn server_refused(status: u16, message: &str) -> Error {
    let diagnostic = Diagnostic::new("retrieval/server-refused", "the server of the index refused a request")
        .found(format!("status {status}: {}", excerpt(message)))
        .help(
            "see the server's log; of some earlier requests of the same change it may have kept the result",
        );
    Error::new(ErrorKind::Io, diagnostic)
}

/// Returns the error for a response that cannot be parsed.
pub(super) fn server_answer(allowed: &str, cause: Option<&serde_json::Error>) -> Error {
    let diagnostic =
        Diagnostic::new("retrieval/server-answer", "the server of the index gave an unexpected answer");
    let diagnostic = match cause {
        Some(cause) => diagnostic.cause(cause),
        None => diagnostic,
    };
    let diagnostic =
        diagnostic.allowed(allowed).help("name the address of a Qdrant server, version 1.16 or later");
    Error::new(ErrorKind::Io, diagnostic)
}

/// Returns the error for an invalid URL, or a URL of another protocol than `http`.
#[cfg(feature = "qdrant")]
pub(super) fn server_url(url: &str) -> Error {
    usage(
        Diagnostic::new("retrieval/server-url", "the address of a server cannot be used")
            .found(excerpt(url))
            .allowed("http://HOST:PORT")
            .help(
                "for TLS put a proxy before the server, or implement `Transport` with a client of your own",
            ),
    )
}

#[cfg(feature = "qdrant")]
pub(super) fn no_answer(url: &str, cause: &ureq::Error) -> Error {
    let diagnostic = Diagnostic::new("retrieval/no-answer", "the server of the index did not answer")
        .found(excerpt(url))
        .cause(cause)
        .help("start the server, or name its address");
    Error::new(ErrorKind::Io, diagnostic)
}
