//! The errors of retrieval.

use grammata::diagnostic::{Place, excerpt};
use grammata::error::Error;
use grammata::limits::{LimitKind, Limits};

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

grammata_base::errors! {
    pub(super) Grammar;

    /// Returns the error for a line that is not JSON of the expected form. `number` counts from 1.
    line(what: &str, allowed: &str, number: usize, cause: &serde_json::Error) =
        "retrieval/line", "a line is not {what}"
        at(Place::LineColumn { line: number, column: cause.column().max(1) })
        cause(cause)
        allowed(allowed)
        help("write one JSON object on each line");

    /// Returns the error for a tool id that is empty or not unique.
    tool_id(what: &str, id: &str, line: usize) = "retrieval/tool-id", (what)
        at(at_line(line))
        found(excerpt(id))
        allowed("an id that no other tool of the catalogue has")
        help("give each tool an id of its own");

    /// Returns the error for a request whose id an earlier request has.
    request_id(id: &str, line: usize) = "retrieval/request-id", "two requests have one id"
        at(at_line(line))
        found(excerpt(id))
        allowed("an id that no other request has")
        help("give each request an id of its own");

    /// Returns the error for a request that states the needed tools not at all, or both as `relevant` and as
    /// `relevant_any`.
    relevance(line: usize, allowed: &str) =
        "retrieval/relevance", "a request does not say in one way which tools it needs"
        at(at_line(line)) allowed(allowed) help("write either `relevant` or `relevant_any`");

    /// Returns the error for a request that needs a tool that the catalogue lacks.
    unknown_tool(id: &str, request: &str, line: usize) =
        "retrieval/unknown-tool", "a request needs a tool that the catalogue lacks"
        at(at_line(line))
        found("`{}`, for the request `{}`", excerpt(id), excerpt(request))
        allowed("the id of a tool of the catalogue")
        help("add the tool to the catalogue, or leave the request out");

    /// Returns the error for `k` being 0, so that no tool is requested.
    no_places() = Usage "retrieval/k", "no tool is asked for"
        found("k = 0") allowed("k of at least 1") help("ask for as many tools as the prompt has room for");

    /// Returns the error for a query, or an embedder of queries, whose vectors have another dimension than the index.
    query_dimension(found: usize, expected: usize) =
        Usage "retrieval/dimension", "a query's vector has another dimension than the index"
        found("{found} coordinates")
        allowed("{expected} coordinates")
        help("embed queries with the embedder that the index was made with");

    /// Returns the error for a dense search without vectors or without an embedder.
    no_vectors(missing: &str) = Usage "retrieval/no-vectors", "a dense search needs {missing}"
        allowed("vectors of the tools and the embedder that made them")
        help("embed the catalogue, or search by words alone (`Ranker::Lexical`)");

    /// Returns the error for a number of vectors that differs from the number of documents.
    row_count(found: usize, expected: usize) =
        Usage "retrieval/row-count", "the numbers of vectors and documents differ"
        found("{found} vectors")
        allowed("{expected} vectors")
        help("embed the documents of the same catalogue");

    other_embedder() = Usage "retrieval/other-embedder", "the index was made with another embedder"
        found("another fingerprint of model, tokenizer and maximum of tokens")
        allowed("the embedder that made the index")
        help("load that embedder, or rebuild the index with this one");

    /// Returns the error for an invalid field in the file of an index.
    index_field(field: &str, found: impl AsRef<str>, allowed: &str) =
        "retrieval/index-file", "{field} of an index is invalid"
        found(found)
        allowed(allowed)
        help("rebuild the index from the catalogue: the file is truncated, changed, or not an index");
}
