//! Bounded parsing of patterns with regex-syntax.

use super::errors;
use super::source::Source;
use crate::error::Result;
use crate::limits::Limits;
use regex_syntax::ast::{Ast, parse};

/// Maximum number of named groups. It is bounded because regex-syntax keeps the names in a sorted list, in which the
/// nth insertion takes time proportional to n.
const MAX_NAMED_GROUPS: usize = 10_000;

/// Wraps a pattern that regex-syntax reads unchanged.
///
/// # Errors
/// `limit/exceeded` if the pattern has more than [`MAX_NAMED_GROUPS`] named groups.
pub(super) fn verbatim(pattern: &str) -> Result<Source<'_>> {
    let names = pattern.matches("(?P<").count() + pattern.matches("(?<").count();
    if names > MAX_NAMED_GROUPS {
        return Err(errors::too_many_names(names, MAX_NAMED_GROUPS));
    }
    Ok(Source::verbatim(pattern))
}

/// Parses a pattern to its syntax tree.
///
/// # Errors
/// `regex/…` for an invalid pattern; `limit/exceeded` if groups are nested deeper than `source_depth`.
pub(super) fn parse(source: &Source<'_>, limits: &Limits) -> Result<Ast> {
    let depth = u32::try_from(limits.source_depth).unwrap_or(u32::MAX);
    let mut parser = parse::ParserBuilder::new().nest_limit(depth).build();
    parser.parse(&source.text).map_err(|e| errors::from_ast(source, &e, limits))
}
