//! The names of rules, with the places of their definitions and first uses.

use super::errors;
use crate::error::{Errors, Result};
use crate::grammar::{GrammarBuilder, RuleId};
use rustc_hash::FxHashMap;

/// The rule names that the parser has read so far.
#[derive(Default)]
pub(super) struct Names<'s> {
    ids: FxHashMap<&'s str, RuleId>,
    /// For each rule id, the name of the rule and the offset of its definition or, while it is not defined, of its
    /// first use. `None` for generated rules, such as those of `@text` and of attributes.
    rules: Vec<Option<(&'s str, usize)>>,
    /// Whether each rule is defined, by rule id. Generated rules count as defined.
    defined: Vec<bool>,
}

impl<'s> Names<'s> {
    /// Returns the rule of a name. A name that is new is declared, with `offset` as its first use.
    fn id(&mut self, name: &'s str, offset: usize, builder: &mut GrammarBuilder) -> RuleId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = builder.declare(name);
        self.ids.insert(name, id);
        // after a limit was exceeded, the builder returns the id of its first rule, and building fails
        if id.index() >= self.rules.len() {
            self.rules.resize(id.index(), None);
            self.defined.resize(id.index(), true);
            self.rules.push(Some((name, offset)));
            self.defined.push(false);
        }
        id
    }

    /// Returns the rule that is used at an offset. A name that is new is declared.
    pub(super) fn used(&mut self, name: &'s str, offset: usize, builder: &mut GrammarBuilder) -> RuleId {
        self.id(name, offset, builder)
    }

    /// Returns the rule whose definition begins at an offset, and marks it as defined.
    ///
    /// # Errors
    /// `gbnf/duplicate-rule` if it is already defined and the builder has no error.
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
            let first = self.rules[id.index()].map_or(offset, |(_, first)| first);
            return Err(errors::duplicate_rule(source, offset, name, first));
        }
        self.rules[id.index()] = Some((name, offset));
        Ok(id)
    }

    /// For each rule id, the name and the offset of the definition; `None` for generated rules. There may be fewer
    /// entries than rules: generated rules at the end have none.
    pub(super) fn in_order(&self) -> &[Option<(&'s str, usize)>] {
        &self.rules
    }

    /// Adds `gbnf/undefined-rule` for each name that is used but not defined, at its first use, in the order of the
    /// source, until `errors` is full.
    pub(super) fn check(&self, source: &str, errors: &mut Errors) {
        let missing = self.rules.iter().zip(&self.defined).filter(|(_, defined)| !**defined);
        let missing = missing.filter_map(|(rule, _)| *rule);
        let mut missing: Vec<(usize, &str)> = missing.map(|(name, offset)| (offset, name)).collect();
        missing.sort_unstable();
        for (offset, name) in missing {
            if errors.is_full() {
                return;
            }
            errors.push(errors::undefined_rule(source, offset, name, self.known()));
        }
    }

    /// Returns the start rule, which has this name.
    ///
    /// # Errors
    /// `gbnf/no-root` if no rule has the name.
    pub(super) fn root(&self, source: &str, name: &str) -> Result<RuleId> {
        match self.ids.get(name) {
            Some(&id) => Ok(id),
            None => {
                let first = self.rules.iter().zip(&self.defined).filter(|(_, defined)| **defined);
                let first = first.filter_map(|(rule, _)| *rule).map(|(name, offset)| (offset, name)).min();
                Err(errors::no_root(source, name, first, self.known()))
            }
        }
    }

    /// The names of the defined rules, in the order in which the names first occurred.
    fn known(&self) -> impl Iterator<Item = &'s str> {
        self.rules
            .iter()
            .zip(&self.defined)
            .filter(|(_, defined)| **defined)
            .filter_map(|(rule, _)| Some((*rule)?.0))
    }
}
