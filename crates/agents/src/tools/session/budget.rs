//! Token budgets of turns: the remaining budget must suffice for a complete turn, whichever tools it calls.
//!
//! A turn in a format that does not write names first has one matcher, which enforces the budget. A turn that is
//! matched in parts enforces it as follows. After the last name, the matcher of the rest of the turn enforces the
//! budget. Before the first call, a budget that certainly suffices for one call more than required, of any tools, needs
//! no check, unless arguments are limited to values. Otherwise a matcher of the grammar of the whole turn enforces the
//! budget, if there are at most [`MOST_TOOLS`] tools. That matcher is created on demand and then accepts the same steps
//! as the turn; if it rejects a step, it is dropped.

use super::turn::{Engine, Parts, Taken, Thread, TurnMatcher};
use grammata::error::Result;
use grammata::matcher::Matcher;

/// The maximum number of tools in a subset for which a turn that is matched in parts builds a grammar of the whole
/// turn, to enforce a budget. For larger subsets, the budget of such a turn holds only after the last name.
const MOST_TOOLS: usize = 256;

/// A bound on the bytes that a turn must still write before a call can begin: the rest of a character of its text, and
/// spaces.
const SLACK: usize = 16;

impl TurnMatcher {
    /// Returns the matcher that enforces a budget, in tokens; `None` if no check is needed, if the subset has more than
    /// [`MOST_TOOLS`] tools, or if the grammar of the whole turn rejects the turn so far.
    ///
    /// # Errors
    /// Limits.
    pub(crate) fn keeper(&mut self, budget: usize) -> Result<Option<&mut Matcher>> {
        let parts = match &mut self.engine {
            Engine::Whole(matcher) => return Ok(Some(matcher)),
            Engine::Parts(parts) => parts,
        };
        if parts.whole.is_none() {
            if let [Thread::Section(at)] = &parts.threads[..]
                && at.over.is_none()
            {
                return Ok(parts.section());
            }
            if parts.is_ample(budget) || parts.rules.subset.len() > MOST_TOOLS {
                return Ok(None);
            }
            parts.whole = parts.replayed()?;
        }
        Ok(parts.whole.as_mut())
    }
}

impl Parts {
    /// Returns the matcher of the rest of the turn, if no further name can follow.
    fn section(&mut self) -> Option<&mut Matcher> {
        match &mut self.threads[..] {
            [Thread::Section(at)] if at.over.is_none() => Some(&mut at.inside),
            _ => None,
        }
    }

    /// Returns whether a budget, in tokens, certainly suffices for one call more than required, of any tools. False
    /// also if a call has begun, arguments are limited to values, or the subset has a tool without a known bound.
    fn is_ample(&self, budget: usize) -> bool {
        let has_begun = self.threads.iter().any(|thread| match thread {
            Thread::Section(at) => !at.calls.is_empty(),
            Thread::Name { calls, .. } => !calls.is_empty(),
        });
        let rules = &self.rules;
        if has_begun || !rules.options.limited.is_empty() {
            return false;
        }
        let longest = rules.subset.longest(|ranks| {
            let names = rules.tools.ranked();
            let tools = rules.tools.set().tools();
            let of_rank = |rank: u32| {
                let arguments = tools[names.tool(rank)].arguments.least_bytes()?;
                Some(arguments.saturating_add(names.name(rank).len()))
            };
            ranks.map(of_rank).try_fold(0, |most: usize, bytes| Some(most.max(bytes?)))
        });
        let around = rules.tools.format().fixed_bytes();
        let calls = usize::try_from(rules.options.min_calls).unwrap_or(usize::MAX).saturating_add(1);
        longest.is_some_and(|longest| {
            longest.saturating_add(around).saturating_mul(calls).saturating_add(SLACK) <= budget
        })
    }

    /// Returns a matcher of the grammar of the whole turn at the current position; `None` if that grammar rejects the
    /// turn.
    fn replayed(&self) -> Result<Option<Matcher>> {
        let rules = &self.rules;
        let mut whole = rules.tools.whole(&rules.subset, &rules.options)?;
        for (_, _, taken) in &self.history {
            if !taken.repeat(&mut whole)? {
                return Ok(None);
            }
        }
        Ok(Some(whole))
    }

    /// Repeats an accepted step on the matcher of the whole turn, if there is one. Drops the matcher if it rejects the
    /// step.
    pub(super) fn go_along(&mut self, taken: &Taken) {
        // a matcher that fails or rejects the step is dropped, and rebuilt when it is needed
        self.whole.take_if(|whole| !matches!(taken.repeat(whole), Ok(true)));
    }

    /// Rolls the matcher of the whole turn back, if there is one. Drops the matcher if that fails.
    pub(super) fn go_back(&mut self, steps: usize) {
        self.whole.take_if(|whole| whole.rollback(steps).is_err());
    }
}
