//! The input and the output of strategies.

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
    pub(super) needs: Needs,
    /// Whether the walks of the strategy use the budget of nodes that strategies share. Once it is spent, only
    /// strategies without a budget are tried.
    pub(super) is_budgeted: bool,
    /// Tries to compute all tokens. It changes nothing but memos of the walk.
    pub(super) try_compute: fn(&mut Walk<'_>, &Task<'_>, NodeBudget) -> Result<Outcome>,
}

/// A precondition for trying a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    /// The record of a base: a residual with nearly the same tokens.
    Base,
    /// A loop language. The strategy is tried for one language after the other.
    Loop,
}

/// The input of a strategy.
#[derive(Clone, Copy, Debug)]
pub(in crate::mask) struct Task<'a> {
    pub(super) configuration: ConfigurationId,
    pub(super) target: Target,
    /// The tokens to decide.
    pub(super) scope: TrieScope,
    /// The bytes that are possible next.
    pub(super) candidates: ByteSet,
    /// The base, if there is one: a residual with nearly the same tokens, to which most characters lead.
    pub(super) base: Option<ConfigurationId>,
    /// The tokens of strings, if an attempt that became stale has found them.
    pub(super) begun: Option<&'a TokenSet>,
    /// The loop, for strategies that need one.
    pub(super) in_loop: Option<InLoop<'a>>,
}

/// A loop language on which a configuration may return to itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct InLoop<'a> {
    pub(super) language: &'a LoopLanguage,
    /// The configuration after the language's probe; it is not dead.
    pub(super) after: ConfigurationId,
}

/// The result of a strategy.
#[derive(Debug)]
pub(in crate::mask) enum Outcome {
    /// All tokens.
    Done(Collected),
    /// All tokens: those of the task's base, minus the removed ones, plus those collected.
    Relative(Removed, Collected),
    /// The strategy does not apply to the configuration.
    NotApplicable,
    /// The collected data is unusable.
    Limit(Limit),
    /// The data is stale as for [`Limit::Stale`], except for these tokens inside strings, which remain valid.
    Begun(TokenSet),
}

impl Outcome {
    /// The result of walks that are finished or were ended by a limit.
    pub(super) fn of(collected: Collected, walk: &Walk<'_>) -> Outcome {
        match collected.limit(&walk.lazy) {
            None => Outcome::Done(collected.without_budget()),
            Some(limit) => Outcome::Limit(limit),
        }
    }
}

impl<'a> Task<'a> {
    /// A task to find which tokens of `scope` a configuration allows.
    pub(in crate::mask) fn new(
        walk: &Walk<'_>,
        configuration: ConfigurationId,
        target: Target,
        scope: TrieScope,
    ) -> Task<'a> {
        let candidates = walk.lazy.candidate_bytes(configuration);
        Task { configuration, target, scope, candidates, base: None, begun: None, in_loop: None }
    }

    /// The task with a base and the tokens of strings, if they are known.
    pub(in crate::mask) fn given(
        self,
        base: Option<ConfigurationId>,
        begun: Option<&'a TokenSet>,
    ) -> Task<'a> {
        Task { base, begun, ..self }
    }
}
