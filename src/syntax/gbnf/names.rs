//! The names of rules, with the places of their definitions and first uses.

use super::errors;
use crate::error::{Errors, Result};
use crate::grammar::{GrammarBuilder, RuleId};
use rustc_hash::FxHashMap;

/// All rule names so far.
#[derive(Default)]
pub(super) struct Names<'s> {
    ids: FxHashMap<&'s str, RuleId>,
    /// For each rule id, the name and the offset of the definition or, before it is defined, of the first use. `None`
    /// for rules that functions such as `@text` and attributes generate.
    rules: Vec<Option<(&'s str, usize)>>,
    defined: Vec<bool>,
}

impl<'s> Names<'s> {
    fn id(&mut self, name: &'s str, offset: usize, builder: &mut GrammarBuilder) -> RuleId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = builder.declare(name);
        self.ids.insert(name, id);
        // beyond a limit the builder returns repeated ids, and building will fail
        if id.index() >= self.rules.len() {
            self.rules.resize(id.index(), None);
            self.defined.resize(id.index(), true);
            self.rules.push(Some((name, offset)));
            self.defined.push(false);
        }
        id
    }

    /// The rule used at an offset, declared on first use.
    pub(super) fn used(&mut self, name: &'s str, offset: usize, builder: &mut GrammarBuilder) -> RuleId {
        self.id(name, offset, builder)
    }

    /// The rule defined at an offset. Fails if it is already defined.
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

    /// For each rule id, the name and the offset of its definition; `None` for generated rules.
    pub(super) fn in_order(&self) -> &[Option<(&'s str, usize)>] {
        &self.rules
    }

    /// Adds an error for each name that is used but not defined, at its first use.
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

    /// The start rule, which has this name. Fails if there is no such rule.
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

    /// The names that are defined.
    fn known(&self) -> impl Iterator<Item = &'s str> {
        self.rules
            .iter()
            .zip(&self.defined)
            .filter(|(_, defined)| **defined)
            .filter_map(|(rule, _)| Some((*rule)?.0))
    }
}
