//! What strategies are asked, and what they answer.

use crate::attribution::Cause;
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::mask::token_set::{Removed, TokenSet};
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Collected, Limit, NodeBudget, Target, TrieScope};
use crate::token_index::loops::LoopLanguage;

/// A way to compute the tokens of a residual, or of a whole configuration.
#[derive(Debug)]
pub(in crate::mask) struct Strategy {
    /// The name in statistics.
    pub(super) name: &'static str,
    /// What its time is attributed to.
    pub(super) cause: Cause,
    pub(super) needs: Needs,
    /// Whether its walks take from the budget that strategies share before a walk is given up for a shorter way.
    pub(super) is_budgeted: bool,
    /// Tries to compute all tokens. Whatever comes of it, nothing but memos of the walk has changed.
    pub(super) try_compute: fn(&mut Walk<'_>, &Task<'_>, NodeBudget) -> Result<Outcome>,
}

/// What a strategy is not asked without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// The record of a residual that is nearly the same.
    Base,
    /// A loop language; it is asked about one after the other.
    Loop,
}

/// What is to be computed.
#[derive(Clone, Copy, Debug)]
pub(in crate::mask) struct Task<'a> {
    pub(super) configuration: ConfigurationId,
    pub(super) target: Target,
    /// The tokens in question.
    pub(super) scope: TrieScope,
    /// The bytes that may come.
    pub(super) candidates: ByteSet,
    /// The residual whose tokens are nearly the same, if there is one: most characters lead to it.
    pub(super) base: Option<ConfigurationId>,
    /// The tokens inside strings, if they are known from an attempt that became stale.
    pub(super) begun: Option<&'a TokenSet>,
    /// The loop in question, for strategies that need one.
    pub(super) in_loop: Option<InLoop<'a>>,
}

/// A loop language that a configuration may come back to itself on.
#[derive(Clone, Copy, Debug)]
pub(super) struct InLoop<'a> {
    pub(super) language: &'a LoopLanguage,
    /// The configuration after the language's probe; not dead.
    pub(super) after: ConfigurationId,
}

/// What comes of a strategy.
#[derive(Debug)]
pub(in crate::mask) enum Outcome {
    /// All tokens.
    Done(Collected),
    /// All tokens: those of the task's base but for the removed ones, and those collected.
    Relative(Removed, Collected),
    /// The strategy has nothing to say of such configurations.
    NotApplicable,
    /// What was collected is of no use.
    Limit(Limit),
    /// It is [`Limit::Stale`], but for these tokens.
    Begun(TokenSet),
}

impl Outcome {
    /// The outcome of walks that are done, or have ended early for some limit.
    pub(super) fn of(collected: Collected, walk: &Walk<'_>) -> Outcome {
        match collected.limit(&walk.lazy) {
            None => Outcome::Done(collected.without_budget()),
            Some(limit) => Outcome::Limit(limit),
        }
    }
}

impl<'a> Task<'a> {
    /// The task to find those of some tokens that a configuration allows.
    pub(in crate::mask) fn new(
        walk: &Walk<'_>,
        configuration: ConfigurationId,
        target: Target,
        scope: TrieScope,
    ) -> Task<'a> {
        let candidates = walk.lazy.candidate_bytes(configuration);
        Task { configuration, target, scope, candidates, base: None, begun: None, in_loop: None }
    }

    /// The same, given a residual whose tokens are nearly the same, and the tokens inside strings, if these are known.
    pub(in crate::mask) fn given(
        self,
        base: Option<ConfigurationId>,
        begun: Option<&'a TokenSet>,
    ) -> Task<'a> {
        Task { base, begun, ..self }
    }
}
