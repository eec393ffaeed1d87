//! Budgets of turns: what is left must do for a whole turn, whichever tools it calls.
//!
//! From the end of the last name on the section of its tool knows. Before that, a budget that does for the shortest call of any tool
//! asks for nothing; a smaller one is kept by a matcher of the grammar of the whole turn, which is made then and goes along.

use super::turn::{Engine, Parts, Taken, Thread, TurnMatcher};
use grammata::error::Result;
use grammata::matcher::Matcher;

/// Of subsets with more tools than this no grammar of whole turns is made: budgets hold from the end of the last name on.
const MOST_TOOLS: usize = 256;

/// Bytes that a turn may still have to write before a call: the rest of a character of its text, spaces.
const SLACK: usize = 16;

impl TurnMatcher {
    /// The matcher that keeps a budget, in tokens; none where none is needed, or the subset has too many tools.
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
    /// The matcher of what is left of the turn, where no further name can come.
    fn section(&mut self) -> Option<&mut Matcher> {
        match &mut self.threads[..] {
            [Thread::Section(at)] if at.over.is_none() => Some(&mut at.inside),
            _ => None,
        }
    }

    /// Whether a budget does for a call of any tool, and none has begun.
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

    /// A matcher of the grammar of the whole turn where this one is; none if it does not come there.
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

    /// Goes along with a step that was taken.
    pub(super) fn go_along(&mut self, taken: &Taken) {
        // where a limit was reached it is made again when it is asked for
        self.whole.take_if(|whole| !matches!(taken.repeat(whole), Ok(true)));
    }

    /// Goes back with it.
    pub(super) fn go_back(&mut self, steps: usize) {
        self.whole.take_if(|whole| whole.rollback(steps).is_err());
    }
}
