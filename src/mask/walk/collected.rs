//! The data that a strategy collects about a configuration: tokens, and what depends on more than the configuration.

use crate::automaton::{ConfigurationId, Lazy};
use crate::mask::token_set::TokenSet;
use crate::mask::tuning::MAX_CONTINUATIONS;
use crate::token_index::loops::TrieId;
use crate::vocabulary::TokenTrie;

/// A position where a residual has returned inside a token: the next byte, and the trie node that it leads to.
#[derive(Clone, Copy, Debug)]
pub(in crate::mask) struct Continuation {
    pub(in crate::mask) byte: u8,
    pub(in crate::mask) trie: TrieId,
    pub(in crate::mask) node: u32,
}

/// A set of tokens: those that end below a node of a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::mask) struct TrieScope {
    pub(in crate::mask) trie: TrieId,
    pub(in crate::mask) node: u32,
}

impl TrieScope {
    /// All tokens.
    pub(in crate::mask) const ALL: TrieScope = TrieScope { trie: TrieId::ALL, node: 0 };
}

/// The tokens below a node that a quote leads to, and the configuration there. A record of the string that begins there
/// may supply these tokens.
#[derive(Clone, Copy, Debug)]
pub(in crate::mask) struct EnteredString {
    pub(in crate::mask) scope: TrieScope,
    pub(in crate::mask) configuration: ConfigurationId,
}

/// The object whose tokens are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mask) enum Target {
    /// A whole configuration: where it returns with an empty stack, the text ends.
    Whole,
    /// A residual: the positions where it returns are recorded. The collected data is stale once the
    /// [epoch](crate::automaton::Cache::radius_epoch) has changed: then residuals of strings that begin inside tokens
    /// were widened with a completion radius that was too small.
    Residual { radius_epoch: usize },
}

impl Target {
    /// Whether positions where the configuration returns are recorded.
    #[inline]
    pub(in crate::mask) fn notes_returns(self) -> bool {
        matches!(self, Target::Residual { .. })
    }
}

/// How many trie nodes may be swept; visits of single nodes are not counted.
#[derive(Clone, Copy, Debug)]
pub(in crate::mask) struct NodeBudget {
    nodes: u32,
    /// Whether the budget may be exceeded once the residual has returned elsewhere than after a quote: from then on,
    /// only a walk finds all positions where it returns.
    unless_returning: bool,
}

impl NodeBudget {
    pub(in crate::mask) const UNLIMITED: NodeBudget = NodeBudget { nodes: u32::MAX, unless_returning: false };

    pub(in crate::mask) const SPENT: NodeBudget = NodeBudget { nodes: 0, unless_returning: false };

    /// Bounds the swept nodes by `nodes`. With `unless_returning` the bound no longer holds once the residual has
    /// returned elsewhere than after a quote.
    pub(in crate::mask) fn new(nodes: u32, unless_returning: bool) -> NodeBudget {
        NodeBudget { nodes, unless_returning }
    }

    pub(in crate::mask) fn is_spent(self) -> bool {
        self.nodes == 0
    }
}

/// Why the collected data is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mask) enum Limit {
    /// The walk has used up its budget of nodes.
    Work,
    /// The residual returns at too many positions.
    Returns,
    /// The completion radius has grown: see [`Target::Residual`].
    Stale,
}

/// The data collected so far about one target.
#[derive(Debug)]
pub(in crate::mask) struct Collected {
    pub(in crate::mask) target: Target,
    /// The allowed tokens.
    pub(in crate::mask) tokens: TokenSet,
    /// Tokens that lead through [`ConfigurationId::UNKNOWN`].
    pub(in crate::mask) unknown: Vec<u32>,
    /// The positions where strings begin within tokens.
    pub(in crate::mask) entered: Vec<EnteredString>,
    /// The positions where the residual returns.
    continuations: Vec<Continuation>,
    /// Whether the residual returns nearly everywhere.
    everywhere: bool,
    budget: NodeBudget,
    /// Whether the residual has returned elsewhere than after a quote.
    returns_inside: bool,
    /// Why a walk was given up before its end. Later walks cannot supply the tokens that it left out.
    given_up: Option<Limit>,
}

impl Collected {
    /// An empty collection. Walks that add to it sweep at most as many nodes as the budget has.
    pub(in crate::mask) fn new(target: Target, budget: NodeBudget) -> Collected {
        Collected {
            target,
            tokens: TokenSet::default(),
            unknown: Vec::new(),
            entered: Vec::new(),
            continuations: Vec::new(),
            everywhere: false,
            budget,
            returns_inside: false,
            given_up: None,
        }
    }

    /// Replaces the tokens.
    pub(in crate::mask) fn with(self, tokens: TokenSet) -> Collected {
        Collected { tokens, ..self }
    }

    /// Removes the bound: the remaining work must be done.
    pub(in crate::mask) fn without_budget(self) -> Collected {
        Collected { budget: NodeBudget::UNLIMITED, ..self }
    }

    /// The tokens, and the positions where the residual returns.
    pub(in crate::mask) fn into_parts(self) -> (TokenSet, Vec<Continuation>) {
        (self.tokens, self.continuations)
    }

    /// Adds data collected about the same target. Strings entered in `other` must be resolved already: they are not
    /// taken over.
    pub(in crate::mask) fn merge(&mut self, mut other: Collected) {
        self.tokens.unite(other.tokens);
        self.everywhere |= other.everywhere;
        self.given_up = self.given_up.or(other.given_up);
        match self.continuations.is_empty() {
            true => self.continuations = other.continuations,
            false => self.continuations.append(&mut other.continuations),
        }
        self.unknown.append(&mut other.unknown);
    }

    /// Subtracts nodes from the budget.
    #[inline]
    pub(super) fn spend(&mut self, nodes: u32) {
        self.budget.nodes = self.budget.nodes.saturating_sub(nodes);
    }

    /// Whether the budget is not spent and has at most as many nodes as the trie of all tokens.
    pub(super) fn is_limited(&self, all: &TokenTrie) -> bool {
        self.budget.nodes > 0 && self.budget.nodes <= all.node_count() as u32
    }

    fn is_over_budget(&self) -> bool {
        self.budget.nodes == 0 && !(self.budget.unless_returning && self.returns_inside)
    }

    /// Why the collected data is unusable; `None` if it is usable.
    #[inline]
    pub(in crate::mask) fn limit(&self, lazy: &Lazy<'_>) -> Option<Limit> {
        if self.given_up.is_some() {
            return self.given_up;
        }
        if self.is_over_budget() {
            return Some(Limit::Work);
        }
        if self.everywhere || self.continuations.len() > MAX_CONTINUATIONS {
            return Some(Limit::Returns);
        }
        match self.target {
            Target::Residual { radius_epoch } if radius_epoch != lazy.radius_epoch() => Some(Limit::Stale),
            _ => None,
        }
    }

    /// Records that a walk was given up because of a limit. From now on the tokens are incomplete.
    pub(super) fn give_up(&mut self, limit: Limit) {
        self.given_up = Some(limit);
        self.entered.clear();
    }

    /// Records that the residual may return anywhere, if returns are recorded.
    pub(in crate::mask) fn continue_everywhere(&mut self) {
        self.everywhere |= self.target.notes_returns();
    }

    /// Records that the residual may return at these positions, if returns are recorded.
    pub(in crate::mask) fn continue_at(&mut self, places: &[Continuation]) {
        if self.target.notes_returns() {
            self.continuations.extend_from_slice(places);
        }
    }

    /// Records that the residual may return before these nodes of the trie of all tokens, if returns are recorded.
    pub(in crate::mask) fn continue_at_nodes(&mut self, all: &TokenTrie, nodes: &[u32]) {
        if self.target.notes_returns() {
            let place = |&node: &u32| Continuation { byte: all.byte(node), trie: TrieId::ALL, node };
            self.continuations.extend(nodes.iter().map(place));
        }
    }

    /// Records that the residual returns at a node, if returns are recorded: each child becomes a continuation.
    #[inline]
    pub(super) fn continue_below(&mut self, id: TrieId, trie: &TokenTrie, node: u32) {
        if self.target.notes_returns() {
            self.returns_inside |= trie.byte(node) != b'"';
            self.continuations.extend(trie.steps(node).iter().map(|child| Continuation {
                byte: child.byte,
                trie: id,
                node: child.node,
            }));
        }
    }

    /// Records that all tokens through a node depend on the history.
    pub(in crate::mask) fn leave_unknown(&mut self, trie: &TokenTrie, node: u32) {
        self.unknown.extend(trie.subtree_tokens(node).iter().map(|token| token.get()));
    }
}
