//! Drafts: proposals of the next tokens that a model then verifies in one run.

use grammata::error::Result;
use grammata::matcher::Constraint;

/// Proposes the tokens that follow a sequence.
pub trait Draft {
    /// Returns at most `most` tokens that may follow `tokens`, which are the prompt and the output so far. `constraint`
    /// is a copy of the constraint at the end of `tokens` and may be moved freely. A proposal that the constraint
    /// forbids is useless, but not an error.
    ///
    /// # Errors
    /// Errors of the source of the proposals.
    fn propose(
        &mut self,
        tokens: &[u32],
        constraint: Option<&mut dyn Constraint>,
        most: usize,
    ) -> Result<Vec<u32>>;
}

/// Proposes the tokens that spell a prefix of every completion ([`Constraint::forced_tokens`]). A token that is the
/// only one allowed needs no draft; `ForcedDraft` helps where the prefix has several spellings.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForcedDraft;

impl Draft for ForcedDraft {
    fn propose(
        &mut self,
        _: &[u32],
        constraint: Option<&mut dyn Constraint>,
        most: usize,
    ) -> Result<Vec<u32>> {
        let mut tokens = constraint.map_or(Ok(Vec::new()), |constraint| constraint.forced_tokens())?;
        tokens.truncate(most);
        Ok(tokens)
    }
}

/// Proposes what followed the latest earlier occurrence of the sequence's last tokens: prompt lookup (Saxena 2023).
#[derive(Clone, Copy, Debug)]
pub struct NgramDraft {
    /// The greatest number of last tokens that an earlier occurrence must match. If there is no such occurrence,
    /// shorter matches are tried, down to 1 token. 3 by default.
    pub longest: usize,
    /// The number of last tokens of the sequence that are searched for an occurrence. 4,096 by default.
    pub window: usize,
}

impl Default for NgramDraft {
    fn default() -> NgramDraft {
        NgramDraft { longest: 3, window: 4096 }
    }
}

impl Draft for NgramDraft {
    fn propose(
        &mut self,
        tokens: &[u32],
        constraint: Option<&mut dyn Constraint>,
        most: usize,
    ) -> Result<Vec<u32>> {
        let tokens = tokens.get(tokens.len().saturating_sub(self.window)..).unwrap_or_default();
        let lengths = (1..=self.longest.min(tokens.len().saturating_sub(1))).rev();
        let followed = lengths.filter_map(|length| {
            let (before, last) = tokens.split_at(tokens.len() - length);
            // an occurrence may overlap the last tokens, but must begin before they do
            let at = (0..before.len()).rev().find(|&at| tokens[at..].starts_with(last))?;
            Some(&tokens[at + length..])
        });
        let proposed = followed.into_iter().next().unwrap_or_default();
        let proposed = &proposed[..proposed.len().min(most)];
        Ok(allowed(proposed, constraint).to_vec())
    }
}

/// Returns the longest prefix of `tokens` that the constraint accepts; all of them without a constraint, and none if
/// the constraint fails.
fn allowed<'a>(tokens: &'a [u32], constraint: Option<&mut dyn Constraint>) -> &'a [u32] {
    let Some(constraint) = constraint else { return tokens };
    // a draft is optional, so an exceeded limit is not an error here
    let count = constraint.accept_tokens(tokens).unwrap_or(0);
    &tokens[..count]
}
