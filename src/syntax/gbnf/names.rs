//! The names of rules: where each is defined and first used.

use super::errors;
use crate::error::Result;
use crate::grammar::{GrammarBuilder, RuleId};
use rustc_hash::FxHashMap;

/// How many names are compared to say what may have been meant.
const MAX_COMPARED: usize = 10_000;

/// All names so far.
#[derive(Default)]
pub(super) struct Names<'s> {
    ids: FxHashMap<&'s str, RuleId>,
    /// By rule id: the name, and the offset of the definition or, until there is one, of the first use.
    rules: Vec<(&'s str, usize)>,
    defined: Vec<bool>,
}

impl<'s> Names<'s> {
    fn id(&mut self, name: &'s str, offset: usize, builder: &mut GrammarBuilder) -> RuleId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = builder.declare(name);
        self.ids.insert(name, id);
        // past a limit the builder gives out ids again, and will fail in the end
        if id.index() == self.rules.len() {
            self.rules.push((name, offset));
            self.defined.push(false);
        }
        id
    }

    /// The rule that is used at an offset.
    pub(super) fn used(&mut self, name: &'s str, offset: usize, builder: &mut GrammarBuilder) -> RuleId {
        self.id(name, offset, builder)
    }

    /// The rule that is defined at an offset.
    pub(super) fn defined(
        &mut self,
        source: &str,
        name: &'s str,
        offset: usize,
        builder: &mut GrammarBuilder,
    ) -> Result<RuleId> {
        let id = self.id(name, offset, builder);
        if builder.error().is_some() {
            return Ok(id);
        }
        if std::mem::replace(&mut self.defined[id.index()], true) {
            return Err(errors::duplicate_rule(source, offset, name, self.rules[id.index()].1));
        }
        self.rules[id.index()].1 = offset;
        Ok(id)
    }

    /// By rule id: the names, with the offsets of their definitions.
    pub(super) fn in_order(&self) -> &[(&'s str, usize)] {
        &self.rules
    }

    /// Fails if a rule that is used is not defined.
    pub(super) fn check(&self, source: &str) -> Result<()> {
        let missing = self.rules.iter().zip(&self.defined).filter(|(_, defined)| !**defined);
        match missing.map(|(rule, _)| rule).min_by_key(|(_, offset)| *offset) {
            Some(&(name, offset)) => Err(errors::undefined_rule(source, offset, name, &self.similar(name))),
            None => Ok(()),
        }
    }

    /// The rule to start from.
    pub(super) fn root(&self, source: &str, name: &str) -> Result<RuleId> {
        match self.ids.get(name) {
            Some(&id) => Ok(id),
            None => Err(errors::no_root(source, name, &self.similar(name))),
        }
    }

    /// Up to three defined names that are near to `name`, the nearest first.
    fn similar(&self, name: &str) -> Vec<&'s str> {
        let most = (name.len() / 2).clamp(1, 3);
        let mut near: Vec<(usize, &'s str)> = self
            .rules
            .iter()
            .zip(&self.defined)
            .filter(|((other, _), defined)| {
                **defined && other.len().abs_diff(name.len()) <= most && name.len() <= 100
            })
            .take(MAX_COMPARED)
            .map(|((other, _), _)| (distance(name.as_bytes(), other.as_bytes()), *other))
            .filter(|(distance, _)| *distance <= most)
            .collect();
        near.sort_unstable();
        near.into_iter().take(3).map(|(_, other)| other).collect()
    }
}

/// How many bytes must be inserted, removed or replaced to make one the other (Levenshtein); case counts
/// for nothing.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}
