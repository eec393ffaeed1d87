//! The errors of retrieval.

use grammata::diagnostic::{Diagnostic, Place, excerpt};
use grammata::error::{Error, ErrorKind};
use grammata::limits::{LimitKind, Limits};

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
