//! Bounded parsing of patterns with regex-syntax.

use super::ecma::{LOOK_AROUND, starts_name};
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

/// Translates a pattern in Rust's syntax with look-around: look-arounds become named groups, and other groups lose their
/// names.
///
/// # Errors
/// `limit/exceeded` if the pattern has more than [`MAX_NAMED_GROUPS`] look-arounds; `regex/backreference`.
pub(super) fn with_look_around(pattern: &str) -> Result<Source<'_>> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let (mut map, mut looks) = (Vec::new(), 0);
    let (mut at, mut classes, mut is_changed) = (0, 0_usize, false);
    while let Some(rest) = pattern.get(at..).filter(|rest| !rest.is_empty()) {
        let length = rest.chars().next().map_or(1, char::len_utf8);
        let mut read = length;
        map.push((out.len(), at));
        if classes == 0 && rest.starts_with("(?P=") {
            let length = rest.find(')').map_or(4, |end| end + 1);
            return Err(errors::backreference(pattern, at, length));
        }
        let look = LOOK_AROUND.iter().find(|(start, _)| classes == 0 && rest.starts_with(start));
        if let Some((start, name)) = look {
            is_changed = true;
            looks += 1;
            if looks > MAX_NAMED_GROUPS {
                return Err(errors::too_many_names(looks, MAX_NAMED_GROUPS));
            }
            out.push_str(&format!("(?P<{name}{looks}>"));
            read = start.len();
        } else if let Some(end) = starts_name(rest).filter(|_| classes == 0) {
            is_changed = true;
            out.push('(');
            read = end;
        } else {
            match rest.as_bytes()[0] {
                b'\\' => read += rest[1..].chars().next().map_or(0, char::len_utf8),
                b'[' => {
                    // a bracket at the beginning of a class is a character of it
                    let first = rest[1..].strip_prefix('^').unwrap_or(&rest[1..]);
                    read = rest.len() - first.len() + usize::from(first.starts_with(']'));
                    classes += 1;
                }
                b']' => classes = classes.saturating_sub(1),
                _ => {}
            }
            out.push_str(&rest[..read]);
        }
        at += read;
    }
    if !is_changed {
        return verbatim(pattern);
    }
    map.push((out.len(), pattern.len()));
    Ok(Source::rewritten(pattern, out, map))
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
