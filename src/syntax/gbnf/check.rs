//! What can only be said of the finished grammar.

use super::errors;
use super::names::Names;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::{Grammar, analysis};

/// Places in the source are found by reading it from its beginning, so warnings are not without end.
const MAX_WARNINGS: usize = 20;

/// The warnings about a grammar, or its first rule that matters and describes no text.
pub(super) fn check(source: &str, grammar: &Grammar, names: &Names<'_>) -> Result<Vec<Diagnostic>> {
    let productive = analysis::productive(grammar);
    let reachable = analysis::reachable(grammar);
    let mut unreachable = Vec::new();
    for ((rule, &reachable), &(name, offset)) in grammar.rules().iter().zip(&reachable).zip(names.in_order())
    {
        if !reachable {
            unreachable.push((offset, name));
        } else if !productive[rule.body.index()] {
            return Err(errors::unproductive_rule(source, offset, name));
        }
    }
    unreachable.sort_unstable();
    let mut warnings: Vec<Diagnostic> = unreachable
        .iter()
        .take(MAX_WARNINGS)
        .map(|&(offset, name)| errors::unreachable_rule(source, offset, name))
        .collect();
    if unreachable.len() > MAX_WARNINGS {
        warnings.push(errors::more_unreachable_rules(unreachable.len() - MAX_WARNINGS));
    }
    Ok(warnings)
}
