//! Groups of rules that were imported into a builder.

use super::ids::{ExprId, RuleId};
use rustc_hash::FxHashMap;
use std::hash::RandomState;

/// The groups of rules that a builder has imported. Outside parties choose the grammars, so the hasher has random keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    pub(super) hasher: RandomState,
    /// The first group of each hash.
    pub(super) known: FxHashMap<u64, Group>,
}

/// An imported group: expressions that refer to each other through rules.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The copies of the expressions, in the order of the source.
    pub(super) copies: Box<[ExprId]>,
    /// The rules, in the order of the expressions that refer to them.
    pub(super) rules: Box<[RuleId]>,
}
