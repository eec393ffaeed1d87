//! Requests with the tools that they need: examples in prompts, and units of evaluation.

use super::catalogue::{Catalogue, numbered_lines};
use super::errors;
use grammata::diagnostic::{Notation, Source};
use grammata::error::Result;
use grammata::limits::Limits;
use serde::Deserialize;
use std::collections::HashSet;

/// A request and the tools that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The id, unique in a set.
    pub id: String,
    /// The user's text.
    pub query: String,
    /// Groups of tool ids: one tool of each group is needed.
    pub relevant: Vec<Vec<String>>,
    /// The line in the file, or the number of the entry in a list of ToolBench; both from 1.
    line: usize,
}

/// A line with either `relevant`, whose tools are all needed, or `relevant_any`, groups of tools.
#[derive(Deserialize)]
struct Line {
    id: String,
    query: String,
    relevant: Option<Vec<String>>,
    relevant_any: Option<Vec<Vec<String>>>,
}

impl Request {
    /// Creates a request that stands on the given line of a file, or is the entry of this number in a list; both are
    /// counted from 1.
    pub(super) fn new(id: String, query: String, relevant: Vec<Vec<String>>, line: usize) -> Request {
        Request { id, query, relevant, line }
    }

    /// Returns the error that an earlier request has the same id.
    pub(super) fn id_twice(&self) -> grammata::error::Error {
        errors::request_id(&self.id, self.line)
    }

    /// Parses JSON lines with `id`, `query` and either `relevant`, a list of ids that are all needed, or
    /// `relevant_any`, a list of groups of ids, where one id per group is needed. Other members and empty lines are
    /// ignored.
    ///
    /// # Errors
    /// The text is longer than `limits.catalogue_bytes`, a line is not an object of this form, or two requests have the
    /// same id.
    pub fn from_json_lines(text: &str, limits: &Limits) -> Result<Vec<Request>> {
        errors::check_size(text, limits)?;
        Request::read(text).map_err(|error| error.in_source(&Source::new(text, Notation::Text)))
    }

    fn read(text: &str) -> Result<Vec<Request>> {
        let mut ids = HashSet::new();
        let mut requests = Vec::new();
        for (number, line) in numbered_lines(text) {
            let Line { id, query, relevant, relevant_any } =
                serde_json::from_str(line).map_err(|e| errors::line("a request", REQUEST, number, &e))?;
            let relevant = match (relevant, relevant_any) {
                (Some(ids), None) => ids.into_iter().map(|id| vec![id]).collect(),
                (None, Some(groups)) => groups,
                _ => return Err(errors::relevance(number, REQUEST)),
            };
            if !ids.insert(id.clone()) {
                return Err(errors::request_id(&id, number));
            }
            requests.push(Request { id, query, relevant, line: number });
        }
        Ok(requests)
    }

    /// Returns the tools that the request needs, as indices into `catalogue`. The tools are in groups, and one tool of
    /// each group is needed.
    ///
    /// # Errors
    /// `retrieval/unknown-tool`: the catalogue lacks a tool.
    pub fn needed(&self, catalogue: &Catalogue) -> Result<Vec<Vec<usize>>> {
        let index =
            |id: &String| catalogue.index_of(id).ok_or_else(|| errors::unknown_tool(id, &self.id, self.line));
        self.relevant.iter().map(|group| group.iter().map(index).collect()).collect()
    }
}

const REQUEST: &str = "a JSON object with `id`, `query` and either `relevant` (a list of ids) or `relevant_any` (a list of \
                       such lists)";
