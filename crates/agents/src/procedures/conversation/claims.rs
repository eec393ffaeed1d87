//! Claims: patterns of texts that only one answer may contain.

use crate::procedures::language::declarations::Node;
use crate::procedures::semantics::procedure::Procedure;
use grammata::error::Result;
use grammata::grammar::{ExprId, GrammarBuilder};
use grammata::syntax::regex::{self, Dialect};
use rustc_hash::FxHashSet;

/// The fewest characters (letters and digits) of a word that `auto` claims.
const LEAST_LETTERS: usize = 4;

/// Returns the words of at least [`LEAST_LETTERS`] characters in a text, in lower case. Words that contain `$` or `_`,
/// such as names of slots, are left out.
fn words(text: &str) -> FxHashSet<String> {
    let runs = text.split(|c: char| !c.is_alphanumeric() && c != '$' && c != '_');
    let words = runs.filter(|run| !run.contains(['$', '_']) && run.chars().count() >= LEAST_LETTERS);
    words.map(str::to_lowercase).collect()
}

/// Returns the patterns of the texts that only this node may contain: those of its `claims`. `auto` means the words, of
/// at least [`LEAST_LETTERS`] characters, of its description that no other node's description has. Patterns are matched
/// case-insensitively.
pub(in crate::procedures) fn patterns(procedure: &Procedure, node: usize) -> Vec<String> {
    let declared = &procedure.nodes[node];
    let mut patterns = Vec::new();
    for claim in &declared.claims {
        if claim != "auto" {
            patterns.push(claim.clone());
            continue;
        }
        let others = procedure.nodes.iter().enumerate().filter(|(other, _)| *other != node);
        let taken: FxHashSet<String> =
            others.flat_map(|(_, other): (usize, &Node)| words(&other.description)).collect();
        let mut own: Vec<String> = words(&declared.description).difference(&taken).cloned().collect();
        own.sort();
        patterns.extend(own);
    }
    patterns
}

/// Returns an expression for the texts in which some pattern matches; `None` if there are no patterns.
///
/// # Errors
/// Errors of the patterns (`regex/…`), and limits.
pub(in crate::procedures) fn matching(
    builder: &mut GrammarBuilder,
    patterns: &[String],
) -> Result<Option<ExprId>> {
    let options = regex::Options::default()
        .dialect(Dialect::Ecma262)
        .case_insensitive(true)
        .search(true)
        .dot_matches_newline(true)
        .limits(builder.limits().clone());
    let mut alternatives = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        let grammar = regex::compile(pattern, &options)?;
        alternatives.push(builder.import(&grammar));
    }
    Ok((!alternatives.is_empty()).then(|| builder.choice(alternatives)))
}
