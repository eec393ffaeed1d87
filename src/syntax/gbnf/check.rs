//! Checks of a finished GBNF grammar.

use super::errors;
use super::names::Names;
use crate::diagnostic::Diagnostic;
use crate::error::{Errors, Result};
use crate::grammar::{Grammar, analysis};

/// Maximum number of warnings about unreachable rules that have a place; one more warning counts the others. The number
/// is bounded because finding a place reads the source from its beginning.
const MAX_WARNINGS: usize = 20;

/// Returns a warning for each of the first 20 unreachable rules in the source, and one that counts the others.
///
/// # Errors
/// `gbnf/unproductive-rule` for each reachable rule without a word, at most 20. Intersections and complements are
/// assumed to have words.
pub(super) fn check(source: &str, grammar: &Grammar, names: &Names<'_>) -> Result<Vec<Diagnostic>> {
    let productive = analysis::productive(grammar);
    let reachable = analysis::reachable(grammar);
    let (mut unreachable, mut unproductive) = (Vec::new(), Vec::new());
    for ((rule, &reachable), written) in grammar.rules().iter().zip(&reachable).zip(names.in_order()) {
        let Some((name, offset)) = *written else { continue };
        if !reachable {
            unreachable.push((offset, name));
        } else if !productive.holds(rule.body) {
            unproductive.push((offset, name));
        }
    }
    unproductive.sort_unstable();
    let mut errors = Errors::default();
    for (offset, name) in unproductive.into_iter().take(Errors::MOST + 1) {
        errors.push(errors::unproductive_rule(source, offset, name));
    }
    errors.finish()?;
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
