//! Cache of the outcomes of string tests on single texts: names of members and listed strings.

use super::string_test::{Matcher, StringTest};
use crate::error::Result;
use crate::limits::Limits;
use crate::work::Budget;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Steps of work for a text that a test has not seen, in addition to those of the match.
const NEW_TEXT: usize = 8;

/// Prepared tests, with the outcomes of the texts tried so far; `None` if an outcome is not known.
pub(in crate::syntax::json_schema) struct TestOutcomes<'a> {
    limits: Limits,
    known: RefCell<FxHashMap<StringTest<'a>, Prepared>>,
}

/// A test with its matcher, or the error why there is none.
struct Prepared {
    matcher: Result<Matcher>,
    outcomes: FxHashMap<Box<str>, Option<bool>>,
}

impl<'a> TestOutcomes<'a> {
    pub(in crate::syntax::json_schema) fn new(limits: Limits) -> Self {
        TestOutcomes { limits, known: RefCell::default() }
    }

    /// Whether a text passes a test of the schema at `pointer`; `None` if that is not decidable, or too expensive.
    ///
    /// # Errors
    /// A pattern that cannot be used; the work budget is exhausted.
    pub(in crate::syntax::json_schema) fn of(
        &self,
        test: StringTest<'a>,
        text: &str,
        pointer: &str,
        work: &Budget,
    ) -> Result<Option<bool>> {
        let mut known = self.known.borrow_mut();
        let Prepared { matcher, outcomes } = known.entry(test).or_insert_with(|| Prepared {
            matcher: Matcher::new(test, pointer, &self.limits),
            outcomes: FxHashMap::default(),
        });
        if let Some(&outcome) = outcomes.get(text) {
            return Ok(outcome);
        }
        let matcher = matcher.as_ref().map_err(Clone::clone)?;
        work.spend(NEW_TEXT + text.len())?;
        let (outcome, steps) = matcher.matches(text);
        work.spend(steps)?;
        outcomes.insert(text.into(), outcome);
        Ok(outcome)
    }
}
