//! Requests to a policy for the arguments of an action.

use crate::plan::arguments::{ArgumentChecker, WrongArguments};
use crate::plan::errors;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::error::Result;
use grammata::grammar::Grammar;
use grammata::limits::{LimitKind, Limits};
use grammata::syntax::automaton_spec::Spec;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// A request for the arguments of an action that has a schema.
#[derive(Clone, Copy, Debug)]
pub struct ArgumentRequest<'r> {
    /// The text of the request, with the steps so far and the schema.
    pub text: &'r str,
    /// The spec.
    pub spec: &'r Spec,
    /// The action, as an index into the spec's symbols.
    pub action: usize,
}

impl ArgumentRequest<'_> {
    /// Returns the grammar of the JSON texts that the schema admits; `None` if the action has no schema.
    pub fn grammar(&self) -> Option<&Grammar> {
        self.spec.arguments(self.action).map(|arguments| arguments.grammar())
    }

    /// Returns the arguments with the shortest JSON text that the schema admits, found by breadth-first search; null if
    /// the action has no schema.
    ///
    /// # Errors
    /// Limits.
    pub fn shortest(&self) -> Result<Value> {
        let Some(grammar) = self.grammar() else { return Ok(Value::Null) };
        let automaton = Automaton::new(grammar, self.spec.limits())?;
        let mut tables = Cache::new();
        let start = Lazy::new(&automaton, &mut tables).start()?;
        // configurations in order of discovery, each with the index of its predecessor and the byte between them
        let mut found = vec![(start, 0, 0u8)];
        let mut seen = FxHashSet::from_iter([start]);
        let mut next = 0;
        let most = self.spec.limits().words_work;
        while let Some(&(at, ..)) = found.get(next) {
            if tables.is_accepting(at) {
                break;
            }
            let bytes = Lazy::new(&automaton, &mut tables).candidate_bytes(at);
            for byte in (0..=255u8).filter(|&byte| bytes.contains(byte)) {
                let to = Lazy::new(&automaton, &mut tables).step(at, byte)?;
                if to != ConfigurationId::DEAD && seen.insert(to) {
                    found.push((to, next, byte));
                }
            }
            next += 1;
            if found.len() > most {
                return Err(Limits::exceeded(LimitKind::WordsWork, most, "no shorter arguments"));
            }
        }
        let mut word = Vec::new();
        while let Some(&(_, before, byte)) = found.get(next).filter(|_| next > 0) {
            word.push(byte);
            next = before;
        }
        word.reverse();
        self.parse(&String::from_utf8_lossy(&word))
    }

    /// Parses arguments from JSON.
    ///
    /// # Errors
    /// `plan/wrong-arguments`: the text is not JSON.
    pub fn parse(&self, text: &str) -> Result<Value> {
        serde_json::from_str(text)
            .map_err(|cause| errors::arguments_not_json(self.spec, self.action, text, &cause))
    }

    /// Checks arguments against the schema. Returns `None` if they match, otherwise the first violation.
    ///
    /// # Errors
    /// Limits.
    pub fn check(&self, value: &Value) -> Result<Option<WrongArguments>> {
        ArgumentChecker::default().check(self.spec, self.action, value)
    }
}
