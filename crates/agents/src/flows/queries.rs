//! What customers ask for: queries with the flow that serves each.

use super::errors;
use grammata::diagnostic::{Notation, Source};
use grammata::error::Result;
use grammata::limits::Limits;

/// A query of a customer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The name of the domain.
    pub domain: String,
    /// The id of the flow that serves it.
    pub flow: String,
    /// What is asked.
    pub text: String,
}

/// Reads queries from TOML: a table for each domain, with a list of queries for each id of a flow. They are in the order of
/// the file.
///
/// # Errors
/// `flow/queries`: the text is no such file; a limit.
pub fn queries(text: &str, limits: &Limits) -> Result<Vec<Query>> {
    limits.check_source(text)?;
    let tables: toml::Table = toml::from_str(text)
        .map_err(|cause| errors::queries(text, &cause).in_source(&Source::new(text, Notation::Toml)))?;
    let mut queries = Vec::new();
    for (domain, flows) in tables {
        let flows = flows.as_table().ok_or_else(|| errors::no_queries(&domain))?;
        for (flow, list) in flows {
            let list = list.as_array().ok_or_else(|| errors::no_queries(&format!("{domain}.{flow}")))?;
            for text in list {
                let text = text.as_str().ok_or_else(|| errors::no_queries(&format!("{domain}.{flow}")))?;
                queries.push(Query { domain: domain.clone(), flow: flow.clone(), text: text.to_owned() });
            }
        }
    }
    Ok(queries)
}
