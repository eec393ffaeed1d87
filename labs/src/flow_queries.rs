//! Queries of customers, with the flow that serves each.

use grammata::diagnostic::{Diagnostic, Notation, Place, Source};
use grammata::error::{Error, ErrorKind, Result};
use grammata::limits::Limits;

/// A query of a customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The name of the domain.
    pub domain: String,
    /// The id of the flow that serves it.
    pub flow: String,
    /// The text of the query.
    pub text: String,
}

/// Reads queries from TOML: a table for each domain, with a list of queries for each id of a flow. The
/// queries keep the order of the file.
///
/// # Errors
/// `flow/queries`: the text is not TOML or does not have this form. `limit/exceeded`: the text is longer than
/// `limits.source_bytes`.
pub fn queries(text: &str, limits: &Limits) -> Result<Vec<Query>> {
    limits.check_source(text)?;
    let tables: toml::Table = toml::from_str(text)
        .map_err(|cause| unreadable(text, &cause).in_source(&Source::new(text, Notation::Toml)))?;
    let mut queries = Vec::new();
    for (domain, flows) in tables {
        let flows = flows.as_table().ok_or_else(|| not_queries(&domain))?;
        for (flow, list) in flows {
            let list = list.as_array().ok_or_else(|| not_queries(&format!("{domain}.{flow}")))?;
            for text in list {
                let text = text.as_str().ok_or_else(|| not_queries(&format!("{domain}.{flow}")))?;
                queries.push(Query { domain: domain.clone(), flow: flow.clone(), text: text.to_owned() });
            }
        }
    }
    Ok(queries)
}

/// The error of a text that is not TOML.
fn unreadable(text: &str, cause: &toml::de::Error) -> Error {
    let place = cause.span().map_or(Place::Whole, |span| Place::in_text(text, span.start));
    let diagnostic = Diagnostic::new("flow/queries", "the queries cannot be read")
        .at(place)
        .cause(cause.message())
        .allowed("a table for each domain, with a list of texts for each flow")
        .help("correct it there; `grammars/flows/queries.toml` has queries to compare with");
    Error::new(ErrorKind::Grammar, diagnostic)
}

/// The error of TOML that does not have the form of queries. `of` names the domain, or the domain and the flow.
fn not_queries(of: &str) -> Error {
    let diagnostic = Diagnostic::new("flow/queries", "the queries of a domain or a flow cannot be read")
        .found(of)
        .allowed("a table for each domain, with a list of texts for each flow")
        .help("correct it there; `grammars/flows/queries.toml` has queries to compare with");
    Error::new(ErrorKind::Grammar, diagnostic)
}
